import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { openApiDocument } from '../../shared/openapi/document.ts';
import {
  desktop,
  expectAccessible,
  openBrowser,
  openPage,
  phone,
  screen,
  visitSignedIn,
} from '../support/browser.ts';
import { openClient, openOperation } from '../support/reference-page.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';

let browser: Browser;
let service: RunningService;
let baseUrl: string;

beforeAll(async () => {
  [browser, service] = await Promise.all([openBrowser(), startService()]);
  baseUrl = service.ready.dashboardUrl.replace(/\/$/, '');
});
afterAll(async () => {
  await Promise.all([browser.close(), service.end()]);
  removeFolder(service.dataDir);
});

const identities = ['List the identities that may be used', 'generating/GET/identities'] as const;

/** All that a page can leave behind in a browser. */
async function kept(page: Page): Promise<string> {
  const [state, inPage] = await Promise.all([
    page.context().storageState(),
    page.evaluate(async () => {
      const { sessionStorage, localStorage, indexedDB, caches, location, history } = globalThis as any;
      return JSON.stringify([
        Object.entries(localStorage),
        Object.entries(sessionStorage),
        await indexedDB.databases(),
        await caches.keys(),
        location.href,
        history.state,
      ]);
    }),
  ]);
  return JSON.stringify(state) + inPage;
}

test.each([
  ['light', 'desktop', desktop],
  ['dark', 'desktop', desktop],
  ['light', 'phone', phone],
  ['dark', 'phone', phone],
] as const)(
  'in %s on a %s it is read without an account, axe finds nothing, and nothing is complained about',
  async (colorScheme, device, viewport) => {
    const { page, complaints, close } = await openPage(browser, { colorScheme, viewport });
    await openOperation(page, baseUrl, ...identities);
    expect(await page.title()).toContain('API reference');
    await page.waitForLoadState('networkidle');
    await expectAccessible(page, `the reference, ${colorScheme}, ${device}`);
    const [wider, background] = await page.evaluate(() => {
      const { document, getComputedStyle } = globalThis as any;
      const { scrollWidth, clientWidth } = document.documentElement;
      return [scrollWidth - clientWidth, getComputedStyle(document.body).backgroundColor];
    });
    expect(wider).toBe(0);
    // Told as lab(lightness …), in percent.
    const lightness = Number(/^lab\(([\d.]+)/.exec(background)?.[1]);
    expect([colorScheme, lightness > 50]).toEqual([colorScheme, colorScheme === 'light']);
    expect(complaints).toEqual([]);
    await close();
  },
  60_000,
);

test('it lists every operation of the document', async () => {
  const { page, close } = await openPage(browser);
  await openOperation(page, baseUrl, ...identities);
  const paths: Record<string, Record<string, { summary: string }>> = openApiDocument().paths;
  const listed = await page.getByRole('link', { name: 'HTTP Method' }).allTextContents();
  const summaries = Object.values(paths).flatMap((path) => Object.values(path).map(({ summary }) => summary));
  expect(listed.map((text) => text.split('HTTP Method')[0]).sort()).toEqual(summaries.sort());
  await close();
});

test('a request is tried with a key, which nothing keeps; and nobody but the service is asked for anything', async () => {
  const { page, complaints, close } = await openPage(browser);
  const origins = new Set<string>();
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) origins.add(new URL(request.url()).origin);
  });
  await openOperation(page, baseUrl, ...identities);
  const key = service.ready.keys.pro!;
  const { client, send } = await openClient(page, 'get /identities');

  await send(key);
  await client.getByText('200 OK').waitFor();
  await client.getByText('aurora').first().waitFor();
  expect(await kept(page)).not.toContain(key.slice(0, 16));
  expect(complaints).toEqual([]);

  const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
  await send(wrong);
  await client.getByText('401 Unauthorized').waitFor();
  await client.getByText('INVALID_API_KEY').first().waitFor();

  expect(await kept(page)).not.toContain(key.slice(0, 16));
  expect([...origins]).toEqual([new URL(baseUrl).origin]);
  await page.reload();
  await openOperation(page, baseUrl, ...identities);
  expect(await page.getByLabel('Bearer Token').inputValue()).toBe('');
  await close();
}, 60_000);

