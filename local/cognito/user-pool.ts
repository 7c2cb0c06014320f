import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JWK } from 'jose';
import { discoveryDocument, keysDocument } from './documents.ts';
import type { ManagedLogin } from './managed-login.ts';
import { messagePage, sendPage } from './pages.ts';

export { newSigningKey } from './signing-key.ts';

export interface Account {
  /** A UUID; also the user name, as in pools whose users sign in with their e-mail address. */
  sub: string;
  email: string;
  password: string;
}

export interface UserPoolOptions {
  /** The origin where everything is served, without a slash at its end: `http://127.0.0.1:4600`. */
  baseUrl: string;
  /** Private RS256 JWK with a `kid`; the caller keeps it, so that tokens outlive a restart. */
  signingKey: JWK;
  accounts: Account[];
  /** The one app client; it is public and has no secret. */
  clientId: string;
  /** Where a sign-in may return to; each is matched exactly. */
  redirectUris: string[];
  /** Where a sign-out may return to; each is matched exactly. */
  logoutUris: string[];
  /** Lifetime of access and ID tokens. */
  accessTokenSeconds: number;
  /** How long a used refresh token works once more: 0 to 60 in Cognito. Default 10. */
  refreshGraceSeconds?: number;
}

export interface UserPool {
  issuer: string;
  /** Whether a URL path belongs to the pool. */
  serves(path: string): boolean;
  /** Answers any request for such a path; never rejects. */
  handle(req: IncomingMessage, res: ServerResponse): Promise<void>;
}

const poolId = 'us-east-1_local';

/** Which methods each path has; what comes below `/oauth2/authorize` takes an interrupted sign-in up again. */
const methods: [RegExp, string[]][] = [
  [/^\/oauth2\/authorize(\/[\w-]+)?$/, ['GET', 'HEAD']],
  [/^\/oauth2\/(token|revoke)$/, ['POST', 'OPTIONS']],
  [/^\/oauth2\/userInfo$/, ['GET', 'POST']],
  [/^\/login$/, ['GET', 'HEAD', 'POST']],
  [/^\/logout$/, ['GET']],
];

/** The issuer of a pool that is served at an origin. */
export function issuerOf(baseUrl: string): string {
  return `${baseUrl}/${poolId}`;
}

/** An OIDC issuer that behaves like an Amazon Cognito user pool with managed login. See this folder's README. */
export function createUserPool(options: UserPoolOptions): UserPool {
  const issuer = issuerOf(options.baseUrl);
  const documents = new Map([
    [`/${poolId}/.well-known/openid-configuration`, discoveryDocument(options.baseUrl, issuer)],
    [`/${poolId}/.well-known/jwks.json`, keysDocument(options.signingKey)],
  ]);
  let managedLogin: Promise<ManagedLogin> | null = null;
  // The provider takes longer to load than the service to start, and many sessions never sign in.
  const load = () =>
    (managedLogin ??= import('./managed-login.ts').then((module) =>
      module.createManagedLogin(options, issuer),
    ));

  return {
    issuer,
    serves: (path) => /^\/(login|logout)$/.test(path) || /^\/(oauth2|us-east-1_local)(\/|$)/.test(path),
    async handle(req, res) {
      const path = (req.url ?? '').split('?')[0]!;
      try {
        const document = documents.get(path);
        if (document) return sendDocument(req, res, document);
        const allowed = methods.find(([pattern]) => pattern.test(path))?.[1];
        if (!allowed) return sendPage(res, 404, messagePage('notFound'));
        if (!allowed.includes(req.method ?? '')) return refuseMethod(res, allowed);
        await (await load()).handle(req, res, path);
      } catch {
        if (res.headersSent) res.destroy();
        else sendPage(res, 500, messagePage('failed'));
      }
    },
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
  sendPage(res, 405, messagePage('method'));
}
