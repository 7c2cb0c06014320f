import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { environmentVariables } from '../../shared/base/config.ts';
import { functionIdOf, idOf } from '../support/policies.ts';
import { isMatch, isOfApi } from '../support/door.ts';
import { templateOf } from '../support/stack-templates.ts';
import { allProperties, only, plain, propertiesOf } from './resources.ts';

const template = templateOf('everything');
const { id: poolId, Properties: pool } = only(template, 'AWS::Cognito::UserPool');
const { sessionIssuer, sessionJwksUrl, sessionClientId } = environmentVariables;
const { id: clientId, Properties: client } = only(template, 'AWS::Cognito::UserPoolClient');

describe('the user pool', () => {
  test.each([
    ['everything', false, 'OPTIONAL', ['SOFTWARE_TOKEN_MFA']],
    ['tuned', true, 'ON', ['SOFTWARE_TOKEN_MFA']],
    ['small', false, 'OFF', undefined],
  ] as const)(
    'with the configuration "%s" lets people sign up: %s, and has the second factor %s, by an app alone',
    (name, selfSignUp, mfa, factors) => {
      const of = propertiesOf(templateOf(name), 'AWS::Cognito::UserPool');
      expect(of.AdminCreateUserConfig).toEqual({ AllowAdminCreateUserOnly: !selfSignUp });
      expect([of.MfaConfiguration, of.EnabledMfas]).toEqual([mfa, factors]);
    },
  );

  test('cannot be deleted by mistake, and names an account by its confirmed e-mail address, in any case', () => {
    expect(pool).toMatchObject({
      DeletionProtection: 'ACTIVE',
      UsernameAttributes: ['email'],
      UsernameConfiguration: { CaseSensitive: false },
      UserAttributeUpdateSettings: { AttributesRequireVerificationBeforeUpdate: ['email'] },
      AccountRecoverySetting: { RecoveryMechanisms: [{ Name: 'verified_email', Priority: 1 }] },
    });
  });

  test('sends its e-mails by SES where that sends to everybody, else by Cognito itself', () => {
    expect(pool.EmailConfiguration).toMatchObject({
      EmailSendingAccount: 'DEVELOPER',
      From: 'no-reply@example.com',
    });
    expect(plain(pool.EmailConfiguration.SourceArn)).toMatch(/:ses:<AWS::Region>:.*:identity\/example\.com$/);
    expect(propertiesOf(templateOf('tuned'), 'AWS::Cognito::UserPool').EmailConfiguration).toBeUndefined();
  });

  test('wants passwords with 12 characters of any kind, and sends no text messages', () => {
    const kinds = ['Lowercase', 'Uppercase', 'Numbers', 'Symbols'].map((kind) => [`Require${kind}`, false]);
    expect(pool.Policies.PasswordPolicy).toEqual({ MinimumLength: 12, ...Object.fromEntries(kinds) });
    expect(pool.SmsConfiguration).toBeUndefined();
  });
});

test("the sign-in pages are managed login, with a branding for the dashboard's client", () => {
  const { ManagedLoginVersion } = propertiesOf(template, 'AWS::Cognito::UserPoolDomain');
  expect([ManagedLoginVersion, pool.UserPoolTier]).toEqual([2, 'ESSENTIALS']);
  expect(plain(propertiesOf(template, 'AWS::Cognito::ManagedLoginBranding').ClientId)).toBe(`<${clientId}>`);
});

