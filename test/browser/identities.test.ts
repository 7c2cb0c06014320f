import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  bytesOf,
  chooseLicense,
  expectAccessible,
  expectFits,
  goTo,
  isCopied,
  naturalWidth,
  phone,
  promptField,
  screen,
  useDashboard,
} from '../support/browser.ts';
import { licenseStore } from '../../shared/licenses/store.ts';
import { objectsOf } from '../support/objects.ts';
import { tableOf } from '../support/grants.ts';
import { demoSamples } from '../../local/demo-data.ts';
import { until } from '../support/until.ts';

const dashboard = useDashboard(() => [], { samples: true });
const identities = () => dashboard.service.ready.identities;

async function samplesOf(key: string): Promise<Record<string, any[]>> {
  const { ready, api } = dashboard.service;
  const { body } = await api({ path: '/identities', key: ready.keys[key]! });
  return Object.fromEntries(body.identities.map(({ name, samples }: any) => [name, samples]));
}

beforeAll(async () => {
  // They are made one identity after the other, and this one is the last.
  const areMade = async () => (await samplesOf('pro')).harbor!.length > 0;
  await until('all samples are made', areMade, 120_000, 1000);
});

test('the first start makes the samples of each identity that can make images, and no license pays for them', async () => {
  const shown = { ...(await samplesOf('pro')), ...(await samplesOf('specialist')) };
  for (const name of Object.keys(identities())) {
    const prompts = (samples: { prompt: string }[] = []) => samples.map(({ prompt }) => prompt);
    expect([name, prompts(shown[name])]).toEqual([name, prompts(demoSamples[name])]);
  }
  const { ready, dataDir } = dashboard.service;
  const license = (await licenseStore(tableOf(dataDir)).get(ready.licenses.pro!))!;
  expect(objectsOf(dataDir, license)).toEqual([]);
});

const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement } = (globalThis as any).document;
    return activeElement.getAttribute('aria-label') ?? activeElement.textContent;
  });

test('by keyboard alone: from the gallery to an identity, through its samples, and into the playground', async () => {
  const { page, complaints } = await dashboard.visit('identities');
  await screen(page, 'Identities');
  await page.getByRole('link', { name: 'aurora' }).focus();
  await page.keyboard.press('Enter');
  await screen(page, 'aurora');
  const [first, second] = demoSamples.aurora!;
  expect(await naturalWidth(page, first!.prompt)).toBe(first!.widthPx);
  await page.getByRole('button', { name: /^Show sample 1/ }).focus();
  await page.keyboard.press('ArrowRight');
  expect(await focused(page)).toBe(`Show sample 2: ${second!.prompt}`);
  expect(await naturalWidth(page, second!.prompt)).toBe(second!.widthPx);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  expect(await focused(page)).toMatch(/^Show sample 4/);
  await page.getByRole('button', { name: "Copy the identity's id" }).focus();
  await page.keyboard.press('Enter');
  await isCopied(page, identities().aurora!);
  await page.getByRole('link', { name: 'Try this prompt' }).focus();
  await page.keyboard.press('Enter');
  await screen(page, 'Playground');
  const { prompt } = demoSamples.aurora![3]!;
  await until('the prompt is filled in', async () => (await promptField(page).inputValue()) === prompt);
  await page.getByRole('button', { name: /^Identity aurora/ }).waitFor();
  expect(new URL(page.url()).search).toBe('');
  expect(complaints).toEqual([]);
});

test('the gallery is narrowed by words and to those that take product photos, and says which licenses include one', async () => {
  const { page } = await dashboard.visit('identities');
  const cards = page.getByRole('list', { name: 'Identities' }).getByRole('article');
  await cards.nth(7).waitFor();
  expect(await cards.count()).toBe(8);
  await page.getByText('Not in the chosen license, but in').waitFor();
  await page.getByRole('button', { name: 'Takes product photos' }).click();
  await page.getByText('1 identity', { exact: true }).waitFor();
  expect(await cards.allTextContents()).toEqual([expect.stringContaining('citrine')]);
  // The choice is in the address.
  await page.reload();
  await page.getByText('1 identity', { exact: true }).waitFor();
  const field = page.getByRole('searchbox', { name: 'Words of an identity' });
  await field.pressSequentially('aurora ');
  await page.getByRole('heading', { name: 'No identity matches' }).waitFor();
  await expectAccessible(page, 'a gallery where nothing matches');
  await page.getByRole('button', { name: 'Takes product photos' }).click();
  await page.getByText('1 identity', { exact: true }).waitFor();
  expect(await cards.allTextContents()).toEqual([expect.stringContaining('aurora')]);
  expect(new URL(page.url()).search).toBe('?search=aurora');
  expect(await field.inputValue()).toBe('aurora ');
  await page.reload();
  await page.getByText('1 identity', { exact: true }).waitFor();
  // A link to the whole gallery shows the whole, and Back what was searched.
  await goTo(page, 'Identities');
  await cards.nth(7).waitFor();
  expect(await field.inputValue()).toBe('');
  await page.goBack();
  await page.getByText('1 identity', { exact: true }).waitFor();
  expect(await field.inputValue()).toBe('aurora');
});

test('one that the chosen license does not include is not offered for use until another is chosen', async () => {
  const { page } = await dashboard.visit(`identities/${identities().drift}`);
  await screen(page, 'drift');
  await chooseLicense(page, 'Enterprise');
  const use = page.getByRole('link', { name: 'Use in the playground' });
  await page.getByText('The chosen license does not include it.').waitFor();
  expect(await use.count()).toBe(0);
  await page.getByRole('button', { name: /^Choose / }).click();
  await use.click();
  await page.getByRole('button', { name: /^Identity drift/ }).waitFor();
});

test('an identity that is unknown leads to all of them, and one without samples and a model is not offered for use', async () => {
  const { page } = await dashboard.visit('identities/nobody');
  await screen(page, 'There is no such identity');
  await expectAccessible(page, 'an identity that is unknown');
  await page.getByRole('link', { name: 'Show all identities' }).click();
  await screen(page, 'Identities');
  await page.getByRole('link', { name: 'ember' }).click();
  await page.getByRole('heading', { name: 'No samples yet' }).waitFor();
  await page.getByText('It has no active model right now').waitFor();
  expect(await page.getByRole('link', { name: 'Use in the playground' }).count()).toBe(0);
});

test('from 320 to 1440 px axe finds nothing in both themes, and nothing is too wide', async () => {
  const { page } = await dashboard.visit('identities');
  const check = async (where: string) => {
    for (const width of [320, 1440]) {
      await page.setViewportSize({ ...phone, width });
      await expectFits(page, `${where} at ${width} px`);
    }
  };
  await check('the gallery');
  await page.getByRole('link', { name: 'citrine' }).click();
  await screen(page, 'citrine');
  await check('an identity');
  await page.goto(`${dashboard.url}playground`);
  await page.getByRole('button', { name: /^Identity/ }).click();
  const shown = page.getByRole('menuitemradio', { name: /^basalt/ }).locator('img');
  await shown.waitFor();
  await check("the playground's identities");
  expect(await shown.isVisible()).toBe(true);
});

test('the gallery loads thumbnails only, and nothing of them when it is loaded again', async () => {
  const { page } = await dashboard.visit('nowhere');
  const [first, again] = await bytesOf(page, `${dashboard.url}identities`, 5);
  expect(first).toBeLessThanOrEqual(400_000);
  expect(again).toBeLessThanOrEqual(50_000);
});
