import { describe, expect, test } from '@jest/globals';
import { App, Duration, Stack } from 'aws-cdk-lib/core';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Accounts } from '../../lib/constructs/accounts.ts';
import { ServiceFunction } from '../../lib/constructs/service-function.ts';
import { onlyResource } from './only-resource.ts';

const origin = 'https://app.example.com';
const env = { account: '123456789012', region: 'eu-west-1' };

function newAccounts({ selfSignUp = false } = {}) {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
  const stack = new Stack(app, 'Image-Generation-Test', { env });
  return { stack, accounts: new Accounts(stack, 'Accounts', { selfSignUp }) };
}

function withClient(options = {}) {
  const { stack, accounts } = newAccounts(options);
  accounts.addDashboardClient({ origins: [origin] });
  return { stack, accounts, template: Template.fromStack(stack) };
}

describe('the user pool', () => {
  test.each([true, false])('people make themselves an account only if that is wanted: %s', (selfSignUp) => {
    withClient({ selfSignUp }).template.hasResourceProperties('AWS::Cognito::UserPool', {
      AdminCreateUserConfig: { AllowAdminCreateUserOnly: !selfSignUp },
    });
  });

  test('outlives the stack, and is not deleted by mistake', () => {
    const pool = onlyResource(withClient().template, 'AWS::Cognito::UserPool');
    expect(pool).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
    expect(pool.Properties.DeletionProtection).toBe('ACTIVE');
  });

  test('an account is an e-mail address, however its letters are written, once it is confirmed', () => {
    withClient().template.hasResourceProperties('AWS::Cognito::UserPool', {
      UsernameAttributes: ['email'],
      UsernameConfiguration: { CaseSensitive: false },
      AutoVerifiedAttributes: ['email'],
      UserAttributeUpdateSettings: { AttributesRequireVerificationBeforeUpdate: ['email'] },
      AccountRecoverySetting: { RecoveryMechanisms: [{ Name: 'verified_email', Priority: 1 }] },
    });
  });

  test('passwords have 12 characters of every kind, and an authenticator app can be added', () => {
    const { Properties: pool } = onlyResource(withClient().template, 'AWS::Cognito::UserPool');
    expect(pool.Policies.PasswordPolicy).toEqual({
      MinimumLength: 12,
      RequireLowercase: true,
      RequireUppercase: true,
      RequireNumbers: true,
      RequireSymbols: true,
    });
    expect(pool.MfaConfiguration).toBe('OPTIONAL');
    expect(pool.EnabledMfas).toEqual(['SOFTWARE_TOKEN_MFA']);
    expect(pool.SmsConfiguration).toBeUndefined();
  });
});

describe('the sign-in pages', () => {
  test("are managed login, at a name that takes the stack's and the account's", () => {
    const { stack, accounts, template } = withClient();
    template.hasResourceProperties('AWS::Cognito::UserPoolDomain', {
      Domain: 'image-generation-test-123456789012',
      ManagedLoginVersion: 2,
    });
    const [domainId] = Object.keys(template.findResources('AWS::Cognito::UserPoolDomain'));
    expect(stack.resolve(accounts.domainUrl)).toEqual({
      'Fn::Join': ['', ['https://', { Ref: domainId }, '.auth.eu-west-1.amazoncognito.com']],
    });
    template.hasResourceProperties('AWS::Cognito::UserPool', { UserPoolTier: 'ESSENTIALS' });
  });

  test("exist for the dashboard's client", () => {
    const { stack, accounts, template } = withClient();
    template.hasResourceProperties('AWS::Cognito::ManagedLoginBranding', {
      ClientId: stack.resolve(accounts.clientId),
      UserPoolId: stack.resolve(accounts.userPool.userPoolId),
      UseCognitoProvidedValues: true,
    });
  });
});

describe("the dashboard's client", () => {
  const client = () => onlyResource(withClient().template, 'AWS::Cognito::UserPoolClient').Properties;

  test('is public and signs in by the authorization code flow alone', () => {
    expect(client()).toMatchObject({
      GenerateSecret: false,
      AllowedOAuthFlowsUserPoolClient: true,
      AllowedOAuthFlows: ['code'],
      AllowedOAuthScopes: ['openid', 'email', 'profile'],
      SupportedIdentityProviders: ['COGNITO'],
    });
  });

  test('sends people to no place but the dashboard', () => {
    expect(client()).toMatchObject({
      CallbackURLs: ['https://app.example.com/callback'],
      LogoutURLs: ['https://app.example.com/signed-out'],
    });
  });

  test('tells nobody whether an address has an account', () => {
    expect(client().PreventUserExistenceErrors).toBe('ENABLED');
  });

  test('tokens last an hour, and a refresh token works once', () => {
    expect(client()).toMatchObject({
      AccessTokenValidity: 60,
      IdTokenValidity: 60,
      RefreshTokenValidity: 30 * 24 * 60,
      TokenValidityUnits: { AccessToken: 'minutes', IdToken: 'minutes', RefreshToken: 'minutes' },
      EnableTokenRevocation: true,
      RefreshTokenRotation: { Feature: 'ENABLED' },
    });
    expect(client().RefreshTokenRotation.RetryGracePeriodSeconds).toBeLessThanOrEqual(60);
  });

  test('an answer that the dashboard waits 20 seconds for in vain can be asked for again', () => {
    expect(client().RefreshTokenRotation.RetryGracePeriodSeconds).toBeGreaterThan(20);
  });

  test('names its flows, and none that Cognito refuses beside rotation', () => {
    expect(client().ExplicitAuthFlows).toEqual(['ALLOW_USER_SRP_AUTH']);
  });

  test('has no id before it is made, and the sentence says what to do', () => {
    expect(() => newAccounts().accounts.clientId).toThrow('Call addDashboardClient');
  });
});

describe('a function that verifies sessions', () => {
  function granted() {
    const { stack, accounts } = newAccounts();
    accounts.addDashboardClient({ origins: [origin] });
    const make = (functionName: string) =>
      new ServiceFunction(stack, functionName, {
        functionName,
        serviceName: 'test',
        timeout: Duration.seconds(10),
        logRetention: RetentionDays.ONE_DAY,
      });
    accounts.grantSessions(make('list-keys'));
    make('get-health');
    return { stack, accounts, template: Template.fromStack(stack) };
  }

  test('is told the issuer, its keys and the client', () => {
    const { stack, accounts, template } = granted();
    const pool = stack.resolve(accounts.userPool.userPoolId);
    const issuer = ['https://cognito-idp.eu-west-1.amazonaws.com/', pool];
    template.hasResourceProperties('AWS::Lambda::Function', {
      Description: Match.stringLikeRegexp('list-keys'),
      Environment: {
        Variables: Match.objectLike({
          SESSION_ISSUER: { 'Fn::Join': ['', issuer] },
          SESSION_JWKS_URL: { 'Fn::Join': ['', [...issuer, '/.well-known/jwks.json']] },
          SESSION_CLIENT_ID: stack.resolve(accounts.clientId),
        }),
      },
    });
  });

  test('is permitted nothing more than another function', () => {
    const policies = Object.values(granted().template.findResources('AWS::IAM::Policy'));
    const actions = policies.map(({ Properties: { PolicyDocument } }) =>
      PolicyDocument.Statement.map(({ Action }: { Action: unknown }) => Action),
    );
    expect(actions).toHaveLength(2);
    expect(actions[0]).toEqual(actions[1]);
  });
});
