import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { askFor, expectFits, phone, screen, useDashboard } from '../support/browser.ts';
import { tableOf } from '../support/grants.ts';
import { identityStore } from '../../shared/identities/store.ts';
import { noWords } from '../../shared/identities/version.ts';

const dashboard = useDashboard();
const shown = { triggerWords: ['qx7 light'], showsTriggerWords: true };
const words = { ...noWords, ...shown, promptTemplate: '{prompt}, in the manner of qx7' };
const rights = { license: 'CC BY 4.0', source: 'https://creators.example/aurora', consent: null };

/** Of the demo data's two versions the first one ends, and the second one gets words and rights. */
beforeAll(async () => {
  const { dataDir, ready } = dashboard.service;
  const catalog = identityStore(tableOf(dataDir));
  const identityId = ready.identities.aurora!;
  const [second, first] = await catalog.versions(identityId);
  const ends = { ...first!, retiresAtMs: Date.now() + 40 * 86_400_000 };
  await catalog.change(identityId, (before) => ({
    identity: { ...before!, model: { ...before!.model!, words, rights } },
    versions: [{ ...second!, words, rights }, ends],
  }));
});

const toAurora = async (page: Page) => {
  await page.getByRole('link', { name: 'aurora' }).click();
  await screen(page, 'aurora');
};
const versionField = (page: Page) => page.getByLabel('Version', { exact: true });

/** What the playground sends, with its idempotency keys. */
function sentOf(page: Page): any[] {
  const sent: any[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/playground/generate'))
      sent.push({ ...request.postDataJSON(), key: request.headers()['idempotency-key'] });
  });
  return sent;
}

test('an identity is found by its trigger words, and its page tells licence, source, and what changed when', async () => {
  const { page, complaints } = await dashboard.visit('identities');
  await page.getByRole('searchbox', { name: 'Words of an identity' }).fill('QX7');
  await page.getByText('1 identity', { exact: true }).waitFor();
  await toAurora(page);
  for (const fact of ['qx7 light', 'CC BY 4.0', 'https://creators.example/aurora', '1024 × 1024 px'])
    await page.locator('dl').getByText(fact).waitFor();
  const [second, first] = await page.getByRole('list', { name: 'Versions' }).getByRole('listitem').all();
  expect(await second!.textContent()).toMatch(/^Version 2Active.*Curtains of light\.$/);
  expect(await first!.textContent()).toMatch(/^Version 1.*It can be used until .*Use in the playground/);
  expect(complaints).toEqual([]);
});

test('the version that is picked is sent and told, the active one is not named, and a request that is used again pins its own', async () => {
  const { page, complaints } = await dashboard.visit('identities');
  const sent = sentOf(page);
  await toAurora(page);
  await page.getByRole('link', { name: 'Use in the playground version 1' }).click();
  await screen(page, 'Playground');
  expect(await versionField(page).inputValue()).toBe('1');
  await askFor(page, 'a pinned night');
  const result = page.getByRole('region', { name: 'Result' });
  await result.getByText('1 credit charged').waitFor();
  await result.getByText('Version 1', { exact: true }).waitFor();
  await versionField(page).selectOption('');
  await askFor(page, 'an open night');
  await result.getByText('Version 2', { exact: true }).waitFor();
  await result.getByText('1 credit charged').waitFor();
  expect(sent.map(({ identityVersion }) => identityVersion)).toEqual([1, undefined]);
  await page.getByRole('link', { name: 'Open in history' }).click();
  await page.getByText('an open night, in the manner of qx7').waitFor();
  await page.getByRole('link', { name: 'Use again' }).click();
  await page.getByText('The settings of a stored request are filled in').waitFor();
  expect(await versionField(page).inputValue()).toBe('2');
  // Another identity has other versions.
  await page.goto(`${dashboard.url}playground?identity=${dashboard.service.ready.identities.citrine}`);
  await page.getByRole('button', { name: /^Identity citrine/ }).waitFor();
  expect(await versionField(page).count()).toBe(0);
  expect(complaints).toEqual([]);
});

test('two versions are compared by the same seed; where the second is refused at first, the first is not sent again', async () => {
  const { page } = await dashboard.visit('identities');
  const sent = sentOf(page);
  await toAurora(page);
  await page.getByRole('link', { name: 'Compare versions' }).click();
  await screen(page, 'Playground');
  const other = page.getByLabel('Compare with');
  expect([await versionField(page).inputValue(), await other.inputValue()]).toEqual(['', '1']);
  // The same twice is no comparison.
  await versionField(page).selectOption('1');
  await page.getByRole('button', { name: /^Generate(?! both)/ }).waitFor();
  await other.selectOption('2');
  await expectFits(page, 'what is compared');
  await page.getByText('2 credits', { exact: true }).waitFor();
  const refused = { status: 503, json: { error: 'Busy.', code: 'SERVICE_UNAVAILABLE' } };
  await page.route('**/playground/generate', (route) =>
    sent.length === 2 ? route.fulfill(refused) : route.continue(),
  );
  await askFor(page, 'a night twice');
  await page.getByRole('button', { name: 'Try again' }).click();
  await screen(page, 'Compare');
  expect(sent.map(({ identityVersion }) => identityVersion)).toEqual([1, 2, 2]);
  expect(sent[2]).toEqual(sent[1]);
  for (const name of ['A', 'B']) await page.getByRole('img', { name: `${name}: a night twice` }).waitFor();
  const row = (name: string) => page.getByRole('row').filter({ hasText: name }).textContent();
  expect(await row('Seed')).toBe(`Seed${sent[0].seed}${sent[1].seed}`);
  expect(await row('Identity version')).toBe('Identity version≠ Different12');
});

test('on a small phone nothing of the versions is too wide, and axe finds nothing', async () => {
  const { page } = await dashboard.visit('identities/aurora', { viewport: { ...phone, width: 320 } });
  await page.getByRole('heading', { name: 'Version 2' }).waitFor();
  await expectFits(page, 'an identity with versions');
  await page.getByRole('link', { name: 'Use in the playground version 1' }).click();
  await versionField(page).waitFor();
  await expectFits(page, 'a playground with a choice of versions');
});
