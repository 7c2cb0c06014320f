import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createUserPool, issuerOf, type UserPool } from './cognito/user-pool.ts';
import type { UserPoolOptions } from './cognito/options.ts';
import type { SignInFile } from './data-folder.ts';

/** The dashboard's app client in the local pool. */
export const dashboardClientId = 'dashboard';

/** Where `npx vite` serves the dashboard while it is being worked on. */
const developmentOrigin = 'http://127.0.0.1:5173';

/** The settings of the functions for the pool that is served at an origin. */
export function sessionSettings(origin: string): { issuer: string; jwksUrl: string; clientId: string } {
  const issuer = issuerOf(origin);
  return { issuer, jwksUrl: `${issuer}/.well-known/jwks.json`, clientId: dashboardClientId };
}

interface SignInOptions extends Pick<UserPoolOptions, 'accessTokenSeconds' | 'apiSigning'> {
  /** Where invitations are written. */
  outbox: string;
  onMail(path: string): void;
  allowedOrigins: string[];
  allowedCallbacks: string[];
}

/** Where a sign-in and a sign-out may return to. */
export function returnAddresses(origins: string[], callbacks: string[]) {
  const below = (path: string) => [...origins.map((origin) => `${origin}${path}`), ...callbacks];
  return { redirectUris: below('/callback'), logoutUris: below('/signed-out') };
}

/** The pool that the demo accounts sign in to, for the dashboard at the same origin and for what is allowed beside it. */
export function openUserPool(origin: string, signIn: SignInFile, options: SignInOptions): UserPool {
  const { accessTokenSeconds, apiSigning, outbox, onMail, allowedOrigins, allowedCallbacks } = options;
  return createUserPool({
    baseUrl: origin,
    ...signIn,
    clientId: dashboardClientId,
    ...returnAddresses([origin, developmentOrigin, ...allowedOrigins], allowedCallbacks),
    accessTokenSeconds,
    apiSigning,
    onInvite({ sub, email, password }) {
      mkdirSync(outbox, { recursive: true });
      const path = join(outbox, `invitation-${sub}.txt`);
      writeFileSync(path, `To: ${email}\n\nYour temporary password is ${password}\n`, { mode: 0o600 });
      onMail(path);
    },
  });
}
