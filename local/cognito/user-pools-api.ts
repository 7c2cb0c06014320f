import type { IncomingMessage, ServerResponse } from 'node:http';
import { serveJsonProtocol } from '../http/json-protocol.ts';
import { AwsFault } from '../http/rest.ts';
import { randomUUID } from 'node:crypto';
import type { Account, ApiSigning, UserPoolOptions } from './options.ts';

export interface UserPoolsApi {
  poolId: string;
  accounts: Account[];
  signing: ApiSigning;
  onInvite: UserPoolOptions['onInvite'];
}

const maxUsers = 60;

const service = 'AWSCognitoIdentityProviderService';

/** What changes accounts. They are as before when the service is started again. */
const changes: Record<string, (account: Account, accounts: Account[]) => unknown> = {
  AdminDisableUser: (account) => Object.assign(account, { enabled: false, signedOutAtMs: Date.now() }),
  AdminEnableUser: (account) => Object.assign(account, { enabled: true }),
  AdminDeleteUser: (account, accounts) => accounts.splice(accounts.indexOf(account), 1),
  // Of an app alone, which it forgets.
  AdminSetUserMFAPreference: (account) => delete account.totp,
  AdminUserGlobalSignOut: (account) => Object.assign(account, { signedOutAtMs: Date.now() }),
};

/** Answers ListUsers, and what signs an account out or deletes it (Amazon Cognito user pools API reference). */
export async function serveUserPoolsApi(
  request: IncomingMessage,
  response: ServerResponse,
  api: UserPoolsApi,
): Promise<void> {
  await serveJsonProtocol(request, response, {
    targets: ['ListUsers', 'AdminCreateUser', ...Object.keys(changes)].map(
      (operation) => `${service}.${operation}`,
    ),
    signing: { service: 'cognito-idp', ...api.signing },
    maxBodyBytes: 128 * 1024,
    perform(body, target) {
      if (target.endsWith('.AdminCreateUser')) return createUser(parametersIn(body), api);
      const change = changes[target.slice(service.length + 1)];
      return change === undefined
        ? listUsers(parametersIn(body), api)
        : changeAccount(parametersIn(body), api, change);
    },
  });
}

function changeAccount(
  { UserPoolId: asked, Username: name }: ApiParameters,
  { poolId, accounts }: UserPoolsApi,
  change: (account: Account, accounts: Account[]) => unknown,
): object {
  if (asked !== poolId) throw unknownPool(asked);
  const account = accounts.find(({ sub }) => sub === name);
  if (account === undefined) throw new AwsFault('UserNotFoundException', 'User does not exist.');
  change(account, accounts);
  return {};
}

/** Its temporary password counts until it is changed elsewhere: the sign-in page asks for no new one. */
function createUser(
  { UserPoolId: asked, Username: email }: ApiParameters,
  { poolId, accounts, onInvite }: UserPoolsApi,
): object {
  if (asked !== poolId) throw unknownPool(asked);
  if (typeof email !== 'string') throw invalid('Username is an e-mail address.');
  if (accounts.some((account) => account.email.toLowerCase() === email.toLowerCase())) {
    throw new AwsFault('UsernameExistsException', 'User account already exists.');
  }
  const account: Account = {
    sub: randomUUID(),
    email,
    password: randomUUID(),
    status: 'FORCE_CHANGE_PASSWORD',
  };
  accounts.push(account);
  onInvite?.(account);
  return { User: describe(account) };
}

const unknownPool = (asked: unknown) =>
  new AwsFault('ResourceNotFoundException', `User pool ${String(asked)} does not exist.`);

const invalid = (message: string) => new AwsFault('InvalidParameterException', message);

interface ApiParameters {
  UserPoolId?: unknown;
  Username?: unknown;
  Filter?: unknown;
  Limit?: unknown;
  PaginationToken?: unknown;
}

export function parametersIn(body: Buffer): ApiParameters {
  try {
    return JSON.parse(body.toString()) as ApiParameters;
  } catch {
    throw new AwsFault('SerializationException', 'The body is not JSON.');
  }
}

/** Pages are counted: a token is the number of accounts that were listed before. */
function listUsers(parameters: ApiParameters, { poolId, accounts }: UserPoolsApi): object {
  const known = ['UserPoolId', 'Filter', 'Limit', 'PaginationToken'];
  const unknown = Object.keys(parameters).find((name) => !known.includes(name));
  if (unknown !== undefined) throw invalid(`This engine does not know ${unknown}.`);
  const { UserPoolId: asked, Filter: filter = '', Limit: limit = maxUsers } = parameters;
  const { PaginationToken: token = '0' } = parameters;
  if (asked !== poolId) throw unknownPool(asked);
  if (!Number.isInteger(limit) || Number(limit) < 1 || Number(limit) > maxUsers) {
    throw invalid(`Limit must be a whole number from 1 to ${maxUsers}.`);
  }
  if (typeof token !== 'string' || !/^\d{1,9}$/.test(token)) throw invalid('Invalid pagination token.');
  const matching = accounts.filter(filterOf(filter));
  const end = Number(token) + Number(limit);
  return {
    Users: matching.slice(Number(token), end).map(describe),
    ...(end < matching.length && { PaginationToken: String(end) }),
  };
}

/** Addresses are compared whatever the case of their letters, as people sign in here. */
function filterOf(filter: unknown): (account: Account) => boolean {
  if (filter === '') return () => true;
  const shape = /^(sub|email) = "((?:[^"\\]|\\.)*)"$/s.exec(String(filter));
  if (shape === null) throw invalid(`This engine does not know the filter ${String(filter)}.`);
  const [, name, escaped] = shape as unknown as [string, 'sub' | 'email', string];
  const wanted = escaped.replace(/\\(.)/gs, '$1').toLowerCase();
  return (account) => account[name].toLowerCase() === wanted;
}

function describe({ sub, email, enabled = true, status = 'CONFIRMED' }: Account): object {
  const createdAtSeconds = 1_767_225_600;
  return {
    Username: sub,
    Attributes: [
      { Name: 'email', Value: email },
      { Name: 'email_verified', Value: String(status !== 'UNCONFIRMED') },
      { Name: 'sub', Value: sub },
    ],
    Enabled: enabled,
    UserStatus: status,
    UserCreateDate: createdAtSeconds,
    UserLastModifiedDate: createdAtSeconds,
  };
}
