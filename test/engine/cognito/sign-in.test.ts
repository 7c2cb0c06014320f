import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  ada,
  authorizeUrl,
  ben,
  Browser,
  claimsOf,
  exchange,
  pkce,
  returned,
  signIn,
  startPool,
} from './support.ts';
import type { ServedPool, Visit } from './support.ts';

let pool: ServedPool;

beforeAll(async () => {
  pool = await startPool();
});
afterAll(() => pool.close());

const wrong = 'The e-mail or the password is wrong.';
const open = (browser: Browser, changes = {}): Promise<Visit> =>
  browser.open(authorizeUrl(pool, pkce().challenge, changes));

describe('signing in', () => {
  test('goes through a page with a form and returns to the application with a code and its state', async () => {
    const { verifier, challenge } = pkce();
    const browser = new Browser();
    const page = await browser.open(authorizeUrl(pool, challenge));
    expect(page).toMatchObject({ url: `${pool.baseUrl}/login`, status: 200 });

    const end = await browser.submit(page, ada);
    expect(end.location.split('?')[0]).toBe(`${pool.baseUrl}/callback`);
    const { code, state, error } = returned(end);
    expect({ state, error }).toEqual({ state: 'the state', error: undefined });

    const tokens = await exchange(pool, code!, verifier);
    expect(tokens.status).toBe(200);
    expect(Object.keys(tokens.body).sort()).toEqual([
      'access_token',
      'expires_in',
      'id_token',
      'refresh_token',
      'token_type',
    ]);
    expect(tokens.body).toMatchObject({ token_type: 'Bearer', expires_in: 3600 });
  });

  test('takes an e-mail address in any case and with blanks around it', async () => {
    const { body } = await signIn(pool, { account: { ...ada, email: '  ADA@example.COM ' } });
    expect(claimsOf(body.access_token).sub).toBe(ada.sub);
  });

  test('can start at /login, as in Cognito', async () => {
    const browser = new Browser();
    const { search } = new URL(authorizeUrl(pool, pkce().challenge));
    const end = await browser.submit(await browser.open(`${pool.baseUrl}/login${search}`), ada);
    expect(returned(end)).toHaveProperty('code');
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
      expect(again.text).toContain(`role="alert">${wrong}</p>`);
      expect(again.text).toContain(`value="${account.email}"`);
      if (account.password !== '') expect(again.text).not.toContain(account.password);
    }
    expect(returned(await browser.submit(page, ada))).toHaveProperty('code');
  });

  test('is refused for a while after ten wrong passwords for one account, and for no other account', async () => {
    const own = await startPool();
    try {
      const browser = new Browser();
      const page = await browser.open(authorizeUrl(own, pkce().challenge));
      for (let i = 0; i < 10; i += 1) await browser.submit(page, { ...ada, password: `guess ${i}` });
      const refused = await browser.submit(page, { ...ada, email: ada.email.toUpperCase() });
      expect(refused.status).toBe(429);
      expect(refused.headers.get('retry-after')).toBe('60');
      expect(refused.text).toContain('There were too many wrong tries. Try again in a minute.');
      expect(returned(await browser.submit(page, ben))).toHaveProperty('code');
    } finally {
      await own.close();
    }
  });

  test('forgets wrong passwords once the right one was given', async () => {
    const own = await startPool();
    try {
      for (let round = 0; round < 2; round += 1) {
        const browser = new Browser();
        const page = await browser.open(authorizeUrl(own, pkce().challenge));
        for (let i = 0; i < 9; i += 1) await browser.submit(page, { ...ada, password: `guess ${i}` });
        expect(returned(await browser.submit(page, ada))).toHaveProperty('code');
      }
    } finally {
      await own.close();
    }
  });
});

describe('the sign-in page', () => {
  test('can load nothing, be framed nowhere and is never kept', async () => {
    const { headers, text } = await open(new Browser());
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
    );
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(text).not.toMatch(/<script|https?:|style=/);
  });

  test('allows its form to lead to a registered application on another origin', async () => {
    const own = await startPool({ redirectUris: ['http://localhost:5173/callback'] });
    try {
      const changes = { redirect_uri: 'http://localhost:5173/callback' };
      const { headers } = await new Browser().open(authorizeUrl(own, pkce().challenge, changes));
      expect(headers.get('content-security-policy')).toContain("form-action 'self' http://localhost:5173;");
    } finally {
      await own.close();
    }
  });

  test('shows no password of any account', async () => {
    const { text } = await open(new Browser());
    for (const { password } of [ada, ben]) expect(text).not.toContain(password);
  });

  test('is filled with the e-mail address that the application hints at', async () => {
    const { text } = await open(new Browser(), { login_hint: ada.email });
    expect(text).toContain(`value="${ada.email}"`);
  });

  test('shows markup that was typed or hinted as text', async () => {
    const browser = new Browser();
    const attack = `"><script>alert('x')</script>&`;
    const page = await open(browser, { login_hint: attack });
    const again = await browser.submit(page, { email: attack, password: 'x' });
    for (const { text } of [page, again]) {
      expect(text).not.toContain('<script');
      expect(text).toContain('value="&#34;&#62;&#60;script&#62;alert(&#39;x&#39;)&#60;/script&#62;&#38;"');
    }
  });

  test('is unknown to a browser that no application has sent', async () => {
    const page = await new Browser().visit(`${pool.baseUrl}/login`);
    expect(page.status).toBe(400);
    expect(page.text).toContain('Start again');
  });
});

describe('a form', () => {
  test('of another browser is refused', async () => {
    const [victim, attacker] = [new Browser(), new Browser()];
    await open(victim);
    const foreign = await open(attacker);
    const refused = await victim.submit(foreign, ada);
    expect(refused).toMatchObject({ status: 400, location: '' });
    expect(refused.text).toContain('Start again');
  });

  test('without the cookie of its page is refused', async () => {
    const page = await open(new Browser());
    expect(await new Browser().submit(page, ada)).toMatchObject({ status: 400, location: '' });
  });

  test('that was sent before is refused', async () => {
    const browser = new Browser();
    const page = await open(browser);
    await browser.submit(page, ada);
    const refused = await browser.submit(page, ada);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('Start again');
  });

  test('of any size is answered, and one that is too large is refused', async () => {
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
    expect([began.headers.location, answer.headers.get('location')]).toEqual([
      '/login',
      `/oauth2/authorize/${interaction}`,
    ]);
  });
});
