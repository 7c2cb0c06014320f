import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { environmentVariables } from '../../shared/base/config.ts';
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
    // oklch(0.985 0.001 95) and oklch(0.165 0.002 95), as Chromium paints them.
    expect(modes.map((mode) => components.pageBackground[mode].color)).toEqual(['fafaf9ff', '0f0e0dff']);
    for (const mode of modes) {
      const { backgroundColor: card } = components.form[mode];
      const pairs = [
        ...Object.values<string>(components.pageText[mode]).map((text) => [text, card]),
        [componentClasses.inputLabel[mode].textColor, card],
        [componentClasses.inputDescription[mode].textColor, card],
        [
          componentClasses.input[mode].placeholderColor,
          componentClasses.input[mode].defaults.backgroundColor,
        ],
        [componentClasses.link[mode].defaults.textColor, card],
        [componentClasses.link[mode].hover.textColor, card],
        ...['defaults', 'hover', 'active'].flatMap((state) =>
          [components.primaryButton, components.secondaryButton].map((button) => [
            button[mode][state].textColor,
            button[mode][state].backgroundColor,
          ]),
        ),
      ] as [string, string][];
      for (const [text, ground] of pairs) {
        expect({ mode, text, ground, enough: contrast(text, ground) >= 4.5 }).toMatchObject({ enough: true });
      }
      // What is no text: WCAG 2.2, 1.4.11.
      expect(contrast(componentClasses.focusState[mode].borderColor, card)).toBeGreaterThanOrEqual(3);
      expect(contrast(componentClasses.input[mode].defaults.borderColor, card)).toBeGreaterThanOrEqual(3);
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

/** How well two colours are told apart: WCAG 2.2's contrast ratio. */
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
      AllowedOAuthFlowsUserPoolClient: true,
      AllowedOAuthFlows: ['code'],
      AllowedOAuthScopes: ['openid', 'email', 'profile'],
      SupportedIdentityProviders: ['COGNITO'],
    });
    // Any other flow is refused by Cognito beside refresh token rotation.
    expect(client.ExplicitAuthFlows).toEqual(['ALLOW_USER_SRP_AUTH']);
  });

  test('sends people only to the dashboard and where the operator allows, and tells nobody whether an account exists', () => {
    expect(client).toMatchObject({
      CallbackURLs: ['https://app.example.com/callback', 'myapp://back'],
      LogoutURLs: ['https://app.example.com/signed-out', 'myapp://back'],
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
