import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import {
  AccountRecovery,
  CfnManagedLoginBranding,
  FeaturePlan,
  ManagedLoginVersion,
  Mfa,
  OAuthScope,
  UserPool,
  UserPoolClient,
  UserPoolClientIdentityProvider,
  UserPoolDomain,
  UserPoolEmail,
} from 'aws-cdk-lib/aws-cognito';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { environmentVariables } from '../../shared/base/config.ts';
import { minPasswordCharacters } from '../../shared/accounts/password.ts';
import type { Configuration } from '../configuration.ts';
import { signInImages, signInSettings } from '../sign-in-look.ts';
import { accept } from './accepted-findings.ts';
import { AccountsFirewall } from './accounts-firewall.ts';
import type { ServiceFunction } from './service-function.ts';

interface AccountsProps extends Pick<Configuration, 'selfSignUp' | 'mfa' | 'mail'> {
  /** The verified identity of SES that sends to everybody. @default Cognito's own sender, with 50 e-mails a day */
  readonly mailIdentity: string | undefined;
}

/** The user pool with its sign-in pages and the dashboard's client. The pool is kept when the stack is deleted. */
export class Accounts extends Construct {
  readonly userPool: UserPool;
  /** The value of `iss` in every token. */
  readonly issuer: string;
  /** The origin of `/oauth2/authorize`, `/oauth2/token`, `/oauth2/revoke` and `/logout`. */
  readonly domainUrl: string;
  /** Of the user pools API, which takes calls of the accounts themselves from any web page. */
  readonly userPoolsUrl: string;
  private dashboardClient?: UserPoolClient;

  constructor(scope: Construct, id: string, props: AccountsProps) {
    super(scope, id);
    this.userPool = this.addUserPool(props);
    this.userPoolsUrl = `https://cognito-idp.${Stack.of(this).region}.amazonaws.com`;
    this.issuer = `${this.userPoolsUrl}/${this.userPool.userPoolId}`;
    this.domainUrl = this.addDomain().baseUrl();
    new AccountsFirewall(this, 'Firewall', { userPool: this.userPool });
  }

  /** There is one after `addDashboardClient`. */
  get clientId(): string {
    return this.dashboardClient!.userPoolClientId;
  }

  /**
   * A public client for the authorization code flow. Cognito has no setting that requires PKCE, but it enforces PKCE for
   * a sign-in that starts with a challenge, as the dashboard's do.
   * @param origin the dashboard's. A sign-in returns to `/callback`, a sign-out to `/signed-out`, and both to `callbacks`.
   */
  addDashboardClient(origin: string, callbacks: readonly string[]): void {
    this.dashboardClient = new UserPoolClient(this, 'DashboardClient', {
      userPool: this.userPool,
      generateSecret: false,
      preventUserExistenceErrors: true,
      // Without this Cognito adds a default flow that refresh token rotation does not allow. The sign-in pages need none.
      authFlows: { userSrp: true },
      oAuth: {
        flows: { authorizationCodeGrant: true },
        // The last one is asked for by the account screen alone, with the password once more.
        scopes: [OAuthScope.OPENID, OAuthScope.EMAIL, OAuthScope.PROFILE, OAuthScope.COGNITO_ADMIN],
        callbackUrls: [`${origin}/callback`, ...callbacks],
        logoutUrls: [`${origin}/signed-out`, ...callbacks],
      },
      supportedIdentityProviders: [UserPoolClientIdentityProvider.COGNITO],
      accessTokenValidity: Duration.hours(1),
      idTokenValidity: Duration.hours(1),
      refreshTokenValidity: Duration.days(30),
      // If an answer is lost, the dashboard sends the same token again, up to 20 seconds later.
      refreshTokenRotationGracePeriod: Duration.seconds(60),
      // The dashboard's sign-out ends its refresh token.
      enableTokenRevocation: true,
    });
    // With managed login a client has no sign-in page without a branding.
    new CfnManagedLoginBranding(this, 'DashboardBranding', {
      userPoolId: this.userPool.userPoolId,
      clientId: this.clientId,
      settings: signInSettings,
      assets: signInImages,
    });
  }

  /** Sets the variables for verifying sessions. It needs no permission, because the keys are public. */
  grantSessions(fn: ServiceFunction): void {
    fn.setVariable(environmentVariables.sessionIssuer, this.issuer);
    fn.setVariable(environmentVariables.sessionJwksUrl, `${this.issuer}/.well-known/jwks.json`);
    fn.setVariable(environmentVariables.sessionClientId, this.clientId);
  }

  /** The right to look accounts up by their sub, and to list them: Cognito has no narrower one. */
  grantDirectory(fn: ServiceFunction): void {
    fn.setVariable(environmentVariables.userPoolId, this.userPool.userPoolId);
    fn.addToRolePolicy(
      new PolicyStatement({ actions: ['cognito-idp:ListUsers'], resources: [this.userPool.userPoolArn] }),
    );
  }

  private addUserPool({ selfSignUp, mfa, mail, mailIdentity }: AccountsProps): UserPool {
    const userPool = new UserPool(this, 'UserPool', {
      featurePlan: FeaturePlan.ESSENTIALS,
      selfSignUpEnabled: selfSignUp,
      signInAliases: { email: true },
      signInCaseSensitive: false,
      autoVerify: { email: true },
      // A changed address takes effect only after the user confirms it.
      keepOriginal: { email: true },
      // By length: rules of composition make passwords that are guessed and not remembered (NIST SP 800-63B, 5.1.1.2).
      passwordPolicy: {
        minLength: minPasswordCharacters,
        requireLowercase: false,
        requireUppercase: false,
        requireDigits: false,
        requireSymbols: false,
      },
      ...(mfa === 'off'
        ? { mfa: Mfa.OFF }
        : {
            mfa: mfa === 'required' ? Mfa.REQUIRED : Mfa.OPTIONAL,
            mfaSecondFactor: { sms: false, otp: true },
          }),
      accountRecovery: AccountRecovery.EMAIL_ONLY,
      ...(mail !== null && mailIdentity !== undefined && { email: this.sesOf(mail.from, mailIdentity) }),
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    accept(userPool, {
      'AwsSolutions-COG1':
        'Passwords are long instead of composed, as NIST SP 800-63B, 5.1.1.2 wants it; a second factor is offered.',
      'AwsSolutions-COG8':
        'The Plus plan adds risk scores at a price per user. Here passwords are long, and Cognito slows guesses down.',
    });
    if (mfa !== 'required') {
      accept(userPool, {
        'AwsSolutions-COG2':
          'The operator chose that a password is enough: with "mfa" other than "required" the sign-in pages ask nobody for a second factor. A session can spend credits and make keys of its own account only.',
      });
    }
    return userPool;
  }

  private sesOf(fromEmail: string, identity: string): UserPoolEmail {
    return UserPoolEmail.withSES({
      fromEmail,
      sesRegion: Stack.of(this).region,
      ...(identity !== fromEmail && { sesVerifiedDomain: identity }),
    });
  }

  /** The prefix must be unique in the region, so it contains the account's number. */
  private addDomain(): UserPoolDomain {
    const { stackName, account } = Stack.of(this);
    return new UserPoolDomain(this, 'Domain', {
      userPool: this.userPool,
      cognitoDomain: { domainPrefix: `${stackName.toLowerCase()}-${account}` },
      managedLoginVersion: ManagedLoginVersion.NEWER_MANAGED_LOGIN,
    });
  }
}