describe('the look of the sign-in pages', () => {
  const { Settings, Assets, ...rest } = propertiesOf(template, 'AWS::Cognito::ManagedLoginBranding');
  const { componentClasses, components, categories } = Settings;
  const modes = ['lightMode', 'darkMode'] as const;

  test('follows the browser, and is not that of Cognito', () => {
    expect(rest.UseCognitoProvidedValues).toBeUndefined();
    expect(categories.global.colorSchemeMode).toBe('DYNAMIC');
    expect(components.form.logo.enabled).toBe(true);
    for (const text of JSON.stringify(Settings).match(/Color":"[^"]*|"color":"[^"]*/gi)!) {
      expect(text).toMatch(/"[0-9a-f]{6}ff$/);
    }
  });

  test('has the colours of the theme, which anybody can read', () => {
    // oklch(0.985 0.001 95) and oklch(0.165 0.002 95), as Chromium shows them.
    expect(modes.map((mode) => components.pageBackground[mode].color)).toEqual(['fafaf9ff', '0f0e0dff']);
    for (const mode of modes) {
      const { backgroundColor: card } = components.form[mode];
      const { inputLabel, inputDescription, input, link, focusState } = componentClasses;
      const { placeholderColor, defaults: field } = input[mode];
      const buttons = [components.primaryButton, components.secondaryButton].flatMap((button) =>
        ['defaults', 'hover', 'active'].map((state) => button[mode][state]),
      );
      const pairs: [string, string][] = [
        ...Object.values<string>(components.pageText[mode]).map((text): [string, string] => [text, card]),
        [inputLabel[mode].textColor, card],
        [inputDescription[mode].textColor, card],
        [placeholderColor, field.backgroundColor],
        [link[mode].defaults.textColor, card],
        [link[mode].hover.textColor, card],
        ...buttons.map((state): [string, string] => [state.textColor, state.backgroundColor]),
      ];
      for (const [text, ground] of pairs) {
        expect({ mode, text, ground, enough: contrast(text, ground) >= 4.5 }).toMatchObject({ enough: true });
      }
      // What is no text: WCAG 2.2, 1.4.11.
      for (const { borderColor } of [focusState[mode], field]) {
        expect(contrast(borderColor, card)).toBeGreaterThanOrEqual(3);
      }
    }
  });

  test("has the dashboard's logo, dark on light and light on dark", () => {
    const icon = readFileSync('dashboard/public/favicon.svg', 'utf8');
    const shapes = (svg: string) => svg.match(/ d="[^"]+"/g);
    const images = Assets.map(({ Bytes, Category, ColorMode, Extension }: Record<string, string>) => {
      const svg = Buffer.from(Bytes!, 'base64').toString();
      expect([Extension, shapes(svg)]).toEqual(['SVG', shapes(icon)]);
      return [Category, ColorMode, /<svg [^>]*fill="#([^"]*)"/.exec(svg)?.[1]];
    });
    expect(images).toEqual([
      ['FAVICON_SVG', 'DYNAMIC', undefined],
      ['FORM_LOGO', 'LIGHT', components.pageText.lightMode.headingColor.slice(0, 6)],
      ['FORM_LOGO', 'DARK', components.pageText.darkMode.headingColor.slice(0, 6)],
    ]);
  });
});

/** How far two colours differ: WCAG 2.2's contrast ratio. */
function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance(hex: string): number {
  const [red, green, blue] = [0, 2, 4].map((at) => {
    const channel = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

describe("the dashboard's client", () => {
  test('has no secret and allows only the authorization code flow', () => {
    expect(client).toMatchObject({
      GenerateSecret: false,
      AllowedOAuthFlows: ['code'],
      // Any other flow is refused by Cognito beside refresh token rotation.
      ExplicitAuthFlows: ['ALLOW_USER_SRP_AUTH'],
      SupportedIdentityProviders: ['COGNITO'],
    });
  });

  test('sends people only to the dashboard and where the operator allows, and says to nobody whether an account exists', () => {
    expect(client).toMatchObject({
      CallbackURLs: ['https://app.example.com/callback', 'myapp://back'],
      LogoutURLs: ['https://app.example.com/signed-out', 'myapp://back'],
      PreventUserExistenceErrors: 'ENABLED',
    });
  });

  test('gets tokens for an hour, and refresh tokens for 30 days that work once, but for a refresh whose answer was lost, which it sees after 20 seconds', () => {
    expect(client).toMatchObject({
      AccessTokenValidity: 60,
      IdTokenValidity: 60,
      RefreshTokenValidity: 30 * 24 * 60,
      TokenValidityUnits: { AccessToken: 'minutes', IdToken: 'minutes', RefreshToken: 'minutes' },
      EnableTokenRevocation: true,
      RefreshTokenRotation: { Feature: 'ENABLED', RetryGracePeriodSeconds: 60 },
    });
  });
});

describe('the firewall before the pool', () => {
  const id = idOf(template, 'AWS::WAFv2::WebACL', (webAcl) => !isOfApi(webAcl));
  const [mails, requests] = template.Resources[id]!.Properties.Rules;

  test('stands before it, and limits what an address asks for', () => {
    const associations = allProperties(template, 'AWS::WAFv2::WebACLAssociation').map(plain);
    expect(associations).toContain(`{ResourceArn: <${poolId}.Arn>, WebACLArn: <${id}.Arn>}`);
    expect([mails, requests].map(({ Statement }) => Statement.RateBasedStatement)).toMatchObject([
      { AggregateKeyType: 'IP', EvaluationWindowSec: 300, Limit: 30 },
      { AggregateKeyType: 'IP', EvaluationWindowSec: 300, Limit: 1000 },
    ]);
  });

  test.each([
    ['POST', '/signup', undefined, true],
    ['POST', '/forgotPassword', undefined, true],
    ['POST', '/resendcode', undefined, true],
    ['GET', '/signup', undefined, false],
    ['POST', '/login', undefined, false],
    ['POST', '/', 'AWSCognitoIdentityProviderService.ForgotPassword', true],
    ['POST', '/', 'AWSCognitoIdentityProviderService.SignUp', true],
    ['POST', '/', 'AWSCognitoIdentityProviderService.ConfirmSignUp', false],
    ['POST', '/', 'AWSCognitoIdentityProviderService.InitiateAuth', false],
  ])('%s %s with the target %s asks for an e-mail: %s', (method, path, target, asks) => {
    const knock = { method, path, headers: { 'x-amz-target': target } };
    expect(isMatch(mails.Statement.RateBasedStatement.ScopeDownStatement, knock)).toBe(asks);
  });
});

test('a function that verifies sessions knows the issuer, its keys and the client', () => {
  const { Variables } = template.Resources[functionIdOf(template, 'list-keys')]!.Properties.Environment;
  const issuer = `https://cognito-idp.<AWS::Region>.amazonaws.com/<${poolId}>`;
  const known = { [sessionIssuer]: issuer, [sessionJwksUrl]: `${issuer}/.well-known/jwks.json` };
  for (const [name, value] of Object.entries({ ...known, [sessionClientId]: `<${clientId}>` })) {
    expect([name, plain(Variables[name])]).toEqual([name, value]);
  }
});
