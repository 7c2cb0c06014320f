import { randomUUID } from 'node:crypto';
import Provider, {
  errors,
  interactionPolicy,
  type Configuration,
  type ErrorOut,
  type Grant,
  type KoaContextWithOIDC,
} from 'oidc-provider';
import { memoryStore } from './memory-store.ts';
import { knownScopes, type UserPoolOptions } from './options.ts';
import { messagePage, refusalPage } from './pages.ts';
import { signAccessToken, signIdToken } from './tokens.ts';

/** As in Cognito: it counts from the sign-in on, however often the session is used. */
const sessionSeconds = 3600;
const refreshTokenSeconds = 30 * 24 * 3600;
/** How long a used refresh token works once more: 0 to 60 in Cognito. */
const refreshGraceSeconds = 10;
/** How long the sign-in page may stay open. */
const signInSeconds = 30 * 60;
const codeSeconds = 5 * 60;

/** oidc-provider, configured to behave like managed login. Its endpoints are at the root, not below the issuer. */
export function createProvider(options: UserPoolOptions, issuer: string): Provider {
  const provider = new Provider(issuer, configuration(options));
  // The list of a client on the web may hold no app's own scheme, and that of a native one matches any port.
  provider.Client.prototype.redirectUriAllowed = (uri) => options.redirectUris.includes(uri);
  // The client receives the errors. Koa would print them, and they may hold tokens.
  provider.silent = true;
  provider.use(async (ctx, next) => {
    await next();
    const { oidc } = ctx as Partial<KoaContextWithOIDC>;
    if (oidc?.route === 'token' && ctx.status === 200) {
      ctx.body = await cognitoAnswer(ctx as KoaContextWithOIDC, options, issuer);
    }
  });
  return provider;
}

