import { beforeAll, expect, test } from '@jest/globals';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  lists,
  phone,
  screen,
  useDashboard,
} from '../support/browser.ts';
import { generate } from '../support/requests.ts';

const dashboard = useDashboard();
const all = ['a RED bicycle', 'Blue hills at dawn', 'A red lighthouse'];

beforeAll(async () => {
  const { identities, keys } = dashboard.service.ready;
  for (const prompt of all.toReversed()) {
    const { status } = await generate(dashboard.service, keys.pro!, {
      identityId: identities.aurora,
      prompt,
    });
    expect(status).toBe(200);
  }
});

test('a search stands in the address, Back undoes it, and clearing shows everything', async () => {
  const { page, complaints } = await dashboard.visit('history');
  await lists(page, all);
  const field = page.getByRole('searchbox', { name: 'Words in the prompt' });
  await field.fill(' red ');
  await page.keyboard.press('Enter');
  await lists(page, [all[0]!, all[2]!]);
  expect(new URL(page.url()).search).toBe('?search=red');
  await page.reload();
  await lists(page, [all[0]!, all[2]!]);
  await field.fill('red LIGHT');
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await lists(page, [all[2]!]);
  await page.goBack();
  await lists(page, [all[0]!, all[2]!]);
  await page.getByRole('combobox', { name: 'Time' }).selectOption('Today');
  await page.getByRole('button', { name: 'Clear 2 filters' }).click();
  await lists(page, all);
  expect(new URL(page.url()).search).toBe('');
  expect(complaints).toEqual([]);
});

test('requests are found by who made them and by day, and where none is, the page says what to do', async () => {
  const { page } = await dashboard.visit('history', { viewport: phone });
  // A phone shows them when they are asked for.
  const time = page.getByRole('combobox', { name: 'Time' });
  await page.getByRole('button', { name: 'Filters', exact: true }).click();
  await page.getByRole('combobox', { name: 'Made by' }).selectOption('Playground');
  await page.getByRole('heading', { name: 'No request matches these filters' }).waitFor();
  await expectAccessible(page, 'a history where nothing matches');
  await page.getByRole('combobox', { name: 'Made by' }).selectOption({ index: 2 });
  await lists(page, all);
  await time.selectOption('Choose days');
  await page.getByLabel('To', { exact: true }).fill('2026-01-02');
  await page.getByRole('heading', { name: 'No request matches these filters' }).waitFor();
  await expectNoSidewaysScroll(page);
  await time.selectOption('Last 7 days');
  await lists(page, all);
  await expectAccessible(page, 'a history with filters');
  await expectNoSidewaysScroll(page);
  await page.getByRole('button', { name: 'Filters (2)' }).click();
  expect(await time.isVisible()).toBe(false);
  // Those that are chosen are shown at once.
  await page.reload();
  await time.waitFor();
});

test('the arrow keys go through the filtered list, and the prompt is the title', async () => {
  const { page } = await dashboard.visit('history?search=red');
  await page.getByRole('link', { name: all[0]! }).click();
  await screen(page, all[0]!);
  expect(await page.title()).toContain(all[0]!);
  await page.keyboard.press('ArrowRight');
  await screen(page, all[2]!);
  await page.getByText('Made by').waitFor();
  await page.keyboard.press('ArrowLeft');
  await screen(page, all[0]!);
  await page.goBack();
  await lists(page, [all[0]!, all[2]!]);
});
