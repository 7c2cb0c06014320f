import { expect, test } from '@jest/globals';
import { expectAccessible, expectFits, goTo, hasFocus, phone, tabTo } from '../support/browser.ts';
import { isMade, isReady, says, send, tiles, useHeldRuns } from '../support/held-runs.ts';
import { stored } from '../support/requests.ts';
import { until } from '../support/until.ts';

const { dashboard, release, holdBeforeStart } = useHeldRuns();

const name = 'Cancel the request';

test.each([
  ['a desktop', undefined],
  ['a phone', phone],
])('on %s a run is cancelled by the keyboard, and can be sent again', async (where, viewport) => {
  const { page, complaints } = await dashboard.visit('playground', viewport && { viewport });
  const url = await send(page, 'harbor', `a boat that nobody wants on ${where}`);
  await isMade(page);
  const cancel = page.getByRole('button', { name });
  await expectFits(page, `a run that can be cancelled on ${where}`);
  await tabTo(page, cancel);
  await page.keyboard.press('Enter');
  await says(page, 'The request was cancelled. Nothing was charged.').waitFor();
  expect(await hasFocus(page.getByRole('region', { name: 'Result' }))).toBe(true);
  expect([await cancel.count(), await page.getByRole('alert').count()]).toEqual([0, 0]);
  await expectFits(page, `a cancelled run on ${where}`);
  release();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.waitForURL((now) => now.href !== url && /\/playground\/[^/]+$/.test(now.pathname));
  await isReady(page);
  await tiles(page).filter({ hasText: 'Cancelled' }).waitFor();
  expect(complaints).toEqual([]);
});

test('a run that has just completed when it is cancelled shows its image', async () => {
  const { page } = await dashboard.visit('playground');
  const requestId = (await send(page, 'harbor', 'a boat that is quicker')).split('/').at(-1)!;
  await isMade(page);
  // The page does not hear of the end by itself.
  let isAway = true;
  await page.route(`**/generate/${requestId}`, (route) => (isAway ? route.abort() : route.continue()));
  release();
  const { service } = dashboard;
  await until('it has completed', async () => {
    const { status } = await stored(service, service.ready.keys.pro!, requestId);
    return status === 'COMPLETED';
  });
  isAway = false;
  await page.getByRole('button', { name }).click();
  await isReady(page);
  expect(await page.getByText('already').count()).toBe(0);
});

test('the history cancels what waits, in the list and on its own page', async () => {
  holdBeforeStart();
  const { page } = await dashboard.visit('playground');
  for (const prompt of ['a boat in the list', 'a boat on a page']) await send(page, 'harbor', prompt);
  await goTo(page, 'History');
  const listed = page.getByRole('article').filter({ hasText: 'a boat in the list' });
  await listed.getByRole('button', { name }).focus();
  await page.keyboard.press('Enter');
  await listed.getByText('Cancelled', { exact: true }).waitFor();
  expect(await hasFocus(listed.getByRole('link'))).toBe(true);
  await expectAccessible(page, 'a list with a cancelled request');
  await page.getByRole('link', { name: 'a boat on a page' }).click();
  await page.getByRole('button', { name }).click();
  await page.getByRole('heading', { name: 'The request was cancelled.' }).waitFor();
  await page.getByText('CANCELLED', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Delete' }).waitFor();
  // What a check refused is called so, too.
  await page.route(/\/generate\/[^/]+$/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), errorCode: 'CONTENT_REFUSED' } });
  });
  await page.reload();
  await page.locator('span', { hasText: /^Refused$/ }).waitFor();
  release();
});
