import { expect, jest, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openApiDocument } from '../../shared/openapi/document.ts';
import {
  expectNoSidewaysScroll,
  expectNoViolations,
  kept,
  openAccountMenu,
  phone,
  prefer,
  screen,
  useDashboard,
  type Visitor,
} from '../support/browser.ts';
import { openClient, openOperation } from '../support/reference-page.ts';
import { until } from '../support/until.ts';

// Above the time that a page of the reference may take to load.
jest.setTimeout(300_000);

const dashboard = useDashboard();
const baseUrl = () => dashboard.url.replace(/\/$/, '');

async function openReference(page: Page): Promise<void> {
  await openOperation(page, baseUrl(), 'List the identities that may be used', 'generating/GET/identities');
}

async function check({ page, complaints }: Visitor, where: string): Promise<void> {
  await expectNoSidewaysScroll(page);
  await expectNoViolations(page, where);
  expect(complaints).toEqual([]);
}

/** How light the background is, from 0 to 100. */
async function lightness(page: Page): Promise<number> {
  const color = await page.evaluate(() => {
    const { document, getComputedStyle } = globalThis as any;
    return getComputedStyle(document.body).backgroundColor;
  });
  // The browser says `lab(98.1 …)`.
  return Number(/^lab\(([\d.]+)/.exec(color)?.[1]);
}

test('it is read without an account, lists every operation, and follows the system’s theme without losing what was typed', async () => {
  const visitor = await dashboard.open();
  const { page } = visitor;
  // As the Keys screen links to it.
  await page.goto(`${baseUrl()}/reference#description/tier-limit`);
  const error = page.getByRole('heading', { level: 3, name: 'Tier limit' });
  await error.waitFor({ timeout: 120_000 });
  await until('the address leads to the error', () =>
    error.evaluate((heading: any) => {
      const { top } = heading.getBoundingClientRect();
      return top >= 0 && top < (globalThis as any).innerHeight;
    }),
  );
  expect(await page.title()).toContain('API reference');
  expect(await lightness(page)).toBeGreaterThan(50);
  await check(visitor, 'the reference on a desktop');

  const paths: Record<string, Record<string, { summary: string }>> = openApiDocument().paths;
  const listed = await page.getByRole('link', { name: 'HTTP Method' }).allTextContents();
  const summaries = Object.values(paths).flatMap((path) => Object.values(path).map(({ summary }) => summary));
  expect(listed.map((text) => text.split('HTTP Method')[0]).sort()).toEqual(summaries.sort());

  await page.getByLabel('Bearer Token').fill('typed');
  for (const colorScheme of ['dark', 'light'] as const) {
    await prefer(page, colorScheme);
    await page.locator(`body.${colorScheme}-mode`).waitFor();
  }
  expect(await page.getByLabel('Bearer Token').inputValue()).toBe('typed');
});

test('on a phone, in the dashboard’s theme, a request is tried with a key, which nothing keeps, and nobody but the service is asked', async () => {
  const visitor = await dashboard.open({ viewport: phone });
  const { page, complaints } = visitor;
  const origins = new Set<string>();
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) origins.add(new URL(request.url()).origin);
  });
  await page.addInitScript(() => (globalThis as any).localStorage.setItem('theme', 'dark'));
  await openReference(page);
  await page.locator('body.dark-mode').waitFor();
  expect(await lightness(page)).toBeLessThan(50);
  await check(visitor, 'the reference on a phone');

  const key = dashboard.service.ready.keys.pro!;
  const { client, send } = await openClient(page, 'get /identities');
  await send(key);
  await client.getByText('200 OK').waitFor();
  await client.getByText('aurora').first().waitFor();
  expect(complaints).toEqual([]);
  await send(`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`);
  await client.getByText('401 Unauthorized').waitFor();
  await client.getByText('INVALID_API_KEY').first().waitFor();
  expect(await kept(page)).not.toContain(key.slice(0, 16));
  expect([...origins]).toEqual([new URL(baseUrl()).origin]);
  await page.reload();
  await openReference(page);
  expect(await page.getByLabel('Bearer Token').inputValue()).toBe('');
});

test('every link to it opens a tab that knows nothing of the session', async () => {
  const { page } = await dashboard.visit('quickstart');
  await screen(page, 'Quickstart');
  const { identities, keys } = dashboard.service.ready;
  const withIdentity = `/reference?identity=${identities.aurora}`;
  const inSidebar = page
    .getByRole('navigation', { name: 'Main' })
    .getByRole('link', { name: 'API reference' });
  await inSidebar.focus();
  await until(
    'the link names an identity',
    async () => (await inSidebar.getAttribute('href')) === withIdentity,
  );
  const opening = page.context().waitForEvent('page');
  await page.keyboard.press('Enter');
  const tab = await opening;
  await tab.getByRole('heading', { level: 1, name: 'Image Generation Service' }).waitFor();
  expect(await tab.evaluate(() => (globalThis as any).opener)).toBe(null);

  // The example is sent as it stands there.
  await tab.getByRole('link', { name: 'Generate images' }).first().click();
  const { client, send } = await openClient(tab, 'post /generate');
  await send(keys.pro!);
  await client.getByText('200 OK').waitFor();
  await tab.close();

  const inText = page.getByRole('main').getByRole('link', { name: 'API reference' });
  await page.setViewportSize(phone);
  await openAccountMenu(page);
  const inMenu = page.getByRole('menuitem', { name: 'API reference' });
  await inMenu.waitFor();
  for (const link of [inText, inMenu]) {
    await until('the link names an identity', async () => (await link.getAttribute('href')) === withIdentity);
    expect(await link.getAttribute('target')).toBe('_blank');
    expect(await link.getAttribute('rel')).toBe('noopener');
  }
});

test('who has signed out still gets there, and reads what to put in the place of an identity', async () => {
  const { page } = await dashboard.open();
  await page.goto(`${baseUrl()}/signed-out`);
  await page.getByRole('link', { name: 'API reference' }).click();
  await page.getByRole('heading', { level: 1, name: 'Image Generation Service' }).waitFor();
  await page.getByRole('link', { name: 'Generate images' }).first().click();
  const { client } = await openClient(page, 'post /generate');
  await client.getByText('"an id of GET /identities"').first().waitFor();
});

test.each([
  ['the API', '**/openapi.json', /openapi.* could not be loaded/],
  ['Scalar’s script', '**/scalar-*.js', 'This page could not be loaded'],
])('without %s, the page says so', async (_what, missing, text) => {
  const { page } = await dashboard.open();
  await page.route(missing, (route) => route.abort());
  await page.goto(`${baseUrl()}/reference`);
  await screen(page, text);
});
