import { InMemoryWebStorage, UserManager, WebStorageStateStore } from 'oidc-client-ts';
import type { DashboardConfig } from '../lib/types.ts';
import { usualScope } from './session.ts';

/**
 * The OpenID Connect client (authorization code with PKCE). Tokens are kept in memory only. The state of a sign-in (PKCE
 * verifier, path to return to) is kept in the tab's session storage.
 */
export function createUserManager({ signIn }: DashboardConfig, origin: string): UserManager {
  const { issuer, clientId } = signIn;
  const domainUrl = signIn.domainUrl.replace(/\/$/, '');
  return new UserManager({
    authority: issuer,
    client_id: clientId,
    redirect_uri: `${origin}/callback`,
    scope: usualScope,
    response_type: 'code',
    metadata: {
      issuer,
      authorization_endpoint: `${domainUrl}/oauth2/authorize`,
      token_endpoint: `${domainUrl}/oauth2/token`,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
    },
    userStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
    stateStore: new WebStorageStateStore({ store: sessionStorage }),
    // The session renews tokens itself: once for its timer and all refused requests together.
    automaticSilentRenew: false,
    monitorSession: false,
    loadUserInfo: false,
    redirectMethod: 'replace',
    requestTimeoutInSeconds: 20,
  });
}

/**
 * Revokes refresh tokens at Cognito's endpoint. The request outlives the page, since a sign-out leaves it at once. A
 * failure is ignored: whoever signs out without a network has no token left here either, and the token ends by itself.
 */
export function tokenRevoker({ signIn }: DashboardConfig): (refreshToken: string) => void {
  const url = `${signIn.domainUrl.replace(/\/$/, '')}/oauth2/revoke`;
  return (refreshToken) => {
    const body = new URLSearchParams({ token: refreshToken, client_id: signIn.clientId });
    void fetch(url, { method: 'POST', body, keepalive: true }).catch(() => {});
  };
}

/** Cognito's sign-out: ends the login domain's cookie and comes back to `/signed-out`. */
export function signOutUrl({ signIn }: DashboardConfig, origin: string): string {
  const parameters = new URLSearchParams({ client_id: signIn.clientId, logout_uri: `${origin}/signed-out` });
  return `${signIn.domainUrl.replace(/\/$/, '')}/logout?${parameters.toString()}`;
}
