import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  askFor,
  expectAccessible,
  expectFits,
  naturalWidth,
  promptField,
  screen,
  tabTo,
  useDashboard,
} from '../support/browser.ts';

const dashboard = useDashboard();
const ids = { cup: '', four: '', failed: '', foreign: '' };
const prompts = { cup: 'a cup on linen', four: 'a lighthouse at dawn' };

beforeAll(async () => {
  const { aurora, citrine, flint } = dashboard.service.ready.identities;
  const four = { identityId: aurora, prompt: prompts.four, width: 1024, numOutputs: 4, seed: 7 };
  ids.cup = await dashboard.make({ identityId: citrine, prompt: prompts.cup, seed: 7 });
  ids.four = await dashboard.make(four);
  ids.failed = await dashboard.make({ identityId: flint, prompt: 'a broken stone' });
  ids.foreign = await dashboard.make({ identityId: aurora }, 'stranger');
});

const path = (a: string, b: string): string => `history/compare?a=${a}&b=${b}`;
const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
const rowNames = async (page: Page): Promise<string[]> =>
  (await page.getByRole('rowheader').allTextContents()).map((text) => text.replace(/≠.*/, '').trim());

test('two requests are compared from the detail, by keyboard alone, previews first', async () => {
  const { page, complaints } = await dashboard.visit('history');
  await page.getByRole('link', { name: prompts.four }).click();
  // The page of a request shows the image itself, whose preview has 512 pixels.
  expect(await naturalWidth(page, prompts.four)).toBe(1024);
  await page.getByRole('link', { name: 'Compare with the older request' }).press('Enter');
  await screen(page, 'Compare');
  expect(new URL(page.url()).search).toBe(`?a=${ids.cup}&b=${ids.four}`);
  await row(page, 'Size').getByText('1024 × 512 px').waitFor();
  expect(await row(page, 'Size').textContent()).toContain('≠ Different');
  expect(await row(page, 'Seed').textContent()).toBe('Seed77');
  const shown = `B: ${prompts.four}, image 1 of 4`;
  expect(await naturalWidth(page, shown)).toBe(512);
  await tabTo(page, page.getByRole('switch', { name: 'Full size' }));
  await page.keyboard.press('Space');
  await page.locator(`img[alt="${shown}"]:not([src*="preview"])`).waitFor();
  expect(await naturalWidth(page, shown)).toBe(1024);

  await tabTo(page, page.getByRole('button', { name: /^Show image 3/ }));
  await page.keyboard.press('Enter');
  await page.getByRole('img', { name: `B: ${prompts.four}, image 3 of 4` }).waitFor();
  expect(await row(page, 'Seed').textContent()).toBe('Seed≠ Different79');
  await tabTo(page, page.getByRole('switch', { name: 'Only differences' }));
  await page.keyboard.press('Space');
  await row(page, 'Steps').waitFor({ state: 'detached' });
  const different = ['Prompt', 'Identity', 'Identity version', 'Size', 'Seed', 'Outputs', 'Credits charged'];
  expect((await rowNames(page)).filter((name) => name !== 'Model version')).toEqual(different);
  await page.getByRole('button', { name: 'Swap' }).press('Enter');
  await page.getByRole('img', { name: `A: ${prompts.four}, image 3 of 4` }).waitFor();
  expect(await row(page, 'Seed').textContent()).toBe('Seed≠ Different97');
  await page.reload();
  await page.getByRole('img', { name: `A: ${prompts.four}, image 3 of 4` }).waitFor();
  await page.getByRole('link', { name: 'Use these settings of B' }).press('Enter');
  await screen(page, 'Playground');
  await page.getByText('The settings of a stored request are filled in').waitFor();
  expect(await promptField(page).inputValue()).toBe(prompts.cup);
  expect(complaints).toEqual([]);
});

