import {
  AssociateSoftwareTokenCommand,
  ChangePasswordCommand,
  CognitoIdentityProviderClient,
  DeleteUserCommand,
  GetUserCommand,
  SetUserMFAPreferenceCommand,
  VerifySoftwareTokenCommand,
} from '@aws-sdk/client-cognito-identity-provider';
import { beforeAll, expect, test } from '@jest/globals';
import { codeOf } from '../../../../local/cognito/totp.ts';
import { userPoolsApiOf } from '../../../../local/cognito/user-pool.ts';
import { accountScope } from '../../../../shared/accounts/password.ts';
import { setCredentials } from '../s3/support.ts';
import { ada, authorizeUrl, ben, Browser, later, pkce, signIn, usePool } from './support.ts';

const pool = usePool();
let client: CognitoIdentityProviderClient;

beforeAll(() => {
  setCredentials();
  client = new CognitoIdentityProviderClient({ endpoint: userPoolsApiOf(pool.baseUrl) });
});

const tokensOf = async (account = ada, scope = `openid ${accountScope}`) =>
  (await signIn(pool, { account, changes: { scope } })).body;
const tokenOf = async (account = ada, scope?: string) => (await tokensOf(account, scope)).access_token!;

test('the dashboard’s everyday token changes no account, and neither does an ID token or none', async () => {
  const usual = await tokensOf(ada, 'openid email profile');
  const wide = await tokensOf();
  for (const AccessToken of [usual.access_token!, wide.id_token!, 'eyJ.eyJ.x']) {
    const commands = [
      new GetUserCommand({ AccessToken }),
      new ChangePasswordCommand({
        AccessToken,
        PreviousPassword: ada.password,
        ProposedPassword: 'twelve letters',
      }),
      new DeleteUserCommand({ AccessToken }),
    ];
    for (const command of commands) {
      await expect(client.send(command as GetUserCommand)).rejects.toMatchObject({
        name: 'NotAuthorizedException',
      });
    }
  }
  expect(pool.options.accounts).toContain(ada);
});

test('a password is changed by who knows the one of before, to one of 12 characters of any kind', async () => {
  const AccessToken = await tokenOf(ben);
  const change = (PreviousPassword: string, ProposedPassword: string) =>
    client.send(new ChangePasswordCommand({ AccessToken, PreviousPassword, ProposedPassword }));
  await expect(change('wrong', 'twelve chars')).rejects.toMatchObject({ name: 'NotAuthorizedException' });
  const short = change(ben.password, 'eleven char');
  await expect(short).rejects.toMatchObject({ name: 'InvalidPasswordException' });
  await change(ben.password, 'twelve chars');
});

test('an app counts once a code of it was given, and then each sign-in asks for one', async () => {
  const AccessToken = await tokenOf(ben);
  const { SecretCode: secret } = await client.send(new AssociateSoftwareTokenCommand({ AccessToken }));
  const verify = (UserCode: string) => client.send(new VerifySoftwareTokenCommand({ AccessToken, UserCode }));
  const turn = (Enabled: boolean) =>
    client.send(new SetUserMFAPreferenceCommand({ AccessToken, SoftwareTokenMfaSettings: { Enabled } }));
  await expect(turn(true)).rejects.toMatchObject({ name: 'InvalidParameterException' });
  const stale = await later(-120_000, async () => codeOf(secret!));
  await expect(verify(stale)).rejects.toMatchObject({ name: 'EnableSoftwareTokenMFAException' });
  expect((await verify(codeOf(secret!))).Status).toBe('SUCCESS');
  await turn(true);
  const { UserMFASettingList } = await client.send(new GetUserCommand({ AccessToken }));
  expect(UserMFASettingList).toEqual(['SOFTWARE_TOKEN_MFA']);
  const browser = new Browser();
  const page = await browser.submit(await browser.open(authorizeUrl(pool, pkce().challenge)), ben);
  expect(page.text).toContain('Code of your authenticator app');
  const interaction = /name="interaction" value="([^"]+)"/.exec(page.text)![1]!;
  const send = async (code: string) =>
    browser.follow(await browser.visit(new URL('/login', page.url).href, { interaction, code }));
  expect((await send(stale)).status).toBe(400);
  expect((await send(codeOf(secret!))).location).toContain('code=');
  // Nobody passes by a code alone.
  const other = new Browser();
  const { text, url } = await other.open(authorizeUrl(pool, pkce().challenge));
  const uid = /name="interaction" value="([^"]+)"/.exec(text)![1]!;
  const form = { interaction: uid, code: codeOf(secret!) };
  expect((await other.visit(new URL('/login', url).href, form)).status).toBe(400);
  await turn(false);
});
