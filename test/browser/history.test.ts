import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible, expectFits, hasFocus, phone, screen, useDashboard } from '../support/browser.ts';
import { until } from '../support/until.ts';

const dashboard = useDashboard();
const all = ['a RED bicycle', 'blue hills', 'A red lighthouse', 'four hills', 'five hills'];
const red = [all[0]!, all[2]!];
const ids: string[] = [];
const folder = mkdtempSync(join(tmpdir(), 'zip-'));

beforeAll(async () => {
  const identityId = dashboard.service.ready.identities.aurora;
  for (const [at, prompt] of all.toReversed().entries()) {
    ids.unshift(await dashboard.make({ identityId, prompt, numOutputs: at === 0 ? 2 : 1 }));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Waits until the list has exactly these prompts. */
function lists(page: Page, expected: string[]): Promise<void> {
  const links = page.locator('main article a');
  return until(`the list is ${expected.join(', ')}`, async () => {
    // A page that is loaded again signs in, and has no list meanwhile.
    const shown = await links.allTextContents().catch(() => []);
    return JSON.stringify(shown) === JSON.stringify(expected);
  });
}

function checked(page: Page): Promise<string[]> {
  return page.locator('main article input:checked').evaluateAll((boxes) =>
    boxes.map((box: any) => {
      const labelId = box.getAttribute('aria-labelledby');
      return (globalThis as any).document.getElementById(labelId).textContent;
    }),
  );
}

/** The files of a ZIP, as Python reads it. It fails where a checksum is wrong. */
function filesInZip(path: string): Map<string, string> {
  const program =
    'import sys, json, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(json.dumps([[name, z.read(name).decode("latin1")] for name in z.namelist()]))';
  const options = { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const;
  return new Map(JSON.parse(execFileSync('python3', ['-c', program, path], options)));
}

interface SavedZip {
  name: string;
  files: string[];
  contents: Map<string, string>;
}

async function savedZip(page: Page, button: string): Promise<SavedZip> {
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: button }).click();
  const download = await saving;
  const path = join(folder, 'download.zip');
  await download.saveAs(path);
  const contents = filesInZip(path);
  return { name: download.suggestedFilename(), files: [...contents.keys()], contents };
}

const day = () => new Date().toISOString().slice(0, 10);
const nameOf = (id: string, index = 0): string => `${day()}-aurora-${id.slice(-8)}-${index}.png`;

test('a search stands in the address, Back undoes it, and clearing shows everything', async () => {
  const { page, complaints } = await dashboard.visit('history');
  await lists(page, all);
  const field = page.getByRole('searchbox', { name: 'Words in the prompt' });
  await field.fill(' red ');
  await page.keyboard.press('Enter');
  await lists(page, red);
  expect(new URL(page.url()).search).toBe('?search=red');
  await page.reload();
  await lists(page, red);
  await field.fill('red LIGHT');
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await lists(page, [all[2]!]);
  await page.goBack();
  await lists(page, red);
  // The arrow keys go through the filtered list.
  await page.getByRole('link', { name: all[0]! }).click();
  await screen(page, all[0]!);
  expect(await page.title()).toContain(all[0]!);
  await page.keyboard.press('ArrowRight');
  await screen(page, all[2]!);
  await page.keyboard.press('ArrowLeft');
  await screen(page, all[0]!);
  await page.goBack();
  await lists(page, red);
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
  await expectFits(page, 'a history where nothing matches');
  await page.getByRole('combobox', { name: 'Made by' }).selectOption({ index: 2 });
  await lists(page, all);
  await time.selectOption('Choose days');
  await page.getByLabel('To', { exact: true }).fill('2026-01-02');
  await page.getByRole('heading', { name: 'No request matches these filters' }).waitFor();
  await time.selectOption('Last 7 days');
  await lists(page, all);
  await expectFits(page, 'a history with filters');
  await page.getByRole('button', { name: 'Filters (2)' }).click();
  expect(await time.isVisible()).toBe(false);
  // Those that are chosen are shown at once.
  await page.reload();
  await time.waitFor();
});

test('the images of a selection are saved as one ZIP with prompts and parameters, and what failed is named', async () => {
  const { page } = await dashboard.visit('history');
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  await page.getByRole('button', { name: 'Select all 5' }).click();
  // The first links have expired, and those of one request are refused for good.
  let hasExpired = true;
  await page.route(/\.png\?/, (route) => {
    const isOf = (id: string) => route.request().url().includes(id);
    const isRefused = isOf(ids[1]!) || (isOf(ids[0]!) && hasExpired);
    if (route.request().resourceType() !== 'fetch' || !isRefused) return route.continue();
    if (isOf(ids[0]!)) hasExpired = false;
    return route.fulfill({ status: 403, body: '' });
  });
  // Nor does the code that makes the file come at once.
  const code = /image-archive/;
  await page.route(code, (route) => route.abort());
  await page.getByRole('button', { name: 'Download ZIP' }).click();
  await page.getByText('5 requests could not be saved whole').waitFor();
  await page.unroute(code);
  const { name, files, contents } = await savedZip(page, 'Try again');
  await page.getByText('1 request could not be saved whole').waitFor();
  await page.getByText('“blue hills”: the image could not be loaded').waitFor();
  await expectAccessible(page, 'a job that failed in part');
  expect(name).toBe(`images-${day()}.zip`);
  const images = [ids[0]!, ids[2]!, ids[3]!].map((id) => nameOf(id));
  const last = [nameOf(ids[4]!, 0), nameOf(ids[4]!, 1)];
  expect(files).toEqual([...images, ...last, 'requests.csv', 'missing.txt']);
  expect(contents.get('missing.txt')).toContain(nameOf(ids[1]!));
  expect(contents.get(last[1]!)).toMatch(/^.PNG/);
  for (const prompt of all) expect(contents.get('requests.csv')).toContain(prompt);
});

test('the images of one request are a download, with its prompt and parameters', async () => {
  const { page } = await dashboard.visit(`history/${ids[4]}`);
  const files = [nameOf(ids[4]!, 0), nameOf(ids[4]!, 1), 'requests.csv'];
  expect(await savedZip(page, 'All as ZIP')).toMatchObject({
    name: `images-${ids[4]!.slice(-8)}.zip`,
    files,
  });
  await page.goto(`${dashboard.url}history/${ids[3]}`);
  await page.getByRole('button', { name: 'Download' }).waitFor();
  expect(await page.getByRole('button', { name: 'All as ZIP' }).count()).toBe(0);
});

test('a request that ends while the list is open is selected, saved and deleted like the others', async () => {
  const { page } = await dashboard.visit('quickstart');
  const running = { status: 'PROCESSING', outputUrl: null, outputs: [], previews: [] };
  let hasEnded = false;
  // What the list says when it is fetched, and the newest request until it ends.
  await page.route('**/api/v1/generate?*', async (route) => {
    const { generations, ...rest } = await (await route.fetch()).json();
    Object.assign(generations[0], running);
    await route.fulfill({ json: { ...rest, generations } });
  });
  await page.route(`**/api/v1/generate/${ids[0]}`, async (route) => {
    const answer = await (await route.fetch()).json();
    await route.fulfill({ json: hasEnded ? answer : { ...answer, ...running } });
  });
  await page.goto(`${dashboard.url}history`);
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  await page.getByRole('button', { name: 'Select all 4' }).waitFor();
  const newest = page.getByRole('checkbox', { name: all[0]! });
  expect(await newest.isDisabled()).toBe(true);
  hasEnded = true;
  await page.getByRole('button', { name: 'Select all 5' }).click();
  expect(await checked(page)).toEqual(all);
  await page.getByRole('button', { name: 'Select none' }).click();
  await newest.click();
  await page.getByText('1 selected').waitFor();
  expect((await savedZip(page, 'Download ZIP')).files).toEqual([nameOf(ids[0]!), 'requests.csv']);
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('alertdialog', { name: 'Delete this request?' }).waitFor();
});

test('one request is deleted from its page, after a question, and the list has it no more', async () => {
  const identityId = dashboard.service.ready.identities.aurora;
  const id = await dashboard.make({ identityId, prompt: 'a hill too many' });
  const { page, complaints } = await dashboard.visit('history', { viewport: phone });
  await page.getByRole('link', { name: 'a hill too many' }).click();
  const remove = page.getByRole('button', { name: 'Delete' });
  await remove.click();
  const dialog = page.getByRole('alertdialog', { name: 'Delete this request?' });
  await dialog.getByText(/links to the image stop working.*Credits stay spent.*can’t be undone/).waitFor();
  await expectFits(page, 'the question before a request is deleted');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await until('the focus is back', () => hasFocus(remove));
  expect(await dashboard.isStored(id)).toBe(true);
  await remove.click();
  await dialog.getByRole('button', { name: 'Delete for good' }).click();
  await screen(page, 'History');
  await lists(page, all);
  await page.getByText('The request was deleted.').waitFor();
  expect(await dashboard.isStored(id)).toBe(false);
  await page.goForward();
  await page.getByRole('heading', { name: 'There is no request with this id' }).waitFor();
  expect(complaints.filter((text) => !text.includes('404'))).toEqual([]);
});

test('requests are selected with the keyboard and with Shift, and those that can’t be deleted stay selected', async () => {
  const { page } = await dashboard.visit('history', { viewport: { width: 320, height: 640 } });
  const select = page.getByRole('button', { name: 'Select', exact: true });
  await select.click();
  await page.getByRole('button', { name: 'Leave the selection' }).press('Enter');
  expect(await page.getByRole('checkbox').count()).toBe(0);
  expect(await hasFocus(select)).toBe(true);
  await page.keyboard.press('Enter');
  await page.getByRole('checkbox', { name: all[0]! }).focus();
  await page.keyboard.press('Space');
  await page.getByText('1 selected').waitFor();
  expect(await page.getByRole('link', { name: 'Compare' }).count()).toBe(0);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await page.getByText('2 selected').waitFor();
  const compare = await page.getByRole('link', { name: 'Compare' }).getAttribute('href');
  expect(compare).toBe(`/history/compare?a=${ids[0]}&b=${ids[1]}`);
  await page.getByRole('checkbox', { name: all[3]! }).click({ modifiers: ['Shift'] });
  expect(await checked(page)).toEqual(all.slice(0, 4));
  await page.getByRole('checkbox', { name: all[2]! }).click();
  expect(await checked(page)).toEqual(all.toSpliced(4, 1).toSpliced(2, 1));
  await expectFits(page, 'a selection');
  await page.route(`**/generate/${ids[1]}`, (route) =>
    route.request().method() === 'DELETE'
      ? route.fulfill({ status: 500, json: { error: 'Something went wrong.', code: 'INTERNAL_ERROR' } })
      : route.continue(),
  );
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  const dialog = page.getByRole('alertdialog', { name: 'Delete 3 requests?' });
  await dialog.getByRole('button', { name: 'Delete for good' }).click();
  await page.getByText('1 request could not be deleted').waitFor();
  await page.getByText(/“blue hills”: Something went wrong/).waitFor();
  await expectFits(page, 'a job that failed in part, on a small phone');
  expect(await Promise.all(ids.map(dashboard.isStored))).toEqual([false, true, true, false, true]);
  await page.unroute(`**/generate/${ids[1]}`);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('The request was deleted.').waitFor();
  expect(await dashboard.isStored(ids[1]!)).toBe(false);
});

test('all that match are deleted at 60 a minute, and a reload in the middle loses none', async () => {
  const { page } = await dashboard.visit('history');
  // A page of the list has two requests, and the service wants a wait before the second deletion.
  await page.route('**/api/v1/generate?*', (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set('limit', '1');
    return route.continue({ url: url.href });
  });
  await page.reload();
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  // The list loads its second page by itself, and one button becomes the other.
  await page.getByRole('button', { name: /^Select all (that match|2)$/ }).click();
  await page.getByText('2 selected').waitFor();
  let refusals = 0;
  await page.route('**/api/v1/generate/*', (route) => {
    if (route.request().method() !== 'DELETE' || refusals++ === 0) return route.continue();
    const headers = { 'retry-after': '30', 'access-control-expose-headers': '*' };
    return route.fulfill({
      status: 429,
      headers,
      json: { error: 'Too many requests.', code: 'RATE_LIMITED' },
    });
  });
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('button', { name: 'Delete for good' }).click();
  await page.getByText('Deleting: 1 of 2 requests').waitFor();
  await until('the second deletion was refused', async () => refusals > 1);
  await page.unroute('**/api/v1/generate/*');
  // The list is read before the deletions, and its answer comes after them.
  const { promise: areDeleted, resolve: answerList } = Promise.withResolvers<void>();
  await page.route('**/api/v1/generate?*', async (route) => {
    const response = await route.fetch();
    await areDeleted;
    await route.fulfill({ response });
  });
  const read = page.waitForRequest(/\/generate\?/);
  await page.reload();
  await read;
  await page.getByText('2 requests were deleted.').waitFor();
  answerList();
  await page.getByText('Your images will be here').waitFor();
  expect(await Promise.all(ids.map(dashboard.isStored))).toEqual(ids.map(() => false));
});
