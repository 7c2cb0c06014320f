import { beforeEach, describe, expect, test } from '@jest/globals';
import { sendRaw } from '../../../support/raw-request.ts';
import {
  ada,
  authorizeUrl,
  ben,
  Browser,
  claimsOf,
  clientId,
  exchange,
  later,
  pkce,
  refresh,
  returned,
  signIn,
  usePool,
  type Visit,
} from './support.ts';

/** Applications that a sign-in may return to: a web page's, and one on a telephone. */
const elsewhere = 'http://localhost:5173/callback';
const app = 'myapp://back';
const pool = usePool({ otherRedirectUris: [elsewhere, app] });
let browser: Browser;
beforeEach(() => void (browser = new Browser()));

/** Opens the sign-in page, or what else an authorization request leads to. */
const open = (changes = {}, by = browser): Promise<Visit> =>
  by.open(authorizeUrl(pool, pkce().challenge, changes));
const form = () => ({ status: 200, url: `${pool.baseUrl}/login` });
const startAgain = { status: 400, location: '', text: expect.stringContaining('Start again') };

describe('an authorization request', () => {
  test.each([
    ['an unknown client', { client_id: 'nobody' }, 'invalid_client'],
    [
      'an unregistered address',
      { redirect_uri: 'https://elsewhere.example/callback' },
      'invalid_redirect_uri',
    ],
    ['an address that differs in its query', { redirect_uri: `${elsewhere}?x=1` }, 'invalid_redirect_uri'],
    [
      'an address on another port',
      { redirect_uri: 'http://localhost:5174/callback' },
      'invalid_redirect_uri',
    ],
    ['an address that goes on', { redirect_uri: `${app}/more` }, 'invalid_redirect_uri'],
    ['no address', { redirect_uri: undefined }, 'invalid_request'],
  ])('with %s is answered with a page that says why, and never redirected', async (_name, changes, error) => {
    const page = await open(changes);
    expect(page).toMatchObject({ status: 400, location: '' });
    expect(page.text).toContain(`For developers: ${error} (`);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  test.each([
    ['no PKCE challenge', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['a plain PKCE challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['a scope that Cognito does not have', { scope: 'openid offline_access' }, 'invalid_scope'],
    ['no scope', { scope: undefined, nonce: undefined }, 'invalid_scope'],
    ['the implicit grant', { response_type: 'token' }, 'unsupported_response_type'],
  ])('with %s goes back to the application with an error', async (_name, changes, error) => {
    expect(returned(await open(changes))).toMatchObject({ error, state: 'the state' });
  });

  test('with markup in it is answered without that markup', async () => {
    for (const name of ['client_id', 'redirect_uri', 'scope', 'prompt', 'response_type']) {
      const changes = { redirect_uri: undefined, [name]: `"><script>alert(1)</script>` };
      expect((await open(changes)).text).not.toContain('<script');
    }
  });
});

describe('the sign-in page', () => {
  test('can load nothing but the font, be framed nowhere, is never kept and shows no password', async () => {
    const { headers, text } = await open();
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src data:; font-src 'self'; form-action 'self' http:\/\/localhost:5173 myapp:; frame-ancestors 'none'; base-uri 'none'$/,
    );
    expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual([
      'no-store',
      'no-referrer',
    ]);
    expect(text).not.toMatch(/<script|https?:|style=/);
    for (const { password } of [ada, ben]) expect(text).not.toContain(password);
    const font = await fetch(pool.baseUrl + /url\('(\/login\/[^']+)'\)/.exec(text)![1]!);
    expect(Buffer.from(await font.bytes()).toString('latin1', 0, 4)).toBe('wOF2');
  });

  test.each([elsewhere, app])('returns to the registered application %s', async (address) => {
    const end = await browser.submit(await open({ redirect_uri: address }), ada);
    expect(end.location).toMatch(`${address}?code=`);
  });

  test('takes an e-mail address in any case and with blanks around it', async () => {
    const { body } = await signIn(pool, { account: { ...ada, email: '  ADA@example.COM ' } });
    expect(claimsOf(body.access_token).sub).toBe(ada.sub);
  });

  test('answers a wrong password and an unknown e-mail address alike, and keeps what was typed', async () => {
    const page = await open();
    for (const [email, password, shown] of [
      [ada.email, 'guess', ada.email],
      ['nobody@example.com', '', 'nobody@example.com'],
      [ben.email, ada.password, ben.email],
      [
        `"><script>alert('x')</script>&`,
        'x',
        '&#34;&#62;&#60;script&#62;alert(&#39;x&#39;)&#60;/script&#62;&#38;',
      ],
    ] as const) {
      const again = await browser.submit(page, { email, password });
      expect(again.status).toBe(400);
      expect(again.text).toContain('role="alert">The e-mail or the password is wrong.</p>');
      expect(again.text).toContain(`value="${shown}"`);
      expect(again.text).not.toContain(ada.password);
    }
    expect(returned(await browser.submit(page, ada))).toHaveProperty('code');
  });

  test('takes no form of another browser, without the cookie of its page, or sent before', async () => {
    const [own, foreign] = [await open(), await open({}, new Browser())];
    expect(await browser.submit(foreign, ada)).toMatchObject(startAgain);
    expect(await new Browser().submit(own, ada)).toMatchObject(startAgain);
    expect(returned(await browser.submit(own, ada))).toHaveProperty('code');
    expect(await browser.submit(own, ada)).toMatchObject(startAgain);
    expect(await new Browser().visit(`${pool.baseUrl}/login`)).toMatchObject(startAgain);
  });

  test('takes no form that is too large, and the sign-in goes on', async () => {
    const page = await open();
    const refused = await browser.submit(page, { ...ada, password: 'x'.repeat(5_000_000) });
    expect(refused).toMatchObject({ status: 413, location: '' });
    expect(returned(await browser.submit(page, ada))).toHaveProperty('code');
  });

  test('leads to a path of this host, whatever Host header its sign-in began with', async () => {
    const address = authorizeUrl(pool, pkce().challenge).slice(pool.baseUrl.length + 1);
    const began = await sendRaw(pool.baseUrl, { path: address, headers: [['host', 'elsewhere.example']] });
    const cookie = began.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    const page = await fetch(`${pool.baseUrl}/login`, { headers: { cookie } });
    const interaction = /name="interaction" value="([^"]+)"/.exec(await page.text())![1]!;
    const answer = await fetch(`${pool.baseUrl}/login`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie },
      body: new URLSearchParams({ interaction, ...ada }),
    });
    const locations = [began.headers.get('location'), answer.headers.get('location')];
    expect(locations).toEqual(['/login', `/oauth2/authorize/${interaction}`]);
  });
});

