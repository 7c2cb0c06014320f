import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  expectAccessible,
  kept,
  phone,
  screen,
  signIn,
  signOut,
  useDashboard,
  type Visitor,
  type VisitOptions,
} from '../support/browser.ts';
import { until } from '../support/until.ts';

const dashboard = useDashboard();

/** A first visit, which leads to the sign-in page. */
async function firstVisit(path = '', options: VisitOptions = {}): Promise<Visitor> {
  const visitor = await dashboard.open(options);
  await visitor.page.goto(`${dashboard.url}${path}`);
  await screen(visitor.page, 'Sign in');
  return visitor;
}

/** The access tokens that the page sends to the API from now on. */
function tokensSent(page: Page): string[] {
  const tokens: string[] = [];
  page.on('request', (request) => {
    const token = request.headers().authorization?.replace('Bearer ', '');
    if (token && request.url().startsWith(dashboard.service.ready.baseUrl)) tokens.push(token);
  });
  return tokens;
}

describe('signing in', () => {
  test('a wrong password says so, and a right one leads to the page that was asked for', async () => {
    const { page, complaints } = await firstVisit('keys', { viewport: phone });
    await signIn(page, dashboard.service, 'owner@example.test', 'not the password');
    expect(await page.getByRole('alert').textContent()).toContain('The e-mail or the password is wrong.');
    expect(await page.getByLabel('E-mail').inputValue()).toBe('owner@example.test');
    await expectAccessible(page, 'the sign-in page after a wrong password');
    // The browser itself remarks on the refusal.
    complaints.length = 0;
    await signIn(page, dashboard.service);
    await screen(page, 'Keys');
    expect(new URL(page.url()).pathname).toBe('/keys');
    expect(complaints).toEqual([]);
  });

  test('no script can find a token, and a reload comes back to the same place without asking for the password', async () => {
    const { page } = await firstVisit('history?status=FAILED');
    const tokens = tokensSent(page);
    await signIn(page, dashboard.service);
    await screen(page, 'History');
    await until('the page has called the API', () => tokens.length > 0);
    const words = await kept(page);
    expect(words).not.toMatch(/eyJ|access_token|refresh_token|code=/);
    expect(words).not.toContain(tokens[0]!);
    await page.reload();
    await screen(page, 'History');
    expect(new URL(page.url()).search).toBe('?status=FAILED');
  });

  test('another name of this machine leads to the one that sign-in knows', async () => {
    const { page } = await dashboard.open();
    await page.goto(dashboard.url.replace('127.0.0.1', 'localhost'));
    await signIn(page, dashboard.service);
    await screen(page, 'Overview');
    expect(page.url()).toBe(dashboard.url);
  });
});

describe('a session', () => {
  // Tokens live for an hour and are renewed a minute before they end.
  const untilRenewal = '59:01';

  async function signedIn(path: string): Promise<Visitor> {
    const visitor = await dashboard.open();
    await visitor.page.clock.install();
    await visitor.page.goto(`${dashboard.url}${path}`);
    await signIn(visitor.page, dashboard.service);
    return visitor;
  }

  test('is renewed before its token ends, and nobody notices', async () => {
    const { page } = await signedIn('');
    await screen(page, 'Overview');
    const tokens = tokensSent(page);
    const statuses = new Set<number>();
    page.on('response', (response) => void statuses.add(response.status()));
    const refresh = page.getByRole('button', { name: 'Refresh' });
    await refresh.click();
    await until('the first call', () => tokens.length > 0);
    const first = tokens[0]!;
    const renewal = page.waitForResponse('**/oauth2/token');
    await page.clock.fastForward(untilRenewal);
    await renewal;
    await until('a call with another token', async () => {
      await refresh.click();
      return tokens.some((token) => token !== first);
    });
    expect(statuses).not.toContain(401);
    expect(await page.getByRole('alertdialog').count()).toBe(0);
  });

  test('that can’t be renewed asks to sign in again, and comes back to the same place', async () => {
    const { page } = await signedIn('keys');
    await screen(page, 'Keys');
    const refusal = { status: 400, contentType: 'application/json', body: '{"error":"invalid_grant"}' };
    await page.route('**/oauth2/token', (route) => route.fulfill(refusal));
    await page.clock.fastForward(untilRenewal);
    await page.getByRole('alertdialog', { name: 'Your session has ended' }).waitFor();
    await expectAccessible(page, 'the ended session');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('alertdialog').count()).toBe(1);
    await page.unroute('**/oauth2/token');
    await page.getByRole('button', { name: 'Sign in again' }).click();
    await screen(page, 'Keys');
    expect(await page.getByRole('alertdialog').count()).toBe(0);
  });

  test('ends with signing out, here and at the sign-in page, and going back shows nothing', async () => {
    const { page } = await firstVisit('keys');
    const answer = page.waitForResponse('**/oauth2/token');
    await signIn(page, dashboard.service);
    const { refresh_token: token } = await (await answer).json();
    const revoked = page.waitForRequest('**/oauth2/revoke');
    await screen(page, 'Keys');
    await signOut(page);
    await screen(page, 'You are signed out');
    await expectAccessible(page, 'the signed-out page');
    const request = await revoked;
    const sent = new URLSearchParams(request.postData()!);
    expect(sent.get('token')).toBe(token);
    const form = { grant_type: 'refresh_token', client_id: sent.get('client_id')!, refresh_token: token };
    await until('the refresh token is dead', async () => {
      const body = new URLSearchParams(form);
      return (
        (await fetch(request.url().replace(/revoke$/, 'token'), { method: 'POST', body })).status === 400
      );
    });
    await page.goBack();
    await screen(page, 'Sign in');
    // It ends also where the token can't be revoked.
    await signIn(page, dashboard.service);
    await screen(page, 'Keys');
    await page.route('**/oauth2/revoke', (route) => route.abort());
    await signOut(page);
    await screen(page, 'You are signed out');
    await page.goto(dashboard.url);
    await screen(page, 'Sign in');
  });
});
