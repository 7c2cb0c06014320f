import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import {
  desktop,
  expectAccessible,
  openBrowser,
  openPage,
  screen,
  phone,
  signIn,
  type Visitor,
} from '../support/browser.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';
import { until } from '../support/until.ts';

let browser: Browser;
let service: RunningService;
let visitor: Visitor;

beforeAll(async () => {
  // Tokens that end while a test looks on.
  [browser, service] = await Promise.all([openBrowser(), startService({ args: ['--token-lifetime', '6'] })]);
});
afterAll(async () => {
  await Promise.all([browser.close(), service.end()]);
  removeFolder(service.dataDir);
});
afterEach(() => visitor.close());

async function visit(path = '', options: Parameters<typeof openPage>[1] = {}): Promise<Page> {
  visitor = await openPage(browser, options);
  await visitor.page.goto(`${service.ready.dashboardUrl}${path}`);
  return visitor.page;
}

/** Every word that the browser keeps for this site, in whatever store a script can read. */
async function kept(page: Page): Promise<string> {
  return page.evaluate(() => {
    const { localStorage, sessionStorage, document, location } = globalThis as any;
    return JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]);
  });
}

/** The access tokens that the page sends to the API from now on. */
function tokensSent(page: Page): string[] {
  const tokens: string[] = [];
  page.on('request', (request) => {
    const token = request.headers().authorization?.replace('Bearer ', '');
    if (token && request.url().startsWith(service.ready.baseUrl)) tokens.push(token);
  });
  return tokens;
}

describe('signing in', () => {
  test('a wrong password says so and a right one leads to the page that was asked for', async () => {
    const page = await visit('keys');
    await screen(page, 'Sign in');
    await signIn(page, service, 'owner@example.test', 'not the password');
    expect(await page.getByRole('alert').textContent()).toContain('The e-mail or the password is wrong.');
    expect(await page.getByLabel('E-mail').inputValue()).toBe('owner@example.test');
    await expectAccessible(page, 'the sign-in page after a wrong password');
    // The browser itself remarks on the refusal.
    visitor.complaints.length = 0;
    await signIn(page, service);
    await screen(page, 'Keys');
    expect(new URL(page.url()).pathname).toBe('/keys');
    expect(visitor.complaints).toEqual([]);
  });

  test.each([
    ['light', phone],
    ['dark', desktop],
  ] as const)('the sign-in page is accessible, %s', async (colorScheme, viewport) => {
    const page = await visit('', { colorScheme, viewport });
    await screen(page, 'Sign in');
    await expectAccessible(page, 'the sign-in page');
  });

  test('no token is kept where a script could find it, or in the address', async () => {
    const page = await visit();
    const tokens = tokensSent(page);
    await signIn(page, service);
    await screen(page, 'Overview');
    await until('the page has called the API', () => tokens.length > 0);
    const words = await kept(page);
    expect(words).not.toMatch(/eyJ|access_token|refresh_token|code=/);
    expect(words).not.toContain(tokens[0]!);
  });

  test('a reload comes back to the same place without asking for the password', async () => {
    const page = await visit('history?status=FAILED');
    await signIn(page, service);
    await screen(page, 'History');
    await page.reload();
    await screen(page, 'History');
    expect(new URL(page.url()).search).toBe('?status=FAILED');
  });

  test('another name of this machine leads to the one that sign-in knows', async () => {
    visitor = await openPage(browser);
    const { page } = visitor;
    await page.goto(service.ready.dashboardUrl.replace('127.0.0.1', 'localhost'));
    await signIn(page, service);
    await screen(page, 'Overview');
    expect(page.url()).toBe(service.ready.dashboardUrl);
  });

  test('an account sees its own licenses only', async () => {
    const page = await visit();
    await signIn(page, service, 'stranger@example.test');
    await screen(page, 'Overview');
    const { licenses } = service.ready;
    const text = await page.locator('header').first().textContent();
    expect(text).toContain(licenses.stranger!.slice(-4));
    expect(await page.getByRole('button', { name: 'License' }).count()).toBe(0);
  });
});

describe('a session', () => {
  test('is renewed before its token ends, without anybody noticing', async () => {
    const page = await visit('keys');
    const tokens = tokensSent(page);
    await signIn(page, service);
    await screen(page, 'Keys');
    const refused: string[] = [];
    page.on('response', (response) => {
      if (response.status() === 401) refused.push(response.url());
    });
    await until('the first call', () => tokens.length > 0);
    const first = tokens[0]!;
    await page.waitForTimeout(7000);
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await screen(page, 'Overview');
    await until('a call with another token', () => tokens.some((token) => token !== first));
    expect(refused).toEqual([]);
    expect(await page.getByRole('alertdialog').count()).toBe(0);
  });

  test('that can’t be renewed asks to sign in again and comes back to the same place', async () => {
    const page = await visit('keys');
    await signIn(page, service);
    await screen(page, 'Keys');
    const refusal = { status: 400, contentType: 'application/json', body: '{"error":"invalid_grant"}' };
    await page.route('**/oauth2/token', (route) => route.fulfill(refusal));
    await page.getByRole('alertdialog', { name: 'Your session has ended' }).waitFor({ timeout: 20_000 });
    await expectAccessible(page, 'the ended session');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('alertdialog').count()).toBe(1);
    await page.unroute('**/oauth2/token');
    await page.getByRole('button', { name: 'Sign in again' }).click();
    await screen(page, 'Keys');
    expect(await page.getByRole('alertdialog').count()).toBe(0);
  });

  test('ends with signing out, here and at the sign-in page, and going back shows nothing', async () => {
    const page = await visit('keys');
    await signIn(page, service);
    await screen(page, 'Keys');
    await page.getByRole('button', { name: 'Account' }).first().click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await screen(page, 'You are signed out');
    await expectAccessible(page, 'the signed-out page');
    await page.goBack();
    await screen(page, 'Sign in');
    await page.goto(service.ready.dashboardUrl);
    await screen(page, 'Sign in');
  });
});
