import type { IncomingMessage, ServerResponse } from 'node:http';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { accountScope, minPasswordCharacters } from '../../shared/accounts/password.ts';
import { serveJsonProtocol } from '../http/json-protocol.ts';
import { AwsFault } from '../http/rest.ts';
import type { Account, UserPoolOptions } from './options.ts';
import { publicKey } from './signing-key.ts';
import { parametersIn } from './user-pools-api.ts';
import { isCodeOf, newSecret } from './totp.ts';

type Body = Record<string, unknown>;
type Operation = (account: Account, body: Body, accounts: Account[]) => object;

const service = 'AWSCognitoIdentityProviderService';

/** What accounts ask for themselves, by their access token (Amazon Cognito user pools API reference). */
const operations: Record<string, Operation> = {
  GetUser: ({ sub, email, totp }) => ({
    Username: sub,
    UserAttributes: [{ Name: 'email', Value: email }],
    ...(totp?.isOn && {
      UserMFASettingList: ['SOFTWARE_TOKEN_MFA'],
      PreferredMfaSetting: 'SOFTWARE_TOKEN_MFA',
    }),
  }),
  ChangePassword(account, { PreviousPassword: previous, ProposedPassword: proposed }) {
    if (previous !== account.password) throw refused('Incorrect username or password.');
    const password = String(proposed);
    if ([...password].length < minPasswordCharacters) {
      throw new AwsFault(
        'InvalidPasswordException',
        'Password did not conform with policy: Password not long enough',
      );
    }
    account.password = password;
    return {};
  },
  AssociateSoftwareToken(account) {
    const secret = newSecret();
    // The app of before goes once the new one is verified.
    pending.set(account, secret);
    return { SecretCode: secret };
  },
  VerifySoftwareToken(account, { UserCode: code }) {
    const secret = pending.get(account);
    if (secret === undefined || !isCodeOf(secret, String(code))) {
      throw new AwsFault('EnableSoftwareTokenMFAException', 'Code mismatch');
    }
    pending.delete(account);
    account.totp = { secret, isOn: account.totp?.isOn ?? false };
    return { Status: 'SUCCESS' };
  },
  SetUserMFAPreference(account, { SoftwareTokenMfaSettings: settings }) {
    const isOn = (settings as { Enabled?: unknown } | undefined)?.Enabled === true;
    if (account.totp === undefined) {
      if (isOn) throw new AwsFault('InvalidParameterException', 'User has not set up software token mfa');
    } else account.totp.isOn = isOn;
    return {};
  },
  GlobalSignOut: (account) => {
    account.signedOutAtMs = Date.now();
    return {};
  },
  DeleteUser(account, _, accounts) {
    accounts.splice(accounts.indexOf(account), 1);
    return {};
  },
};

/** Secrets that no code was given of yet. */
const pending = new WeakMap<Account, string>();

const refused = (message: string) => new AwsFault('NotAuthorizedException', message);

/** Whether an access token in the body says who asks, and no signature. */
export function isOfAccounts({ headers }: IncomingMessage): boolean {
  const [named, operation = ''] = String(headers['x-amz-target']).split('.');
  return named === service && Object.hasOwn(operations, operation);
}

export async function serveAccountApi(
  request: IncomingMessage,
  response: ServerResponse,
  options: UserPoolOptions & { issuer: string },
): Promise<void> {
  await serveJsonProtocol(request, response, {
    targets: Object.keys(operations).map((operation) => `${service}.${operation}`),
    signing: null,
    maxBodyBytes: 16 * 1024,
    async perform(content, target) {
      const body = parametersIn(content) as Body;
      const account = await accountOf(String(body.AccessToken), options);
      return operations[target.slice(service.length + 1)]!(account, body, options.accounts);
    },
  });
}

/** @throws AwsFault for a token that is not of this client, without the scope, or from before a sign-out everywhere */
async function accountOf(
  token: string,
  { signingKey, accounts, clientId, issuer }: UserPoolOptions & { issuer: string },
): Promise<Account> {
  const keys = createLocalJWKSet({ keys: [publicKey(signingKey)] });
  const verified = await jwtVerify(token, keys, { issuer }).catch(() => null);
  const { token_use: use, client_id: client, scope, sub, iat = 0 } = verified?.payload ?? {};
  const account = accounts.find((one) => one.sub === sub);
  if (use !== 'access' || client !== clientId || account === undefined || account.enabled === false) {
    throw refused('Invalid Access Token');
  }
  if (!String(scope).split(' ').includes(accountScope))
    throw refused('Access Token does not have required scopes');
  if (iat * 1000 <= (account.signedOutAtMs ?? 0)) throw refused('Access Token has been revoked');
  return account;
}
