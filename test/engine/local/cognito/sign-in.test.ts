import { get, type IncomingMessage } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { sendRaw } from '../../../support/raw-request.ts';
import {
  ada,
  authorizeUrl,
  ben,
  Browser,
  claimsOf,
  later,
  pkce,
  returned,
  signIn,
  usePool,
  type Visit,
} from './support.ts';

/** Applications that a sign-in may return to: a web page's, and one on a telephone. */
const elsewhere = 'http://localhost:5173/callback';
const app = 'myapp://back';
const pool = usePool({ otherRedirectUris: [elsewhere, app] });

const open = (browser: Browser, changes = {}): Promise<Visit> =>
  browser.open(authorizeUrl(pool, pkce().challenge, changes));

describe('an authorization request', () => {
  const notRegistered = 'The address to return to after signing in is not registered.';
  test.each([
    ['an unknown client', { client_id: 'nobody' }, 'The application that sent you here is not known.'],
    ['no client', { client_id: undefined }, 'asked for something that is not possible'],
    ['an unregistered address', { redirect_uri: 'https://elsewhere.example/callback' }, notRegistered],
    ['an address that differs in its query', { redirect_uri: `${elsewhere}?x=1` }, notRegistered],
    ['an address on another port', { redirect_uri: 'http://localhost:5174/callback' }, notRegistered],
    ['an address that goes on', { redirect_uri: `${app}/more` }, notRegistered],
    ['no address', { redirect_uri: undefined }, 'asked for something that is not possible'],
  ])('with %s is answered with a page and never redirected', async (_name, changes, sentence) => {
    const page = await open(new Browser(), changes);
    expect(page).toMatchObject({ status: 400, location: '' });
    expect(page.text).toContain(sentence);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  });

  test('is answered with a page that has the font of the dashboard', async () => {
    const { text } = await open(new Browser());
    const path = /url\('(\/login\/[^']+)'\)/.exec(text)![1]!;
    const font = await fetch(pool.baseUrl + path);
    expect([font.status, font.headers.get('content-type')]).toEqual([200, 'font/woff2']);
    // The file's signature.
    expect(Buffer.from(await font.bytes()).toString('latin1', 0, 4)).toBe('wOF2');
  });

  test.each([
    ['no PKCE challenge', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['a plain PKCE challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['an unknown scope', { scope: 'openid admin' }, 'invalid_scope'],
    ['a scope that Cognito does not have', { scope: 'openid offline_access' }, 'invalid_scope'],
    ['no scope', { scope: undefined, nonce: undefined }, 'invalid_scope'],
    ['the implicit grant', { response_type: 'token' }, 'unsupported_response_type'],
  ])('with %s is told so to the application', async (_name, changes, error) => {
    expect(returned(await open(new Browser(), changes))).toMatchObject({ error, state: 'the state' });
  });

  test('with markup in it is answered without that markup', async () => {
    for (const name of ['client_id', 'redirect_uri', 'scope', 'prompt', 'response_type']) {
      const changes = { redirect_uri: undefined, [name]: `"><script>alert(1)</script>` };
      expect((await open(new Browser(), changes)).text).not.toContain('<script');
    }
  });
});

describe('signing in', () => {
  test('takes an e-mail address in any case and with blanks around it', async () => {
    const { body } = await signIn(pool, { account: { ...ada, email: '  ADA@example.COM ' } });
    expect(claimsOf(body.access_token).sub).toBe(ada.sub);
  });

  test('can start at /login, as in Cognito', async () => {
    const browser = new Browser();
    const { search } = new URL(authorizeUrl(pool, pkce().challenge));
    const end = await browser.submit(await browser.open(`${pool.baseUrl}/login${search}`), ada);
    expect(returned(end)).toHaveProperty('code');
    const unasked = await new Browser().visit(`${pool.baseUrl}/login`);
    expect(unasked).toMatchObject({ status: 400, text: expect.stringContaining('Start again') });
  });

  test('answers a wrong password and an unknown e-mail address alike, and keeps what was typed', async () => {
    const browser = new Browser();
    const page = await open(browser);
    for (const account of [
      { email: ada.email, password: 'guess' },
      { email: 'nobody@example.com', password: '' },
      { email: ben.email, password: ada.password },
    ]) {
      const again = await browser.submit(page, account);
      expect(again.status).toBe(400);
      expect(again.text).toContain('role="alert">The e-mail or the password is wrong.</p>');
      expect(again.text).toContain(`value="${account.email}"`);
      if (account.password !== '') expect(again.text).not.toContain(account.password);
    }
    expect(returned(await browser.submit(page, ada))).toHaveProperty('code');
  });

  test('is refused for a minute after ten wrong passwords for one account, and for no other account', async () => {
    const browser = new Browser();
    const page = await open(browser);
    const guess = async (times: number) => {
      for (let i = 0; i < times; i += 1) await browser.submit(page, { ...ada, password: `guess ${i}` });
    };
    // The right one in between: wrong ones before it count no more.
    await guess(9);
    await signIn(pool);
    await guess(10);
    const refused = await browser.submit(page, { ...ada, email: ada.email.toUpperCase() });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(refused.text).toContain('There were too many wrong tries. Try again in a minute.');
    expect((await signIn(pool, { account: ben })).status).toBe(200);
    expect((await later(61_000, () => signIn(pool))).status).toBe(200);
  });
});

describe('the sign-in page', () => {
  test('can load nothing, be framed nowhere, is never kept and shows no password', async () => {
    const { headers, text } = await open(new Browser());
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src data:; font-src 'self'; form-action 'self' http:\/\/localhost:5173 myapp:; frame-ancestors 'none'; base-uri 'none'$/,
    );
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(text).not.toMatch(/<script|https?:|style=/);
    for (const { password } of [ada, ben]) expect(text).not.toContain(password);
  });

  test.each([elsewhere, app])('returns to the registered application %s', async (address) => {
    const browser = new Browser();
    const end = await browser.submit(await open(browser, { redirect_uri: address }), ada);
    expect(end.location).toMatch(`${address}?code=`);
  });

  test('shows markup that was typed as text', async () => {
    const browser = new Browser();
    const attack = `"><script>alert('x')</script>&`;
    const { text } = await browser.submit(await open(browser), { email: attack, password: 'x' });
    expect(text).not.toContain('<script');
    expect(text).toContain('value="&#34;&#62;&#60;script&#62;alert(&#39;x&#39;)&#60;/script&#62;&#38;"');
  });
});