describe('the session of a browser', () => {
  /** Goes to the application and back without the form. @returns the claims of the ID token. */
  async function goStraightBack(): Promise<Record<string, unknown>> {
    const { verifier, challenge } = pkce();
    const back = await browser.visit(authorizeUrl(pool, challenge, { nonce: 'another' }));
    return claimsOf((await exchange(pool, returned(back).code!, verifier)).body.id_token);
  }

  test('makes a second sign-in go straight back, as the same account and sign-in time', async () => {
    const before = claimsOf((await signIn(pool, { browser })).body.id_token);
    const after = await goStraightBack();
    expect(after).toMatchObject({ sub: before.sub, auth_time: before.auth_time, nonce: 'another' });
    expect(after.origin_jti).not.toBe(before.origin_jti);
  });

  test('is a cookie that scripts and other sites cannot use', async () => {
    await signIn(pool, { browser });
    const [, { attributes }] = [...browser.cookies].find(([name]) => name.includes('session'))!;
    expect(attributes).toMatch(/samesite=lax/i);
    expect(attributes).toMatch(/httponly/i);
  });

  test('ends an hour after the sign-in, however often it is used', async () => {
    await signIn(pool, { browser });
    expect(returned(await later(59 * 60_000, () => open()))).toHaveProperty('code');
    expect(await later(60 * 60_000, () => open())).toMatchObject(form());
  });

  test('is asked again with prompt=login, and may become another account', async () => {
    await signIn(pool, { browser });
    await signIn(pool, { browser, account: ben, changes: { prompt: 'login' } });
    expect((await goStraightBack()).email).toBe(ben.email);
  });

  test('ends with a sign-out, also for a copy of its cookie, but no token, as in Cognito', async () => {
    expect(returned(await open({ prompt: 'none' }))).toMatchObject({ error: 'login_required' });
    const { body } = await signIn(pool, { browser });
    expect(returned(await open({ prompt: 'none' }))).toHaveProperty('code');
    const copy = new Browser();
    for (const [name, cookie] of browser.cookies) copy.cookies.set(name, cookie);
    // Without a session, too.
    for (const _ of [1, 2]) {
      expect(await signOut()).toMatchObject({ status: 302, location: `${pool.baseUrl}/signed-out` });
    }
    expect([...browser.cookies.keys()].filter((name) => name.includes('session'))).toEqual([]);
    expect(returned(await open({ prompt: 'none' }, copy))).toMatchObject({ error: 'login_required' });
    expect(await refresh(pool, body.refresh_token!)).toMatchObject({ status: 200 });
  });

  test.each([
    ['to an unregistered address', { logout_uri: 'https://elsewhere.example/' }],
    ['to no address', { logout_uri: '' }],
    ['for another client', { client_id: 'other' }],
  ])('does not end with a sign-out %s', async (_name, changes) => {
    await signIn(pool, { browser });
    const text = expect.stringContaining('You are still signed in');
    expect(await signOut(changes)).toMatchObject({ status: 400, location: '', text });
    expect(returned(await open({ prompt: 'none' }))).toHaveProperty('code');
  });

  function signOut(changes = {}): Promise<Visit> {
    const parameters = { client_id: clientId, logout_uri: `${pool.baseUrl}/signed-out`, ...changes };
    return browser.visit(`${pool.baseUrl}/logout?${new URLSearchParams(parameters)}`);
  }
});

