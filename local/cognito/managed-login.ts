import type { IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import type { UserPoolOptions } from './options.ts';
import { messagePage, sendPage } from './pages.ts';
import { createProvider } from './provider.ts';
import { createSignIn } from './sign-in.ts';

export interface ManagedLogin {
  handle(req: IncomingMessage, res: ServerResponse, path: string): Promise<void>;
}

/** Everything of a pool that needs its state: the OAuth endpoints, the sign-in page and the sign-out. */
export function createManagedLogin(options: UserPoolOptions, issuer: string): ManagedLogin {
  const provider = createProvider(options, issuer);
  const oauth = provider.callback();
  const signIn = createSignIn(provider, options);
  const signOut = createSignOut(provider, options);
  return {
    handle(req, res, path) {
      if (path === '/login') return signIn(req, res);
      if (path === '/logout') return signOut(req, res);
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