describe('a form', () => {
  test('of another browser, without the cookie of its page, or sent before, is refused', async () => {
    const [victim, attacker] = [new Browser(), new Browser()];
    const [own, foreign] = [await open(victim), await open(attacker)];
    const startAgain = { status: 400, location: '', text: expect.stringContaining('Start again') };
    expect(await victim.submit(foreign, ada)).toMatchObject(startAgain);
    expect(await new Browser().submit(own, ada)).toMatchObject(startAgain);
    expect(returned(await victim.submit(own, ada))).toHaveProperty('code');
    expect(await victim.submit(own, ada)).toMatchObject(startAgain);
  });

  test('that is too large is refused, and the sign-in goes on', async () => {
    const browser = new Browser();
    const page = await open(browser);
    const refused = await browser.submit(page, { ...ada, password: 'x'.repeat(5_000_000) });
    expect(refused).toMatchObject({ status: 413, location: '' });
    expect(returned(await browser.submit(page, ada))).toHaveProperty('code');
  });

  test('leads to a path of this host, whatever Host header its sign-in began with', async () => {
    const { href } = new URL(authorizeUrl(pool, pkce().challenge));
    const began = await new Promise<IncomingMessage>((resolve, reject) => {
      get(href, { headers: { host: 'elsewhere.example' } }, resolve).on('error', reject);
    });
    began.resume();
    const cookie = began.headers['set-cookie']!.map((line) => line.split(';')[0]).join('; ');
    const page = await fetch(`${pool.baseUrl}/login`, { headers: { cookie } });
    const interaction = /name="interaction" value="([^"]+)"/.exec(await page.text())![1]!;
    const answer = await fetch(`${pool.baseUrl}/login`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie },
      body: new URLSearchParams({ interaction, ...ada }),
    });
    const locations = [began.headers.location, answer.headers.get('location')];
    expect(locations).toEqual(['/login', `/oauth2/authorize/${interaction}`]);
  });
});

describe('any request', () => {
  test.each([
    ['/oauth2/token', 'GET', 'POST, OPTIONS'],
    ['/oauth2/revoke', 'GET', 'POST, OPTIONS'],
    ['/oauth2/authorize', 'POST', 'GET, HEAD'],
    ['/login', 'PUT', 'GET, HEAD, POST'],
    ['/logout', 'POST', 'GET'],
    ['/us-east-1_local/.well-known/jwks.json', 'POST', 'GET, HEAD'],
  ])('to %s with the method %s is told what is allowed', async (path, method, allow) => {
    const answer = await fetch(`${pool.baseUrl}${path}`, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
  });

  test('for a path that the pool does not have is answered with a page, one beside the pool is not', async () => {
    for (const path of [
      '/oauth2/userinfo',
      '/oauth2/',
      '/us-east-1_local',
      '/us-east-1_local/.well-known/x',
    ]) {
      const answer = await fetch(`${pool.baseUrl}${path}`);
      expect([answer.status, await answer.text()]).toEqual([
        404,
        expect.stringContaining('There is no such page'),
      ]);
    }
    for (const path of ['/', '/loginx', '/login/x', '/oauth2x', '/callback']) {
      expect(await (await fetch(`${pool.baseUrl}${path}`)).text()).toBe('application');
    }
  });

  test('with broken escapes, repeated parameters or broken cookies is answered', async () => {
    const address = authorizeUrl(pool, pkce().challenge).slice(pool.baseUrl.length);
    const requests = [
      { path: '/login?%ff%' },
      { path: '/logout?logout_uri=%' },
      { path: '/oauth2/authorize?client_id=%ff' },
      { path: '/oauth2/authorize/not-a-sign-in' },
      { path: `${address}&client_id=other` },
      { path: '/login', cookie: 'cognito-sign-in=%; ;=;x' },
    ];
    for (const { path, cookie = '' } of requests) {
      const answer = await sendRaw(pool.baseUrl, { path: path.slice(1), headers: [['cookie', cookie]] });
      expect([path, answer.status, answer.text]).toEqual([path, 400, expect.stringContaining('<h1>')]);
    }
  });
});
