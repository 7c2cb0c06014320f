import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { deliver, emit, startContainer, type Container } from '../fuzz/quick-container.ts';
import {
  chooseIdentity,
  expectAccessible,
  expectNoSidewaysScroll,
  phone,
  screen,
  signIn,
  useDashboard,
} from '../support/browser.ts';

/** What requests of the identity `harbor` wait for. */
let gate: PromiseWithResolvers<void>;
/** Whether they wait for their turn, or are being made. */
let begins = true;
let container: Container;

beforeAll(async () => {
  container = await startContainer(async (request, res) => {
    const { delaySeconds, failWith } = request.identity.settings;
    const isHeld = delaySeconds !== undefined;
    if (isHeld && !begins) await gate.promise;
    emit(res, { event: 'started' });
    if (isHeld) await gate.promise;
    if (typeof failWith !== 'string') return deliver(request, res);
    emit(res, { event: 'failed', reason: 'model_error', message: failWith });
    res.end();
  });
});
const dashboard = useDashboard(() => ['--container', container.url]);
afterAll(() => container.close());
beforeEach(() => {
  gate = Promise.withResolvers<void>();
  begins = true;
});

async function send(page: Page, identity: string, prompt: string): Promise<string> {
  const before = page.url();
  await chooseIdentity(page, identity);
  await page.getByLabel('Prompt', { exact: true }).fill(prompt);
  await page.getByRole('radio', { name: /^Small/ }).click();
  await page.getByRole('button', { name: /^Generate/ }).click();
  await page.waitForURL((url) => url.href !== before && /\/playground\/[^/]+$/.test(url.pathname));
  return page.url();
}

const says = (page: Page, text: string | RegExp): Locator =>
  page.getByRole('region', { name: 'Result' }).getByRole('status').filter({ hasText: text });
const isMade = (page: Page): Promise<void> => says(page, 'The image is being made').waitFor();
const isReady = (page: Page): Promise<void> => page.getByText('1 credit charged').waitFor();
const tiles = (page: Page): Locator =>
  page.getByRole('region', { name: 'Runs in this tab' }).getByRole('link');

const topOfResult = (page: Page): Promise<number> =>
  page.getByRole('region', { name: 'Result' }).evaluate((region: any) => region.getBoundingClientRect().top);

test.each([
  ['a desktop', undefined],
  ['a phone', phone],
])('on %s a run and what is typed survive a reload', async (where, viewport) => {
  const { page, complaints } = await dashboard.visit('playground', viewport && { viewport });
  const url = await send(page, 'harbor', `a slow boat on ${where}`);
  await isMade(page);
  await page.getByLabel('Prompt', { exact: true }).fill('what comes next');
  await page.reload();
  await isMade(page);
  expect(page.url()).toBe(url);
  expect(await page.getByLabel('Prompt', { exact: true }).inputValue()).toBe('what comes next');
  // On a phone it is below the form.
  expect(await topOfResult(page)).toBeLessThan((viewport?.height ?? 900) / 2);
  await expectNoSidewaysScroll(page);
  await expectAccessible(page, `a run on ${where}`);
  gate.resolve();
  await isReady(page);
  await says(page, /^1 image is ready, made in/).waitFor({ state: 'attached' });
  await expectAccessible(page, `a result on ${where}`);
  // The next one is shown too, wherever the form was scrolled to.
  await send(page, 'flint', 'a stone');
  await page.getByRole('alert').filter({ hasText: 'The stone broke' }).waitFor();
  expect(await topOfResult(page)).toBeLessThan((viewport?.height ?? 900) / 2);
  expect(complaints).toEqual([]);
});

test('several run at once, each with an address, and each ends by itself', async () => {
  const { page } = await dashboard.visit('playground');
  const first = await send(page, 'harbor', 'the first of two');
  const second = await send(page, 'harbor', 'the second of two');
  expect(second).not.toBe(first);
  await isMade(page);
  expect(await tiles(page).evaluateAll((links: any[]) => links.map(({ href }) => href))).toEqual([
    second,
    first,
  ]);
  await page.goBack();
  await page.getByText('the first of two').waitFor();
  await isMade(page);
  expect(page.url()).toBe(first);
  // A third is made meanwhile, and its end changes nothing of those that are under way.
  await send(page, 'aurora', 'a quick third');
  await isReady(page);
  await tiles(page).filter({ hasText: 'Processing' }).nth(1).waitFor();
  gate.resolve();
  await page.getByRole('link', { name: 'Show the first of two, harbor, completed' }).click();
  await isReady(page);
  expect(page.url()).toBe(first);
  await page.getByRole('link', { name: 'Show the second of two, harbor, completed' }).click();
  await isReady(page);
  await expectAccessible(page, 'several runs');
});