test('on phones and desktops axe finds nothing, nothing is too wide, and one stands above the other', async () => {
  const { page } = await dashboard.visit(path(ids.cup, ids.four), { viewport: { width: 320, height: 740 } });
  await row(page, 'Size').waitFor();
  const place = async (name: string) => (await page.getByRole('region', { name }).boundingBox())!;
  const below = async () =>
    (await place('Request B')).y >= (await place('Request A')).y + (await place('Request A')).height;
  expect(await below()).toBe(true);
  await expectFits(page, 'a comparison on a small phone');
  await page.setViewportSize({ width: 1440, height: 900 });
  expect(await below()).toBe(false);
  await expectFits(page, 'a comparison on a desktop');
});

test('what can’t be compared is said: unknown, another account’s, failed, and not named', async () => {
  const { page } = await dashboard.visit(path(ids.foreign, ids.failed));
  await page.getByRole('heading', { name: 'Request A is not among your stored ones' }).waitFor();
  await page.getByRole('region', { name: 'Request B' }).getByText('No credits were charged.').waitFor();
  await expectAccessible(page, 'a comparison with nothing');
  await page.goto(`${dashboard.url}${path(ids.cup, 'nothing')}`);
  await page.getByRole('heading', { name: 'Request B is not among your stored ones' }).waitFor();
  await page.getByRole('img', { name: `A: ${prompts.cup}` }).waitFor();
  await page.goto(`${dashboard.url}history/compare?a=${ids.cup}`);
  await page.getByRole('heading', { name: 'Two requests are needed' }).waitFor();
});

test('a picture of the history becomes a reference image, and the record of what is made says so', async () => {
  const { page, complaints } = await dashboard.visit(`history/${ids.cup}`);
  await page.getByRole('link', { name: 'Use as reference' }).click();
  await page.getByText('The picture is added to the reference images').waitFor();
  expect(new URL(page.url()).search).toBe('');
  const added = page.getByRole('list', { name: 'Added images' }).getByRole('listitem');
  await added.filter({ hasText: /512 × 512/ }).waitFor();
  await askFor(page, 'the same cup in snow');
  await page.getByText('1 reference image', { exact: true }).waitFor();
  const made = new URL(page.url()).pathname.split('/').at(-1)!;
  const { keys } = dashboard.service.ready;
  const { body } = await dashboard.service.api({ path: `/generate/${made}`, key: keys.pro! });
  expect(body).toMatchObject({ type: 'reference', referenceImagesUsed: 1, identity: { name: 'citrine' } });

  // From the result, on the same page; twice the same picture is one.
  for (let i = 0; i < 2; i += 1) {
    // The message of the time before must not be taken for this one's.
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await page.getByRole('link', { name: 'Use the image as a reference' }).click();
    await page.getByText('The picture is added to the reference images').waitFor();
    expect(new URL(page.url()).pathname.endsWith(made)).toBe(true);
    expect(await added.count()).toBe(2);
  }
  expect(complaints).toEqual([]);
});

test('an identity that takes no reference images is not used for one: another is chosen', async () => {
  const { page } = await dashboard.visit(`history/${ids.four}`);
  await page.getByRole('button', { name: /^Show image 2/ }).click();
  let broken = true;
  await page.route(/\.png\?/, (route) =>
    broken && route.request().resourceType() === 'fetch' ? route.abort() : route.continue(),
  );
  await page.getByRole('link', { name: 'Use as reference' }).click();
  await page.getByText('The picture could not be loaded.').waitFor();
  broken = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page
    .getByText('aurora takes no reference images. citrine, which takes reference images, is chosen instead.')
    .waitFor();
  await expectAccessible(page, 'the message about another identity');
  await page
    .getByRole('list', { name: 'Added images' })
    .getByText(/1-seed8\.png/)
    .waitFor();
  await page.goto(`${dashboard.url}playground?reference=${ids.foreign}`);
  await page.getByText('Its request is not among your stored ones.').waitFor();
  await page.goto(`${dashboard.url}playground?reference=${ids.failed}`);
  await page.getByText('Its request has no such picture.').waitFor();
});