describe('any request', () => {
  test.each([
    ['/oauth2/token', 'GET', 'POST, OPTIONS'],
    ['/login', 'PUT', 'GET, HEAD, POST'],
    ['/us-east-1_local/.well-known/jwks.json', 'POST', 'GET, HEAD'],
  ])('to %s with the method %s is answered with what is allowed', async (path, method, allow) => {
    const answer = await fetch(`${pool.baseUrl}${path}`, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
  });

  test.each([
    ['/oauth2/userinfo', 'There is no such page'],
    ['/us-east-1_local', 'There is no such page'],
    ['/', '^application$'],
    ['/loginx', '^application$'],
    ['/login/x', '^application$'],
  ])(
    'for %s, which the pool does not have, is answered by a page or by the application',
    async (path, text) => {
      expect(await (await fetch(`${pool.baseUrl}${path}`)).text()).toMatch(new RegExp(text));
    },
  );

  test.each([
    ['/login?%ff%', ''],
    ['/logout?logout_uri=%', ''],
    ['/oauth2/authorize?client_id=%ff', ''],
    ['/oauth2/authorize/not-a-sign-in', ''],
    [`/oauth2/authorize?client_id=${clientId}&client_id=other`, ''],
    ['/login', 'cognito-sign-in=%; ;=;x'],
  ])(
    'with broken escapes, repeated parameters or broken cookies is answered: %s %s',
    async (path, cookie) => {
      const answer = await sendRaw(pool.baseUrl, { path: path.slice(1), headers: [['cookie', cookie]] });
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('<h1>')]);
    },
  );
});
