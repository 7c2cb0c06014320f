import { createUserPool, issuerOf, type UserPool } from './cognito/user-pool.ts';
import type { ApiSigning } from './cognito/options.ts';
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

/** The pool that the demo accounts sign in to, for the dashboard at the same origin and at those that are allowed. */
export function openUserPool(
  origin: string,
  signIn: SignInFile,
  {
    accessTokenSeconds,
    allowedOrigins,
    apiSigning,
  }: { accessTokenSeconds: number; allowedOrigins: string[]; apiSigning: ApiSigning },
): UserPool {
  const origins = [...new Set([origin, developmentOrigin, ...allowedOrigins])];
  return createUserPool({
    baseUrl: origin,
    ...signIn,
    clientId: dashboardClientId,
    redirectUris: origins.map((one) => `${one}/callback`),
    logoutUris: origins.map((one) => `${one}/signed-out`),
    accessTokenSeconds,
    apiSigning,
  });
}
