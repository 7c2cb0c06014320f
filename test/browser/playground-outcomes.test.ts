import { expect, test } from '@jest/globals';
import {
  chooseIdentity,
  expectAccessible,
  goTo,
  phone,
  promptField,
  screen,
  signIn,
  signOut,
} from '../support/browser.ts';
import { small } from '../support/requests.ts';
import { until } from '../support/until.ts';
import { isMade, isReady, says, send, tiles, useHeldRuns } from '../support/held-runs.ts';

const { dashboard, release, holdBeforeStart } = useHeldRuns();

test('a double click is one run', async () => {
  const { page } = await dashboard.visit('playground');
  let count = 0;
  page.on('request', (request) => (count += request.url().endsWith('/playground/generate') ? 1 : 0));
  await chooseIdentity(page, 'aurora');
  await promptField(page).fill('once');
  await page.getByRole('button', { name: /^Generate/ }).dblclick({ delay: 100 });
  await isReady(page);
  expect(count).toBe(1);
});

test('a run that waits for the model says how long that may take, and then goes on', async () => {
  holdBeforeStart();
  const { page } = await dashboard.visit('playground', { viewport: phone });
  let health = { status: 'ok', api: 'up', inference: 'up', model: 'waking', modelReadyInSeconds: 230 };
  await page.route('**/api/v1/health', (route) => route.fulfill({ json: health }));
  await send(page, 'harbor', 'a patient bay');
  await says(page, 'The model is starting. About 4 minutes.').waitFor({ state: 'attached' });
  await expectAccessible(page, 'a run that waits for the model');
  health = { ...health, model: 'ready', modelReadyInSeconds: 0 };
  await says(page, 'Waiting for its turn').waitFor({ state: 'attached' });
  release();
  await isReady(page);
});

test('a run that failed says so in its place, stays there after a reload, and can be sent once more', async () => {
  const { page } = await dashboard.visit('playground');
  const url = await send(page, 'flint', 'a stone');
  const failed = page.getByRole('region', { name: 'Result' }).getByRole('alert');
  await failed.filter({ hasText: 'could not finish the image' }).waitFor();
  expect(await failed.textContent()).toContain('Nothing was charged');
  await page.reload();
  await failed.filter({ hasText: 'could not finish the image' }).waitFor();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.waitForURL((now) => now.href !== url);
  await failed.filter({ hasText: 'could not finish the image' }).waitFor();
  // The first one's sentence may be there still, so the second tile is waited for.
  await tiles(page).filter({ hasText: 'Failed' }).nth(1).waitFor();
});

test('a refusal stands beside the button, seen whole on a phone too, and the runs that are under way stay', async () => {
  const { page } = await dashboard.visit('playground', { viewport: phone });
  const url = await send(page, 'harbor', 'the last that is allowed');
  await isMade(page);
  const error = 'This license has 40 requests in flight, as many as it may have at a time.';
  await page.route('**/playground/generate', (route) =>
    route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json: { error, code: 'RATE_LIMITED' } }),
  );
  await page.getByRole('button', { name: /^Generate/ }).click();
  const alert = page.getByRole('alert').filter({ hasText: error });
  await alert.waitFor();
  // Fails when a bar lies above it.
  await alert.click({ trial: true, timeout: 5000 });
  const box = (await alert.boundingBox())!;
  const bar = (await page.locator('.submit-bar').boundingBox())!;
  expect(box.y).toBeGreaterThan(56);
  expect(box.y + box.height).toBeLessThanOrEqual(bar.y);
  expect(page.url()).toBe(url);
  await isMade(page);
  await page.unroute('**/playground/generate');
  await page.getByRole('button', { name: 'Try again', exact: true }).click();
  await page.waitForURL((now) => now.href !== url);
  release();
  await isReady(page);
});

test('history and overview show what is under way, whoever sent it, and its end', async () => {
  const { api, ready } = dashboard.service;
  const body = { ...small, identityId: ready.identities.harbor, prompt: 'a boat of another program' };
  const headers = { prefer: 'respond-async' };
  const { requestId } = (await api({ path: '/generate', key: ready.keys.pro!, body, headers })).body;
  const { page } = await dashboard.visit('');
  const open = page.getByRole('region', { name: 'In progress' });
  await open.getByText('a boat of another program').waitFor();
  await open.getByText('Processing').waitFor();
  await expectAccessible(page, 'the overview with a request under way');
  await goTo(page, 'History');
  await page.getByText('Being made. The image appears here by itself.').waitFor();
  await goTo(page, 'Overview');
  release();
  await open.waitFor({ state: 'detached' });
  await page.getByRole('region', { name: 'Newest images' }).locator(`a[href$="${requestId}"]`).waitFor();
});

test('a run that ends while another is looked at says so, and covers nothing of what can be done with that one', async () => {
  const { page } = await dashboard.visit('playground');
  await send(page, 'harbor', 'the slow one');
  await send(page, 'aurora', 'the quick one');
  await isReady(page);
  release();
  await page.getByRole('button', { name: 'Show', exact: true }).waitFor();
  const result = page.getByRole('region', { name: 'Result' });
  // Fails when something else would take the click.
  const isFree = { trial: true, timeout: 5000 };
  await result.getByRole('button', { name: /^Download/ }).click(isFree);
  await result.getByRole('link', { name: /^Open the image/ }).click(isFree);
  await page.getByRole('button', { name: /^Generate/ }).click(isFree);
});

test('credits are right after a reload in mid-run, also when the run ends before it is looked at', async () => {
  const { api, ready } = dashboard.service;
  const { page } = await dashboard.visit('');
  const used = await page.getByText(/^\d+ of 4,000 credits used/).textContent();
  await goTo(page, 'Playground');
  const url = await send(page, 'harbor', 'a boat across a reload');
  await isMade(page);
  await goTo(page, 'Overview');
  const hasEnded = Promise.withResolvers<void>();
  // The new page gets the credits from before the end, and the runs from after it.
  await page.route('**/api/v1/usage?*', async (route) => {
    const response = await route.fetch();
    release();
    const path = url.replace(/.*\/playground/, '/generate');
    await until('the run has ended', async () => {
      const { body } = await api({ path, key: ready.keys.pro! });
      return body.status === 'COMPLETED';
    });
    await page.unroute('**/api/v1/usage?*');
    await route.fulfill({ response });
    hasEnded.resolve();
  });
  await page.route(/\/api\/v1\/generate[/?]/, async (route) => {
    await hasEnded.promise;
    await route.continue();
  });
  await page.reload();
  await page.getByText(`${Number.parseInt(used!, 10) + 1} of 4,000 credits used`).waitFor();
  await page.getByText('1 image is ready').waitFor();
});

test('nothing of an account’s prompts stays in the tab after its sign-out', async () => {
  const { page } = await dashboard.visit('playground');
  await send(page, 'aurora', 'a secret plan');
  await isReady(page);
  await promptField(page).fill('a more secret plan');
  const kept = () => page.evaluate(() => JSON.stringify((globalThis as any).sessionStorage));
  expect(await kept()).toContain('a more secret plan');
  await signOut(page);
  await screen(page, 'You are signed out');
  expect(await kept()).not.toContain('plan');
  await page.goto(`${dashboard.url}playground`);
  await signIn(page, dashboard.service, 'stranger@example.test');
  await screen(page, 'Playground');
  expect(await promptField(page).inputValue()).toBe('');
  expect(await tiles(page).count()).toBe(0);
  expect(new URL(page.url()).pathname).toBe('/playground');
});
