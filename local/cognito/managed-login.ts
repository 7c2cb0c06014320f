import type { IncomingMessage, ServerResponse } from 'node:http';
import { createLocalJWKSet, jwtVerify } from 'jose';
import type Provider from 'oidc-provider';
import type { UserPoolOptions } from './options.ts';
import { messagePage, sendPage } from './pages.ts';
import { createProvider } from './provider.ts';
import { createSignIn } from './sign-in.ts';
import { publicKey } from './signing-key.ts';

export interface ManagedLogin {
  handle(req: IncomingMessage, res: ServerResponse, path: string): Promise<void>;
}

/** Everything of a pool that needs its state: the OAuth endpoints, the sign-in page and the sign-out. */
export function createManagedLogin(options: UserPoolOptions, issuer: string): ManagedLogin {
  const provider = createProvider(options, issuer);
  const oauth = provider.callback();
  const signIn = createSignIn(provider, options);
  const signOut = createSignOut(provider, options);
  const userInfo = createUserInfo(options, issuer);
  return {
    handle(req, res, path) {
      if (path === '/login') return signIn(req, res);
      if (path === '/logout') return signOut(req, res);
      if (path === '/oauth2/userInfo') return userInfo(req, res);
      return oauth(req, res);
    },
  };
}

/** Answers `/logout?client_id=…&logout_uri=…`: ends the browser's session and goes to a registered address. */
function createSignOut(provider: Provider, { baseUrl, clientId, logoutUris }: UserPoolOptions) {
  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { searchParams } = new URL(req.url ?? '', baseUrl);
    const logoutUri = searchParams.get('logout_uri');
    if (searchParams.get('client_id') !== clientId || logoutUri === null || !logoutUris.includes(logoutUri)) {
      return sendPage(res, 400, messagePage('logoutAddress'));
    }
    const ctx = provider.createContext(req, res);
    const session = await provider.Session.get(ctx);
    if (session.accountId !== undefined) await session.destroy();
    ctx.cookies.set(provider.cookieName('session'), null, { httpOnly: true, sameSite: 'lax' });
    res.writeHead(302, { location: logoutUri, 'cache-control': 'no-store' }).end();
  };
}

/** Answers `/oauth2/userInfo` to an access token with the scope `openid`. All values are strings, as in Cognito. */
function createUserInfo({ signingKey, accounts }: UserPoolOptions, issuer: string) {
  const keys = createLocalJWKSet({ keys: [publicKey(signingKey)] });
  return async ({ headers }: IncomingMessage, res: ServerResponse): Promise<void> => {
    const [, token = ''] = /^Bearer (.+)$/i.exec(headers.authorization ?? '') ?? [];
    const claims = (await jwtVerify(token, keys, { issuer }).catch(() => null))?.payload;
    // An ID token has no scopes.
    const isAllowed = String(claims?.scope).split(' ').includes('openid');
    const account = isAllowed && accounts.find(({ sub }) => sub === claims!.sub);
    const body = account
      ? { sub: account.sub, email_verified: 'true', email: account.email, username: account.sub }
      : { error: 'invalid_token' };
    if (!account) res.setHeader('www-authenticate', 'Bearer error="invalid_token"');
    res.writeHead(account ? 200 : 401, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    res.end(JSON.stringify(body));
  };
}
