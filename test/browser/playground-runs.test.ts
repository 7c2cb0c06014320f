import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible, expectFits, goTo, phone, promptField, signIn } from '../support/browser.ts';
import { isMade, isReady, says, send, tiles, useHeldRuns } from '../support/held-runs.ts';

const { dashboard, release } = useHeldRuns();

const topOfResult = (page: Page): Promise<number> =>
  page.getByRole('region', { name: 'Result' }).evaluate((region: any) => region.getBoundingClientRect().top);

test.each([
  ['a desktop', undefined],
  ['a phone', phone],
])('on %s a run and what is typed survive a reload', async (where, viewport) => {
  const { page, complaints } = await dashboard.visit('playground', viewport && { viewport });
  const url = await send(page, 'harbor', `a slow boat on ${where}`);
  await isMade(page);
  await promptField(page).fill('what comes next');
  await page.reload();
  await isMade(page);
  expect(page.url()).toBe(url);
  expect(await promptField(page).inputValue()).toBe('what comes next');
  // On a phone it is below the form.
  expect(await topOfResult(page)).toBeLessThan((viewport?.height ?? 900) / 2);
  await expectFits(page, `a run on ${where}`);
  release();
  await isReady(page);
  await says(page, /^1 image is ready, made in/).waitFor({ state: 'attached' });
  await expectAccessible(page, `a result on ${where}`);
  // The next one is shown too, wherever the form was scrolled to.
  await send(page, 'flint', 'a stone');
  await page.getByRole('alert').filter({ hasText: 'could not finish the image' }).waitFor();
  expect(await topOfResult(page)).toBeLessThan((viewport?.height ?? 900) / 2);
  expect(complaints).toEqual([]);
});

test('several run at once, each with an address, and each ends by itself', async () => {
  const { page } = await dashboard.visit('playground');
  const first = await send(page, 'harbor', 'the first of two');
  const second = await send(page, 'harbor', 'the second of two');
  expect(second).not.toBe(first);
  await isMade(page);
  const addresses = await tiles(page).evaluateAll((links: any[]) => links.map(({ href }) => href));
  expect(addresses).toEqual([second, first]);
  await page.goBack();
  await page.getByText('the first of two').waitFor();
  await isMade(page);
  expect(page.url()).toBe(first);
  // A third is made meanwhile, and its end changes nothing of those that are under way.
  await send(page, 'aurora', 'a quick third');
  await isReady(page);
  await tiles(page).filter({ hasText: 'Processing' }).nth(1).waitFor();
  release();
  await page.getByRole('link', { name: 'Show the first of two, harbor, completed' }).click();
  await isReady(page);
  expect(page.url()).toBe(first);
  await page.getByRole('link', { name: 'Show the second of two, harbor, completed' }).click();
  await isReady(page);
  await expectAccessible(page, 'several runs');
});

test('an address opens a run of the account anywhere; an unknown one and a stranger’s are not there', async () => {
  const { page } = await dashboard.visit('playground');
  const url = await send(page, 'harbor', 'a boat to be found');
  const elsewhere = await dashboard.visit(new URL(url).pathname.slice(1));
  await elsewhere.page.getByText('a boat to be found').waitFor();
  await isMade(elsewhere.page);
  release();
  await isReady(elsewhere.page);

  await page.goto(`${dashboard.url}playground/019aa3c2-7b1e-7c55-9d0c-3b8f6f0e2a41`);
  await page.getByText('There is no run with this address').waitFor();
  const stranger = await dashboard.open();
  await stranger.page.goto(url);
  await signIn(stranger.page, dashboard.service, 'stranger@example.test');
  await stranger.page.getByText('There is no run with this address').waitFor();
  expect(await stranger.page.getByText('a boat to be found').count()).toBe(0);
  await expectAccessible(stranger.page, 'a run that is not there');
});

test('a run that ends while another screen is shown says so, and leads back to it', async () => {
  const { page } = await dashboard.visit('playground');
  const url = await send(page, 'harbor', 'a boat that is left alone');
  await goTo(page, 'Keys');
  release();
  await page.getByText('1 image is ready').waitFor();
  await page.getByRole('button', { name: 'Show' }).click();
  await isReady(page);
  expect(page.url()).toBe(url);
});
