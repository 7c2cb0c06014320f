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
} from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import { environmentVariables } from '../../shared/config.ts';
import { accept } from './accepted-findings.ts';
import type { ServiceFunction } from './service-function.ts';

export interface AccountsProps {
  /** Whether people may make themselves an account; otherwise the operator invites them. */
  readonly selfSignUp: boolean;
}

export interface DashboardClientProps {
  /** Where the dashboard is: a sign-in comes back to `/callback` there, a sign-out to `/signed-out`. */
  readonly origins: readonly string[];
}

/** The accounts' user pool, its sign-in pages and the dashboard's client there. The pool outlives the stack. */
export class Accounts extends Construct {
  readonly userPool: UserPool;
  /** As `iss` of every token has it. */
  readonly issuer: string;
  readonly jwksUrl: string;
  /** Where `/oauth2/authorize`, `/oauth2/token` and `/logout` are. */
  readonly domainUrl: string;
  private dashboardClient: UserPoolClient | null = null;

  constructor(scope: Construct, id: string, { selfSignUp }: AccountsProps) {
    super(scope, id);
    this.userPool = this.addUserPool(selfSignUp);
    this.issuer = `https://cognito-idp.${Stack.of(this).region}.amazonaws.com/${this.userPool.userPoolId}`;
    this.jwksUrl = `${this.issuer}/.well-known/jwks.json`;
    this.domainUrl = this.addDomain().baseUrl();
  }

  /** @throws Error before `addDashboardClient`. */
  get clientId(): string {
    if (this.dashboardClient === null) throw new Error('Call addDashboardClient before clientId is read.');
    return this.dashboardClient.userPoolClientId;
  }

  /**
   * A public client for the authorization code flow. Cognito has no setting that demands PKCE; it holds a sign-in that
   * begins with a challenge to it, as the dashboard's do.
   */
  addDashboardClient({ origins }: DashboardClientProps): void {
    this.dashboardClient = new UserPoolClient(this, 'DashboardClient', {
      userPool: this.userPool,
      generateSecret: false,
      preventUserExistenceErrors: true,
      // Cognito adds a flow that rotation excludes where none is named. The sign-in pages need none.
      authFlows: { userSrp: true },
      oAuth: {
        flows: { authorizationCodeGrant: true },
        scopes: [OAuthScope.OPENID, OAuthScope.EMAIL, OAuthScope.PROFILE],
        callbackUrls: origins.map((origin) => `${origin}/callback`),
        logoutUrls: origins.map((origin) => `${origin}/signed-out`),
      },
      supportedIdentityProviders: [UserPoolClientIdentityProvider.COGNITO],
      accessTokenValidity: Duration.hours(1),
      idTokenValidity: Duration.hours(1),
      refreshTokenValidity: Duration.days(30),
      // The dashboard asks again with the same token when an answer was lost, which it may notice after 20 seconds.
      refreshTokenRotationGracePeriod: Duration.seconds(60),
      enableTokenRevocation: true,
    });
    // Without a branding of its own a client has no sign-in page on managed login.
    new CfnManagedLoginBranding(this, 'DashboardBranding', {
      userPoolId: this.userPool.userPoolId,
      clientId: this.clientId,
      useCognitoProvidedValues: true,
    });
  }

  /** What it takes to verify a session: public keys, so there is nothing to permit. */
  grantSessions(fn: ServiceFunction): void {
    fn.setVariable(environmentVariables.sessionIssuer, this.issuer);
    fn.setVariable(environmentVariables.sessionJwksUrl, this.jwksUrl);
    fn.setVariable(environmentVariables.sessionClientId, this.clientId);
  }

  private addUserPool(selfSignUp: boolean): UserPool {
    const userPool = new UserPool(this, 'UserPool', {
      featurePlan: FeaturePlan.ESSENTIALS,
      selfSignUpEnabled: selfSignUp,
      signInAliases: { email: true },
      signInCaseSensitive: false,
      autoVerify: { email: true },
      // A new address counts only once its owner has confirmed it.
      keepOriginal: { email: true },
      passwordPolicy: {
        minLength: 12,
        requireLowercase: true,
        requireUppercase: true,
        requireDigits: true,
        requireSymbols: true,
      },
      mfa: Mfa.OPTIONAL,
      mfaSecondFactor: { sms: false, otp: true },
      accountRecovery: AccountRecovery.EMAIL_ONLY,
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    accept(userPool, {
      'AwsSolutions-COG2':
        'People choose for themselves whether to add an authenticator app. A session can spend credits and make keys of its own account only.',
      'AwsSolutions-COG8':
        'The Plus plan adds risk scores at a price per user. Here passwords are long, sign-ins are throttled by Cognito, and an authenticator app can be added.',
    });
    return userPool;
  }

  /** The account's number makes the prefix one that nobody else in the region has. */
  private addDomain(): UserPoolDomain {
    const { stackName, account } = Stack.of(this);
    return new UserPoolDomain(this, 'Domain', {
      userPool: this.userPool,
      cognitoDomain: { domainPrefix: `${stackName.toLowerCase()}-${account}` },
      managedLoginVersion: ManagedLoginVersion.NEWER_MANAGED_LOGIN,
    });
  }
}
