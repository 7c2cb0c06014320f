import type { IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import { messagePage, sendPage } from './pages.ts';
import type { UserPoolOptions } from './user-pool.ts';

/** Answers `/logout?client_id=…&logout_uri=…`: ends the browser's session and goes to a registered address. */
export function createSignOut(provider: Provider, { baseUrl, clientId, logoutUris }: UserPoolOptions) {
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