test('a phone shows the form that sends requests', async () => {
  const { page, complaints, close } = await openPage(browser, { viewport: phone });
  await openOperation(page, baseUrl, ...identities);
  const { client, send } = await openClient(page, 'get /identities');
  await send(service.ready.keys.pro!);
  await client.getByText('200 OK').waitFor();
  expect(complaints).toEqual([]);
  await close();
}, 60_000);

test('the navigation and the quickstart lead there, to a tab that knows nothing of the session', async () => {
  const { page, close } = await visitSignedIn(browser, service, 'quickstart');
  await screen(page, 'Quickstart');
  for (const place of [page.getByRole('navigation', { name: 'Main' }), page.getByRole('main')]) {
    const opening = page.context().waitForEvent('page');
    await place.getByRole('link', { name: 'API reference' }).click();
    const tab = await opening;
    await tab.getByRole('heading', { level: 1, name: 'Image Generation Service' }).waitFor();
    expect(await tab.evaluate(() => (globalThis as any).opener)).toBe(null);
    await tab.close();
  }
  await close();
}, 60_000);

test('the account menu of a phone leads there too, and so does the page of who has signed out', async () => {
  const { page, close } = await visitSignedIn(browser, service, '', { viewport: phone });
  await page.getByRole('button', { name: 'Account' }).locator('visible=true').click();
  const item = page.getByRole('menuitem', { name: 'API reference' });
  expect(await item.getAttribute('href')).toBe('/reference');
  await page.goto(`${baseUrl}/signed-out`);
  await page.getByRole('link', { name: 'API reference' }).click();
  await page.getByRole('heading', { level: 1, name: 'Image Generation Service' }).waitFor();
  await close();
}, 60_000);

test("the theme that the dashboard was given is the reference's", async () => {
  const { page, close } = await openPage(browser);
  await page.addInitScript(() => (globalThis as any).localStorage.setItem('theme', 'dark'));
  await openOperation(page, baseUrl, ...identities);
  expect(await page.locator('body').getAttribute('class')).toContain('dark-mode');
  await close();
});

test('a theme that changes with the system changes the page, and not what was typed', async () => {
  const { page, close } = await openPage(browser, { colorScheme: 'light' });
  await openOperation(page, baseUrl, ...identities);
  await page.getByLabel('Bearer Token').fill('typed');
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`body.${colorScheme}-mode`).waitFor({ timeout: 25_000 });
  }
  expect(await page.getByLabel('Bearer Token').inputValue()).toBe('typed');
  await close();
}, 60_000);

test("when the API or Scalar's script is away, the page says so", async () => {
  for (const [missing, text] of [
    ['**/openapi.json', /openapi.* could not be loaded/],
    ['**/scalar-*.js', 'This page stopped working'],
  ] as const) {
    const { page, close } = await openPage(browser);
    await page.route(missing, (route) => route.abort());
    await page.goto(`${baseUrl}/reference`);
    await page.getByRole('heading', { level: 1, name: text }).waitFor();
    await close();
  }
}, 60_000);

test('Scalar comes to nobody who does not open the reference', async () => {
  const { page, close } = await visitSignedIn(browser, service, '');
  const scripts: string[] = [];
  page.on('request', (request) => {
    if (request.resourceType() === 'script') scripts.push(request.url());
  });
  await page.goto(`${baseUrl}/quickstart`);
  await screen(page, 'Quickstart');
  await page.waitForLoadState('networkidle');
  expect(scripts.filter((url) => /scalar|reference-screen/.test(url))).toEqual([]);
  await openOperation(page, baseUrl, ...identities);
  const [scalar] = scripts.filter((url) => url.includes('scalar'));
  const bytes = await (await fetch(scalar!)).bytes();
  console.log(`Scalar: ${bytes.length / 1000} kB, ${gzipSync(bytes).length / 1000} kB compressed`);
  await close();
}, 60_000);
