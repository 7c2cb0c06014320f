import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ManagedLogin } from './managed-login.ts';
import { accountScope } from '../../shared/accounts/password.ts';
import { isOfAccounts, serveAccountApi } from './account-api.ts';
import { knownScopes, type UserPoolOptions } from './options.ts';
import { messagePage, sendPage } from './pages.ts';
import { publicKey } from './signing-key.ts';
import { fontPath, sendFont } from './styles.ts';
import { serveUserPoolsApi } from './user-pools-api.ts';

export interface UserPool {
  issuer: string;
  /** Whether a URL path belongs to the pool. */
  serves(path: string): boolean;
  /** Answers any request for such a path; never rejects. */
  handle(req: IncomingMessage, res: ServerResponse): Promise<void>;
}

export const poolId = 'us-east-1_local';
const apiPath = '/cognito-idp';

/** Which methods each path has; a path below `/oauth2/authorize` continues an interrupted sign-in. */
const methods: [RegExp, string[]][] = [
  [/^\/oauth2\/authorize(\/[\w-]+)?$/, ['GET', 'HEAD']],
  [/^\/oauth2\/(token|revoke)$/, ['POST', 'OPTIONS']],
  [/^\/login$/, ['GET', 'HEAD', 'POST']],
  [/^\/login\/inter\.woff2$/, ['GET']],
  [/^\/(logout|oauth2\/userInfo)$/, ['GET']],
  [/^\/cognito-idp\/$/, ['POST']],
];

/** The issuer of a pool that is served at an origin. */
export function issuerOf(baseUrl: string): string {
  return `${baseUrl}/${poolId}`;
}

/** Where the user pools API is, for a pool that is served at an origin. The SDK adds the slash. */
export function userPoolsApiOf(baseUrl: string): string {
  return baseUrl + apiPath;
}

/** An OIDC issuer that behaves like an Amazon Cognito user pool with managed login. See this folder's README. */
export function createUserPool(options: UserPoolOptions): UserPool {
  const issuer = issuerOf(options.baseUrl);
  const documents = new Map<string, object>([
    [`/${poolId}/.well-known/openid-configuration`, discoveryDocument(options.baseUrl, issuer)],
    [`/${poolId}/.well-known/jwks.json`, { keys: [publicKey(options.signingKey)] }],
  ]);
  const { accounts, apiSigning: signing, onInvite } = options;
  const api = { poolId, accounts, signing, onInvite };
  const ofAccounts = { ...options, issuer };
  let managedLogin: Promise<ManagedLogin> | null = null;
  // Loading the provider takes longer than starting the service, and often nobody signs in.
  const load = () =>
    (managedLogin ??= import('./managed-login.ts').then((module) =>
      module.createManagedLogin(options, issuer),
    ));

  return {
    issuer,
    serves: (path) =>
      path === fontPath ||
      /^\/(login|logout)$/.test(path) ||
      /^\/(oauth2|us-east-1_local|cognito-idp)(\/|$)/.test(path),
    async handle(req, res) {
      const path = (req.url ?? '').split('?')[0]!;
      try {
        const document = documents.get(path);
        if (document) return sendDocument(req, res, document);
        const allowed = methods.find(([pattern]) => pattern.test(path))?.[1];
        if (!allowed) return sendPage(res, 404, messagePage('notFound'));
        if (!allowed.includes(req.method ?? '')) return refuseMethod(res, allowed);
        if (path === `${apiPath}/`) {
          if (isOfAccounts(req)) return await serveAccountApi(req, res, ofAccounts);
          return await serveUserPoolsApi(req, res, api);
        }
        if (path === fontPath) return await sendFont(res);
        await (await load()).handle(req, res, path);
      } catch {
        if (res.headersSent) res.destroy();
        else sendPage(res, 500, messagePage('failed'));
      }
    },
  };
}

/** A user pool's discovery document: the issuer carries the pool's id, managed login is at the root of its domain. */
function discoveryDocument(baseUrl: string, issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${baseUrl}/oauth2/authorize`,
    token_endpoint: `${baseUrl}/oauth2/token`,
    userinfo_endpoint: `${baseUrl}/oauth2/userInfo`,
    revocation_endpoint: `${baseUrl}/oauth2/revoke`,
    end_session_endpoint: `${baseUrl}/logout`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    response_types_supported: ['code'],
    // As Cognito's, without the scope of its own API.
    scopes_supported: knownScopes.filter((scope) => scope !== accountScope),
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
  };
}

function sendDocument(req: IncomingMessage, res: ServerResponse, document: object): void {
  res.setHeader('access-control-allow-origin', '*');
  if (req.method === 'OPTIONS') {
    res.writeHead(204, { 'access-control-allow-methods': 'GET', 'access-control-max-age': '3600' }).end();
    return;
  }
  if (req.method !== 'GET' && req.method !== 'HEAD') return refuseMethod(res, ['GET', 'HEAD']);
  res.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'public, max-age=3600' });
  res.end(JSON.stringify(document));
}

function refuseMethod(res: ServerResponse, allowed: string[]): void {
  res.setHeader('allow', allowed.join(', '));
  sendPage(res, 405, messagePage('badRequest'));
}
