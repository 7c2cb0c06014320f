import { beforeAll, expect, test } from '@jest/globals';
import { bytesOf, useDashboard } from '../support/browser.ts';
import { issueKey, tableOf } from '../support/grants.ts';
import { generate } from '../support/requests.ts';
import { licenseStore } from '../../shared/licenses/store.ts';

const dashboard = useDashboard();
const requests = 24;

beforeAll(async () => {
  const { ready, dataDir } = dashboard.service;
  const table = tableOf(dataDir);
  const license = (await licenseStore(table).get(ready.licenses.pro!))!;
  // A key may ask for ten a minute.
  const keys = await Promise.all([1, 2, 3].map(() => issueKey(table, license)));
  for (let i = 0; i < requests; i++) {
    const { status, body } = await generate(dashboard.service, keys[i % 3]!.key, bodyOf(i));
    expect([status, body.error]).toEqual([200, undefined]);
  }
});

function bodyOf(seed: number) {
  const slug = ['aurora', 'basalt'][seed % 2]!;
  return { identityId: dashboard.service.ready.identities[slug]!, seed };
}

test('a history of 24 images takes 1 MB at most, and 50 kB when it is loaded again', async () => {
  const { page } = await dashboard.visit('nowhere');
  const [first, again] = await bytesOf(page, `${dashboard.url}history`, requests);
  expect(first).toBeLessThanOrEqual(1_000_000);
  expect(again).toBeLessThanOrEqual(50_000);
});
