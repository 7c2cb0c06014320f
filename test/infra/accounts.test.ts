import { describe, expect, test } from '@jest/globals';
import { environmentVariables } from '../../shared/config.ts';
import { functionIdOf } from '../support/policies.ts';
import { templateOf } from '../support/stack-templates.ts';
import { only, plain, propertiesOf } from './resources.ts';

const template = templateOf('everything');
const { id: poolId, Properties: pool } = only(template, 'AWS::Cognito::UserPool');
const { id: clientId, Properties: client } = only(template, 'AWS::Cognito::UserPoolClient');

describe('the user pool', () => {
  test.each([
    ['tuned', true],
    ['everything', false],
  ] as const)('with the configuration "%s" people may sign up: %s', (name, selfSignUp) => {
    const { AdminCreateUserConfig } = propertiesOf(templateOf(name), 'AWS::Cognito::UserPool');
    expect(AdminCreateUserConfig).toEqual({ AllowAdminCreateUserOnly: !selfSignUp });
  });

  test('cannot be deleted by mistake', () => expect(pool.DeletionProtection).toBe('ACTIVE'));

  test('names an account by its confirmed e-mail address, in any case', () => {
    expect(pool).toMatchObject({
      UsernameAttributes: ['email'],
      UsernameConfiguration: { CaseSensitive: false },
      AutoVerifiedAttributes: ['email'],
      UserAttributeUpdateSettings: { AttributesRequireVerificationBeforeUpdate: ['email'] },
      AccountRecoverySetting: { RecoveryMechanisms: [{ Name: 'verified_email', Priority: 1 }] },
    });
  });

  test('wants passwords with 12 characters of every kind, and sends no text messages', () => {
    expect(pool.Policies.PasswordPolicy).toEqual({
      MinimumLength: 12,
      RequireLowercase: true,
      RequireUppercase: true,
      RequireNumbers: true,
      RequireSymbols: true,
    });
    expect(pool.SmsConfiguration).toBeUndefined();
  });

  test.each([
    ['small', 'OFF', undefined],
    ['everything', 'OPTIONAL', ['SOFTWARE_TOKEN_MFA']],
    ['tuned', 'ON', ['SOFTWARE_TOKEN_MFA']],
  ] as const)(
    'with the configuration "%s" has the second factor %s, by an app alone',
    (name, mfa, factors) => {
      const of = propertiesOf(templateOf(name), 'AWS::Cognito::UserPool');
      expect([of.MfaConfiguration, of.EnabledMfas]).toEqual([mfa, factors]);
    },
  );
});

test("the sign-in pages are managed login for the dashboard's client, at a name with the stack and the account", () => {
  const domain = propertiesOf(template, 'AWS::Cognito::UserPoolDomain');
  expect(plain(domain.Domain)).toBe('image-generation-test-<AWS::AccountId>');
  expect([domain.ManagedLoginVersion, pool.UserPoolTier]).toEqual([2, 'ESSENTIALS']);
  const branding = propertiesOf(template, 'AWS::Cognito::ManagedLoginBranding');
  expect([plain(branding.ClientId), plain(branding.UserPoolId)]).toEqual([`<${clientId}>`, `<${poolId}>`]);
});

describe("the dashboard's client", () => {
  test('has no secret and allows only the authorization code flow', () => {
    expect(client).toMatchObject({
      GenerateSecret: false,
      AllowedOAuthFlowsUserPoolClient: true,
      AllowedOAuthFlows: ['code'],
      AllowedOAuthScopes: ['openid', 'email', 'profile'],
      SupportedIdentityProviders: ['COGNITO'],
    });
    // Any other flow is refused by Cognito beside refresh token rotation.
    expect(client.ExplicitAuthFlows).toEqual(['ALLOW_USER_SRP_AUTH']);
  });

  test('sends people only to the dashboard, and tells nobody whether an account exists', () => {
    expect(client).toMatchObject({
      CallbackURLs: ['https://app.example.com/callback'],
      LogoutURLs: ['https://app.example.com/signed-out'],
      PreventUserExistenceErrors: 'ENABLED',
    });
  });

  test('gets tokens for an hour, and refresh tokens for 30 days that work once', () => {
    expect(client).toMatchObject({
      AccessTokenValidity: 60,
      IdTokenValidity: 60,
      RefreshTokenValidity: 30 * 24 * 60,
      TokenValidityUnits: { AccessToken: 'minutes', IdToken: 'minutes', RefreshToken: 'minutes' },
      EnableTokenRevocation: true,
      RefreshTokenRotation: { Feature: 'ENABLED' },
    });
  });

  test('may repeat a refresh whose answer was lost, which it notices after 20 seconds', () => {
    const { RetryGracePeriodSeconds: seconds } = client.RefreshTokenRotation;
    expect(seconds).toBeGreaterThan(20);
    expect(seconds).toBeLessThanOrEqual(60);
  });
});

test('a function that verifies sessions knows the issuer, its keys and the client', () => {
  const { Variables: variables } =
    template.Resources[functionIdOf(template, 'list-keys')]!.Properties.Environment;
  const issuer = `https://cognito-idp.<AWS::Region>.amazonaws.com/<${poolId}>`;
  const { sessionIssuer, sessionJwksUrl, sessionClientId } = environmentVariables;
  expect([sessionIssuer, sessionJwksUrl, sessionClientId].map((name) => plain(variables[name]))).toEqual([
    issuer,
    `${issuer}/.well-known/jwks.json`,
    `<${clientId}>`,
  ]);
});
