import { expect, test } from '@jest/globals';
import { addRefusal } from '../../shared/limits/refusal-store.ts';
import {
  chooseLicense,
  expectAccessible,
  expectFits,
  hasFocus,
  phone,
  screen,
  tabTo,
  useDashboard,
} from '../support/browser.ts';
import { tableOf } from '../support/grants.ts';
import { generate, small } from '../support/requests.ts';
import { sessionOf } from '../support/sessions.ts';
import { until } from '../support/until.ts';

const dashboard = useDashboard();
const dayMs = 24 * 3600 * 1000;

/** Refuses two calls by key and one of the playground now, and counts ten of the key as a call ten days ago would. */
async function refuseCalls(): Promise<void> {
  const { service } = dashboard;
  const { keys, licenses, identities } = service.ready;
  const session = await sessionOf(service.dataDir);
  const tooMany = { identityId: identities.aurora, numOutputs: 4 };
  const refused = [
    await generate(service, keys.starter!, tooMany),
    await generate(service, keys.starter!, {}),
    await service.api({
      path: '/playground/generate',
      key: session,
      body: { ...small, ...tooMany, licenseId: licenses.starter },
    }),
  ];
  expect(refused.map(({ body }) => body.code)).toEqual(['TIER_LIMIT', 'MISSING_IDENTITY', 'TIER_LIMIT']);
  const owned = (await service.api({ path: '/keys', key: session })).body.keys;
  const { keyId } = owned.find(({ name }: { name: string }) => name === 'starter');
  const owner = { licenseId: licenses.starter!, caller: keyId };
  const longAgoMs = Date.now() - 10 * dayMs;
  const { signal } = new AbortController();
  for (let i = 0; i < 10; i += 1) {
    await addRefusal(tableOf(service.dataDir), owner, ['TIER_LIMIT'], longAgoMs, signal);
  }
  // The count of a streamed answer comes after it.
  await until('three refusals of today are counted', async () => {
    const { body } = await service.api({ path: `/licenses/${licenses.starter}/refusals`, key: session });
    const counts = body.days.flatMap(({ refusals }: any) => refusals.map(({ count }: any) => count));
    return counts.reduce((sum: number, count: number) => sum + count, 0) === 13;
  });
}

test('real refusals are shown by key, code and day, with what to change, by keyboard only on a narrow phone', async () => {
  await refuseCalls();
  const { page, complaints } = await dashboard.visit('keys', { viewport: { ...phone, width: 320 } });
  const section = page.getByRole('region', { name: 'Refused calls' });
  // Nothing of this license was refused yet.
  await section.getByText('No call was refused in the last 7 days.').waitFor();
  await chooseLicense(page, 'Starter');
  await section.getByText('calls of the license Starter').waitFor();

  const caller = (name: string) => section.getByRole('article').filter({ hasText: name });
  await caller('starter').getByText('2 refused calls').waitFor();
  const entry = caller('starter').getByRole('listitem').filter({ hasText: 'TIER_LIMIT' });
  expect(await entry.textContent()).toContain('1 × TIER_LIMIT');
  await entry.getByText('Ask for fewer or smaller images, or use a license of a higher tier.').waitFor();
  await caller('starter').getByText('1 × MISSING_IDENTITY').waitFor();
  await caller('Playground').getByText('1 × TIER_LIMIT').waitFor();
  await expectAccessible(page, 'the refused calls of a week');

  await tabTo(page, section.getByRole('tab', { name: '7 days 3' }));
  await page.keyboard.press('ArrowRight');
  await section.getByRole('tab', { name: '30 days 13', selected: true }).waitFor();
  await entry.first().getByText('11 × TIER_LIMIT').waitFor();
  await tabTo(page, entry.first().getByText(/^On 2 days, last on/));
  await page.keyboard.press('Enter');
  const days = entry.first().getByRole('listitem');
  await days.first().waitFor();
  expect((await days.allTextContents()).map((text) => text.split(': ')[1])).toEqual(['1', '10']);
  await expectFits(page, 'the refused calls of a month');

  const link = entry.first().getByRole('link', { name: 'TIER_LIMIT' });
  await page.keyboard.press('Shift+Tab');
  expect(await hasFocus(link)).toBe(true);
  await until('the link leads to the error, with an identity for the examples', async () =>
    /^\/reference\?identity=idn_\w+#description\/tier-limit$/.test((await link.getAttribute('href'))!),
  );
  expect(complaints).toEqual([]);
});

test('counts that can’t be loaded are asked for again, and the rest of the screen is there', async () => {
  const { page } = await dashboard.visit('quickstart');
  const sentence = 'Something went wrong on our side.';
  await page.route('**/refusals', (route) =>
    route.fulfill({ status: 500, json: { error: sentence, code: 'INTERNAL_ERROR' } }),
  );
  await page.goto(`${dashboard.url}keys`);
  await screen(page, 'Keys');
  const section = page.getByRole('region', { name: 'Refused calls' });
  expect(await section.getByRole('alert').textContent()).toContain(sentence);
  await page.getByRole('tab', { name: /^Active \d+$/ }).waitFor();
  await page.unroute('**/refusals');
  await section.getByRole('button', { name: 'Try again' }).click();
  await section.getByRole('tab', { name: 'Today 0' }).waitFor();
});
