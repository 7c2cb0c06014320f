import { expect, test } from '@jest/globals';
import {
  askFor,
  chooseIdentity,
  desktop,
  goTo,
  naturalWidth,
  phone,
  promptField,
  screen,
  useDashboard,
} from '../support/browser.ts';

const dashboard = useDashboard();

test.each([
  ['a desktop', desktop],
  ['a phone', phone],
])('on %s an image is made with progress, and appears in history and in usage', async (where, viewport) => {
  const prompt = `a quiet harbour, seen on ${where}`;
  const { page, complaints } = await dashboard.visit('', { viewport });
  await screen(page, 'Overview');
  const used = await page.getByText(/^\d+ of 4,000 credits used/).textContent();
  const before = Number.parseInt(used!, 10);
  await goTo(page, 'Playground');
  await chooseIdentity(page, 'harbor');
  await promptField(page).fill(prompt);
  await page.getByRole('radio', { name: /2K square/ }).click();
  expect(await page.getByText('4 credits', { exact: true }).count()).toBe(1);
  await page.getByRole('radio', { name: /^Small/ }).click();
  expect(await page.getByText('1 credit', { exact: true }).count()).toBe(1);
  await page.getByRole('button', { name: /^Generate/ }).click();
  await page.getByRole('progressbar', { name: 'Progress of harbor' }).waitFor();
  await page.getByText('1 credit charged').waitFor();
  expect(await naturalWidth(page, prompt)).toBe(512);

  await goTo(page, 'History');
  await page.getByRole('link', { name: prompt }).click();
  await page.getByRole('link', { name: 'Use again' }).waitFor();
  expect(await page.getByText(prompt).count()).toBeGreaterThan(0);
  await goTo(page, 'Overview');
  await page.getByText(new RegExp(`^${before + 1} of 4,000 credits used`)).waitFor();
  expect(complaints).toEqual([]);
});

test('"use again" opens the playground with the same parameters and seed', async () => {
  const { page } = await dashboard.visit('playground');
  await chooseIdentity(page, 'basalt');
  await promptField(page).fill('columns by the sea');
  await page.getByRole('radio', { name: /^Small/ }).click();
  await page.getByRole('radio', { name: 'WebP' }).click();
  await page.getByLabel('Seed', { exact: true }).fill('4242');
  await page.keyboard.press('Control+Enter');
  await page.getByText('1 credit charged').waitFor();
  await page.getByRole('link', { name: 'Open in history' }).click();
  await page.getByText('WebP', { exact: true }).waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download' }).click();
  expect((await download).suggestedFilename()).toMatch(/^basalt-.*-seed4242\.webp$/);
  await page.getByRole('link', { name: 'Use again' }).click();
  await screen(page, 'Playground');
  await page.waitForFunction(() => !(globalThis as any).location.search);
  expect(await page.getByRole('radio', { name: 'WebP' }).isChecked()).toBe(true);
  expect(await promptField(page).inputValue()).toBe('columns by the sea');
  expect(await page.getByLabel('Seed', { exact: true }).inputValue()).toBe('4242');
  expect(await page.getByRole('button', { name: /^Identity/ }).textContent()).toContain('basalt');
  expect(await page.getByRole('radio', { name: /^Small/ }).isChecked()).toBe(true);
});

test('an answer that is lost does not lose the image: another try finds it, and it is charged once', async () => {
  const { page } = await dashboard.visit('playground');
  const { service } = dashboard;
  const bodies: unknown[] = [];
  let isBroken = true;
  // The service gets every request. The first answer does not arrive.
  await page.route('**/playground/generate', async (route) => {
    const request = route.request();
    bodies.push([request.headers()['idempotency-key'], request.postDataJSON()]);
    const answer = await route.fetch();
    if (isBroken) await route.abort();
    else await route.fulfill({ response: answer });
    isBroken = false;
  });
  await chooseIdentity(page, 'harbor');
  await askFor(page, 'a boat in a tunnel');
  await page.getByRole('alert').filter({ hasText: "The service can't be reached." }).waitFor();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('1 credit charged').waitFor();
  expect(await naturalWidth(page, 'a boat in a tunnel')).toBe(512);
  expect(bodies[1]).toEqual(bodies[0]);
  const requestId = new URL(page.url()).pathname.replace('/playground/', '');
  const { body } = await service.api({ path: '/generate?limit=2', key: service.ready.keys.pro! });
  const [newest, before] = body.generations;
  expect([newest.id, newest.prompt]).toEqual([requestId, 'a boat in a tunnel']);
  expect(before.prompt).not.toBe('a boat in a tunnel');
});
