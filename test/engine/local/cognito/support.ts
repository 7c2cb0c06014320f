import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { afterAll, beforeAll, jest } from '@jest/globals';
import { decodeJwt } from 'jose';
import type { UserPoolOptions } from '../../../../local/cognito/options.ts';
import { newSigningKey } from '../../../../local/cognito/signing-key.ts';
import { createUserPool } from '../../../../local/cognito/user-pool.ts';
import { listen } from '../../../../local/http/server.ts';
import { credentials, region } from '../s3/support.ts';

export const ada = {
  sub: '0f8fad5b-d9cb-469f-a165-70867728950e',
  email: 'Ada@Example.com',
  password: 'correct horse',
};
export const ben = {
  sub: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
  email: 'ben@example.com',
  password: 'battery staple',
};
export const clientId = 'dashboard-client';

export interface ServedPool {
  baseUrl: string;
  issuer: string;
  options: UserPoolOptions;
}

/**
 * A pool for a test file, on a port of its own; every path that it doesn't serve answers "application". It is empty until the
 * file's first test runs.
 */
export function usePool({ otherRedirectUris = [] as string[] } = {}): ServedPool {
  const pool = {} as ServedPool;
  let close = async () => {};
  beforeAll(async () => {
    const server = createServer();
    const running = await listen(server);
    close = running.close;
    const baseUrl = running.url;
    const options: UserPoolOptions = {
      baseUrl,
      signingKey: await newSigningKey(),
      accounts: [ada, ben],
      clientId,
      redirectUris: [`${baseUrl}/callback`, ...otherRedirectUris],
      logoutUris: [`${baseUrl}/signed-out`],
      accessTokenSeconds: 3600,
      apiSigning: { credentials, region },
    };
    const served = createUserPool(options);
    server.on('request', (req, res) => {
      if (served.serves(req.url!.split('?')[0]!)) void served.handle(req, res);
      else res.end('application');
    });
    Object.assign(pool, { baseUrl, issuer: served.issuer, options });
  });
  afterAll(() => close());
  return pool;
}

/** Runs on the pool's and the caller's clock, set forward. */
export async function later<T>(ms: number, run: () => Promise<T>): Promise<T> {
  const now = Date.now;
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + ms);
  try {
    return await run();
  } finally {
    clock.mockRestore();
  }
}

/** A code verifier and its S256 challenge. */
export function pkce(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** A valid request to the authorization endpoint; a change to undefined leaves a parameter out. */
export function authorizeUrl(
  { baseUrl }: ServedPool,
  challenge: string,
  changes: Record<string, string | undefined> = {},
): string {
  const parameters = {
    client_id: clientId,
    response_type: 'code',
    scope: 'openid email profile',
    redirect_uri: `${baseUrl}/callback`,
    state: 'the state',
    nonce: 'the nonce',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...changes,
  };
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return `${baseUrl}/oauth2/authorize?${new URLSearchParams(given)}`;
}

export interface Visit {
  url: string;
  status: number;
  headers: Headers;
  text: string;
  /** Where a redirect leads, as a whole address; empty when it's none. */
  location: string;
}

/** Keeps cookies as a browser does, and follows redirects only in `follow`. */
export class Browser {
  readonly cookies = new Map<string, { value: string; path: string; attributes: string }>();

  async visit(url: string, form?: Record<string, string>): Promise<Visit> {
    const { pathname } = new URL(url);
    const sent = [...this.cookies].filter(([, { path }]) => pathname.startsWith(path));
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: sent.map(([name, { value }]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const location = response.headers.get('location');
    return {
      url,
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      location: location === null ? '' : new URL(location, url).href,
    };
  }

  /** Follows redirects up to a page, or up to where the pool hands over to the application. */
  async follow(visit: Visit): Promise<Visit> {
    let at = visit;
    while (at.location !== '' && /^\/(login|oauth2)/.test(new URL(at.location).pathname)) {
      at = await this.visit(at.location);
    }
    return at;
  }

  /** Opens the sign-in page of an authorization request. */
  async open(url: string): Promise<Visit> {
    return this.follow(await this.visit(url));
  }

  /** Sends the form of a sign-in page. */
  async submit(page: Visit, { email, password }: { email: string; password: string }): Promise<Visit> {
    const interaction = /name="interaction" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const action = new URL('/login', page.url).href;
    return this.follow(await this.visit(action, { interaction, email, password }));
  }

  #keep(line: string): void {
    const [, name, value, attributes] = /^([^=]+)=([^;]*)(.*)$/.exec(line)!;
    const path = /path=([^;]+)/i.exec(attributes!)?.[1] ?? '/';
    if (/expires=Thu, 01 Jan 1970/i.test(attributes!)) this.cookies.delete(name!);
    else this.cookies.set(name!, { value: value!, path, attributes: attributes! });
  }
}

export interface TokenAnswer {
  status: number;
  headers: Headers;
  body: Record<string, string>;
}

export async function askTokens(
  { baseUrl }: ServedPool,
  form: Record<string, string>,
  headers = {},
): Promise<TokenAnswer> {
  const body = new URLSearchParams({ client_id: clientId, ...form });
  const response = await fetch(`${baseUrl}/oauth2/token`, { method: 'POST', headers, body });
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}

export function exchange(pool: ServedPool, code: string, verifier: string, headers = {}) {
  const form = { grant_type: 'authorization_code', redirect_uri: `${pool.baseUrl}/callback` };
  return askTokens(pool, { ...form, code, code_verifier: verifier }, headers);
}

export function refresh(pool: ServedPool, token: string): Promise<TokenAnswer> {
  return askTokens(pool, { grant_type: 'refresh_token', refresh_token: token });
}

/** What the address that a sign-in returns to says. */
export function returned({ location }: Visit): Record<string, string> {
  const { search, hash } = new URL(location);
  return Object.fromEntries(new URLSearchParams(search || hash.slice(1)));
}

/** The whole way from the application and back. */
export async function signIn(
  pool: ServedPool,
  {
    browser = new Browser(),
    account = ada as { email: string; password: string },
    changes = {} as Record<string, string | undefined>,
  } = {},
): Promise<TokenAnswer> {
  const { verifier, challenge } = pkce();
  const page = await browser.open(authorizeUrl(pool, challenge, changes));
  const end = await browser.submit(page, account);
  return exchange(pool, returned(end).code!, verifier);
}

export const claimsOf = (token: string | undefined): Record<string, unknown> => decodeJwt(token!);