test('a double click is one run', async () => {
  const { page } = await dashboard.visit('playground');
  let count = 0;
  page.on('request', (request) => (count += request.url().endsWith('/playground/generate') ? 1 : 0));
  await chooseIdentity(page, 'aurora');
  await page.getByLabel('Prompt', { exact: true }).fill('once');
  await page.getByRole('button', { name: /^Generate/ }).dblclick({ delay: 100 });
  await isReady(page);
  expect(count).toBe(1);
});

test('an address opens a run of the account anywhere; an unknown one and a stranger’s are not there', async () => {
  const { page } = await dashboard.visit('playground');
  const url = await send(page, 'harbor', 'a boat to be found');
  const elsewhere = await dashboard.visit(new URL(url).pathname.slice(1));
  await elsewhere.page.getByText('a boat to be found').waitFor();
  await isMade(elsewhere.page);
  gate.resolve();
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

test('a run that waits for the model says how long that may take, and then goes on', async () => {
  begins = false;
  const { page } = await dashboard.visit('playground', { viewport: phone });
  let health = { status: 'ok', api: 'up', inference: 'up', model: 'waking', modelReadyInSeconds: 230 };
  await page.route('**/api/v1/health', (route) => route.fulfill({ json: health }));
  await send(page, 'harbor', 'a patient bay');
  await says(page, 'The model is starting. About 4 minutes.').waitFor({ state: 'attached' });
  await expectAccessible(page, 'a run that waits for the model');
  health = { ...health, model: 'ready', modelReadyInSeconds: 0 };
  await says(page, 'Waiting for its turn').waitFor({ state: 'attached' });
  gate.resolve();
  await isReady(page);
});

test('a run that failed says so in its place, stays there after a reload, and can be sent once more', async () => {
  const { page } = await dashboard.visit('playground');
  const url = await send(page, 'flint', 'a stone');
  const failed = page.getByRole('region', { name: 'Result' }).getByRole('alert');
  await failed.filter({ hasText: 'The stone broke' }).waitFor();
  expect(await failed.textContent()).toContain('Nothing was charged');
  await page.reload();
  await failed.filter({ hasText: 'The stone broke' }).waitFor();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.waitForURL((now) => now.href !== url);
  await failed.filter({ hasText: 'The stone broke' }).waitFor();
  expect(await tiles(page).filter({ hasText: 'Failed' }).count()).toBe(2);
});

test('a refusal stands beside the button, and the runs that are under way stay', async () => {
  const { page } = await dashboard.visit('playground');
  const url = await send(page, 'harbor', 'the last that is allowed');
  await isMade(page);
  const error = 'This license has 40 requests in flight, as many as it may have at a time.';
  await page.route('**/playground/generate', (route) =>
    route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json: { error, code: 'RATE_LIMITED' } }),
  );
  await page.getByRole('button', { name: /^Generate/ }).click();
  await page.getByRole('alert').filter({ hasText: error }).waitFor();
  expect(page.url()).toBe(url);
  await isMade(page);
  await page.unroute('**/playground/generate');
  await page.getByRole('button', { name: 'Try again', exact: true }).click();
  await page.waitForURL((now) => now.href !== url);
  gate.resolve();
  await isReady(page);
});

test('history and overview show what is under way, and its end', async () => {
  const { page } = await dashboard.visit('playground');
  const url = await send(page, 'harbor', 'a boat that everybody waits for');
  await isMade(page);
  const id = new URL(url).pathname.replace('/playground/', '');
  const goTo = async (name: string): Promise<void> => {
    await page.getByRole('link', { name, exact: true }).first().click();
    await screen(page, name);
  };
  await goTo('Overview');
  const open = page.getByRole('region', { name: 'In progress' });
  await open.getByText('a boat that everybody waits for').waitFor();
  await open.getByText('Processing').waitFor();
  await expectAccessible(page, 'the overview with a request under way');
  await goTo('History');
  await page.getByText('Being made. The image appears here by itself.').waitFor();
  await goTo('Overview');
  gate.resolve();
  await open.waitFor({ state: 'detached' });
  await page.getByText('1 image is ready').waitFor();
  await page.getByRole('region', { name: 'Newest images' }).locator(`a[href$="${id}"]`).waitFor();
});

test('nothing of an account’s prompts stays in the tab after its sign-out', async () => {
  const { page } = await dashboard.visit('playground');
  await send(page, 'aurora', 'a secret plan');
  await isReady(page);
  await page.getByLabel('Prompt', { exact: true }).fill('a more secret plan');
  const kept = () => page.evaluate(() => JSON.stringify((globalThis as any).sessionStorage));
  expect(await kept()).toContain('a more secret plan');
  await page.getByRole('button', { name: 'Account' }).locator('visible=true').click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await screen(page, 'You are signed out');
  expect(await kept()).not.toContain('plan');
  await page.goto(`${dashboard.url}playground`);
  await signIn(page, dashboard.service, 'stranger@example.test');
  await screen(page, 'Playground');
  expect(await page.getByLabel('Prompt', { exact: true }).inputValue()).toBe('');
  expect(await tiles(page).count()).toBe(0);
  expect(new URL(page.url()).pathname).toBe('/playground');
});
