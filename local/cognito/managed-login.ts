import type { IncomingMessage, ServerResponse } from 'node:http';
import { createProvider } from './provider.ts';
import { createSignIn } from './sign-in.ts';
import { createSignOut } from './sign-out.ts';
import { createUserInfo } from './user-info.ts';
import type { UserPoolOptions } from './user-pool.ts';

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
