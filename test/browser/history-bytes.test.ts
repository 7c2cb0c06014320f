import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { useDashboard } from '../support/browser.ts';
import { issueKey, tableOf } from '../support/grants.ts';
import { generate } from '../support/requests.ts';
import { licenseStore } from '../../shared/licenses/store.ts';

const dashboard = useDashboard();
const requests = 24;

beforeAll(async () => {
  const { ready, dataDir, api } = dashboard.service;
  const first = await generate(dashboard.service, ready.keys.pro!, bodyOf(0));
  const record = await api({ path: `/generate/${first.body.requestId}`, key: ready.keys.pro });
  const table = tableOf(dataDir);
  const license = (await licenseStore(table).get(record.body.licenseId))!;
  // A key may ask for ten a minute.
  const keys = await Promise.all([1, 2, 3].map(() => issueKey(table, license)));
  for (let i = 1; i < requests; i++) {
    const { status, body } = await generate(dashboard.service, keys[i % 3]!.key, bodyOf(i));
    expect([status, body.error]).toEqual([200, undefined]);
  }
});

/** Previews are of 512 px, whatever the size of the image, so only the newest one is larger than its preview. */
function bodyOf(seed: number) {
  const slug = ['aurora', 'basalt'][seed % 2]!;
  const sidePx = seed === requests - 1 ? 1024 : 512;
  return { identityId: dashboard.service.ready.identities[slug]!, seed, width: sidePx, height: sidePx };
}

/** Counts what comes over the network, which is nothing of what the browser has kept. */
async function watchNetwork(page: Page) {
  const session = await page.context().newCDPSession(page);
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  await session.send('Network.enable');
  return { bytes: () => bytes, forgetAll: () => session.send('Network.clearBrowserCache') };
}

/** Scrolls through the list until each of its images is there. */
async function seeAll(page: Page): Promise<void> {
  const images = page.locator('main article img');
  await images.nth(requests - 1).waitFor();
  expect(await images.count()).toBe(requests);
  for (const image of await images.all()) {
    await image.scrollIntoViewIfNeeded();
    await image.evaluate((element: any) => element.decode());
  }
}

test('a history of 24 images takes 1 MB at most, and 50 kB when it is loaded again', async () => {
  const { page } = await dashboard.visit('nowhere');
  await page.goto('about:blank');
  const { bytes, forgetAll } = await watchNetwork(page);
  await forgetAll();
  await page.goto(`${dashboard.url}history`);
  await seeAll(page);
  const first = bytes();
  await page.reload();
  await seeAll(page);
  const again = bytes() - first;

  console.log(`history: ${first} bytes, loaded again: ${again}`);
  expect(first).toBeLessThanOrEqual(1_000_000);
  expect(again).toBeLessThanOrEqual(50_000);
});

test('an image that has no preview is shown itself', async () => {
  const { page } = await dashboard.visit('nowhere');
  await page.route('**/api/v1/generate?*', async (route) => {
    const response = await route.fetch();
    const body: any = await response.json();
    for (const generation of body.generations) generation.previews = [null];
    await route.fulfill({ response, json: body });
  });
  await page.goto(`${dashboard.url}history`);
  const image = page.locator('main article img').first();
  await image.evaluate((element: any) => element.decode());
  expect(await image.getAttribute('src')).toContain('/output-0.png?');
  expect(await image.evaluate((element: any) => element.naturalWidth)).toBe(1024);
});

test('a stored request shows its image in full size', async () => {
  const { page } = await dashboard.visit('history');
  await page.locator('main article a').first().click();
  const image = page.locator('main figure img').first();
  await image.evaluate((element: any) => element.decode());
  expect(await image.evaluate((element: any) => element.naturalWidth)).toBe(1024);
  expect(await image.getAttribute('src')).toContain('/output-0.png?');
});