function configuration(options: UserPoolOptions): Configuration {
  const { clientId, redirectUris, accessTokenSeconds, accounts, signingKey, baseUrl } = options;
  const policy = interactionPolicy.base();
  policy.remove('consent');
  return {
    adapter: memoryStore(refreshGraceSeconds, accounts),
    jwks: { keys: [{ ...signingKey, alg: 'RS256', use: 'sig' }] } as Configuration['jwks'],
    clients: [
      {
        client_id: clientId,
        redirect_uris: redirectUris.slice(0, 1),
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
    ],
    allowOmittingSingleRegisteredRedirectUri: false,
    scopes: knownScopes,
    extraParams: { scope: refuseScopes },
    pkce: { required: () => true },
    responseTypes: ['code'],
    features: features(),
    cookies: cookies(baseUrl),
    routes: { authorization: '/oauth2/authorize', token: '/oauth2/token', revocation: '/oauth2/revoke' },
    interactions: { policy, url: () => '/login' },
    findAccount: (_ctx, sub) =>
      accounts.some((account) => account.sub === sub && account.enabled !== false)
        ? { accountId: sub, claims: () => ({ sub }) }
        : undefined,
    loadExistingGrant: grantWhatIsAsked,
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    // As in Cognito, signing out ends the browser's session, but no token.
    expiresWithSession: () => false,
    clientBasedCORS: (_ctx, origin) =>
      redirectUris.some((uri) => origin !== 'null' && new URL(uri).origin === origin),
    renderError,
    ttl: lifetimes(accessTokenSeconds),
  };
}

/** Cookies don't distinguish ports: two services on one machine must not end each other's sessions. */
function cookies(baseUrl: string): NonNullable<Configuration['cookies']> {
  const named = (name: string) => `cognito-${name}-${new URL(baseUrl).port || 'default'}`;
  const options = { httpOnly: true, sameSite: 'lax' } as const;
  return {
    names: { session: named('session'), interaction: named('sign-in'), resume: named('resume') },
    long: options,
    short: options,
  };
}

function lifetimes(accessTokenSeconds: number): NonNullable<Configuration['ttl']> {
  return {
    AccessToken: accessTokenSeconds,
    AuthorizationCode: codeSeconds,
    Grant: refreshTokenSeconds,
    IdToken: accessTokenSeconds,
    Interaction: signInSeconds,
    RefreshToken: (_ctx, { iiat }) => remaining(iiat, refreshTokenSeconds),
    Session: (_ctx, { loginTs }) => remaining(loginTs, sessionSeconds),
  };
}

/** Cognito's endpoints, and no others. */
function features(): NonNullable<Configuration['features']> {
  const off = { enabled: false };
  return {
    devInteractions: off,
    dPoP: off,
    pushedAuthorizationRequests: off,
    resourceIndicators: off,
    revocation: {
      enabled: true,
      allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
    },
    rpInitiatedLogout: off,
    userinfo: off,
  };
}

/** A rotated token expires when the first one would have; a session does not grow by use. */
function remaining(sinceSeconds: number | undefined, lifetimeSeconds: number): number {
  const nowSeconds = Math.floor(Date.now() / 1000);
  return Math.max(1, (sinceSeconds ?? nowSeconds) + lifetimeSeconds - nowSeconds);
}

/** Cognito refuses unknown scopes. OAuth lets a server drop them, which oidc-provider does. */
function refuseScopes({ querystring }: KoaContextWithOIDC): void {
  const scope = new URLSearchParams(querystring).get('scope') ?? '';
  // The provider itself would refuse an empty scope only after the sign-in.
  if (scope === '') throw new errors.InvalidScope('A scope is needed.', '');
  const unknown = scope.split(' ').find((name) => !knownScopes.includes(name));
  if (unknown !== undefined) throw new errors.InvalidScope('The scope is unknown to this client.', unknown);
}

/** Nobody is asked for consent. The grant's id becomes `origin_jti`, a UUID in Cognito. */
async function grantWhatIsAsked({ oidc }: KoaContextWithOIDC): Promise<Grant> {
  const grant = new oidc.provider.Grant({
    clientId: oidc.client!.clientId,
    accountId: oidc.entities.Account!.accountId,
  });
  grant.jti = randomUUID();
  grant.addOIDCScope(oidc.requestParamOIDCScopes);
  await grant.save();
  return grant;
}

/** oidc-provider's JWT access tokens must have an audience and Cognito's have none, so both tokens are signed here. */
async function cognitoAnswer(
  ctx: KoaContextWithOIDC,
  { accounts, clientId, signingKey, accessTokenSeconds }: UserPoolOptions,
  issuer: string,
): Promise<object> {
  const { AccessToken, AuthorizationCode, RefreshToken } = ctx.oidc.entities;
  const { authTime, nonce, grantId, accountId } = (AuthorizationCode ?? RefreshToken)!;
  const account = accounts.find(({ sub }) => sub === accountId)!;
  const settings = { issuer, clientId, signingKey, account, lifetimeSeconds: accessTokenSeconds };
  const event = {
    scope: AccessToken!.scope!,
    authTimeSeconds: authTime!,
    originId: grantId!,
    eventId: randomUUID(),
  };
  const { id_token: idToken, refresh_token: refreshToken } = ctx.body as Record<string, string | undefined>;
  const accessToken = await signAccessToken(settings, event);
  return {
    ...(idToken !== undefined && { id_token: await signIdToken(settings, event, { accessToken, nonce }) }),
    access_token: accessToken,
    refresh_token: refreshToken,
    expires_in: accessTokenSeconds,
    token_type: 'Bearer',
  };
}

/** A browser gets a page and every other client JSON, whatever it says that it accepts. */
function renderError(ctx: KoaContextWithOIDC, out: ErrorOut, error: Error): void {
  if (!ctx.path.startsWith('/oauth2/authorize')) {
    ctx.body = out;
    return;
  }
  const lost = error instanceof errors.SessionNotFound;
  const { html, headers } = lost ? messagePage('startAgain') : refusalPage(out);
  ctx.set(headers);
  ctx.body = html;
}
