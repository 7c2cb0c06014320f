import { beforeAll, expect, test } from '@jest/globals';
import { bytesOf, useDashboard } from '../support/browser.ts';
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

test('a history of 24 images takes 1 MB at most, and 50 kB when it is loaded again', async () => {
  const { page } = await dashboard.visit('nowhere');
  const [first, again] = await bytesOf(page, `${dashboard.url}history`, requests);
  expect(first).toBeLessThanOrEqual(1_000_000);
  expect(again).toBeLessThanOrEqual(50_000);
});

test('a stored request shows its image in full size', async () => {
  const { page } = await dashboard.visit('history');
  await page.locator('main article a').first().click();
  const image = page.locator('main figure img').first();
  await image.evaluate((element: any) => element.decode());
  expect(await image.evaluate((element: any) => element.naturalWidth)).toBe(1024);
  expect(await image.getAttribute('src')).toContain('/output-0.png?');
});
