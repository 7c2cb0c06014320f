import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  screen,
  useDashboard,
  hasFocus,
} from '../support/browser.ts';
import { generate, stored } from '../support/requests.ts';
import { until } from '../support/until.ts';

const dashboard = useDashboard();
const all = ['one hill', 'two hills', 'three hills', 'four hills', 'five hills'];
const ids: string[] = [];
const folder = mkdtempSync(join(tmpdir(), 'zip-'));

beforeAll(async () => {
  const { service } = dashboard;
  const { identities, keys } = service.ready;
  for (const [at, prompt] of all.toReversed().entries()) {
    const body = { identityId: identities.aurora, prompt, numOutputs: at === 0 ? 2 : 1 };
    const { status, headers } = await generate(service, keys.pro!, body);
    expect(status).toBe(200);
    ids.unshift(headers.get('x-request-id')!);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function isStored(id: string): Promise<boolean> {
  const { service } = dashboard;
  return stored(service, service.ready.keys.pro!, id).then(({ id: found }) => found === id);
}

function checked(page: Page): Promise<string[]> {
  return page.locator('main article input:checked').evaluateAll((boxes) =>
    boxes.map((box: any) => {
      const labelId = box.getAttribute('aria-labelledby');
      return (globalThis as any).document.getElementById(labelId).textContent;
    }),
  );
}

/** The names in a ZIP, as Python reads it. It fails where a checksum is wrong. */
function namesInZip(path: string): string[] {
  const program =
    'import sys, json, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print(json.dumps(z.namelist()))';
  return JSON.parse(execFileSync('python3', ['-c', program, path], { encoding: 'utf8' }));
}

function readInZip(path: string, name: string): Buffer {
  const program =
    'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))';
  return execFileSync('python3', ['-c', program, path, name]);
}

/** The browser's picker needs a person. A file of the browser's own file system stands in for what it gives. */
async function chooseOwnFile(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const { navigator, window } = globalThis as any;
    window.showSaveFilePicker = async ({ suggestedName }: { suggestedName: string }) => {
      window.savedName = suggestedName;
      const files = await navigator.storage.getDirectory();
      return files.getFileHandle('saved.zip', { create: true });
    };
  });
}

async function ownFile(page: Page): Promise<string> {
  const base64 = await page.evaluate(async () => {
    const files = await (globalThis as any).navigator.storage.getDirectory();
    const handle = await files.getFileHandle('saved.zip');
    return new (globalThis as any).Uint8Array(await (await handle.getFile()).arrayBuffer()).toBase64();
  });
  const path = join(folder, 'own.zip');
  writeFileSync(path, base64, 'base64');
  return path;
}

const day = () => new Date().toISOString().slice(0, 10);
const nameOf = (id: string, index = 0): string => `${day()}-aurora-${id.slice(-8)}-${index}.png`;

test('the images of a selection are saved as one ZIP, written to a file, and what failed is named', async () => {
  const { page } = await dashboard.visit('quickstart');
  await chooseOwnFile(page);
  await page.goto(`${dashboard.url}history`);
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  await page.getByRole('button', { name: 'Select all 5 loaded' }).click();
  // The first links have expired, and those of one request are refused for good.
  let refused = 0;
  const isImage = (url: URL): boolean => url.pathname.includes(ids[0]!) || url.pathname.includes(ids[1]!);
  await page.route(isImage, (route) => {
    if (
      route.request().resourceType() !== 'fetch' ||
      !new URL(route.request().url()).pathname.endsWith('.png')
    ) {
      return route.continue();
    }
    const isFirst = route.request().url().includes(ids[0]!) && refused > 0;
    refused += route.request().url().includes(ids[0]!) ? 1 : 0;
    return isFirst ? route.continue() : route.fulfill({ status: 403, body: '' });
  });
  await page.getByRole('button', { name: 'Download ZIP' }).click();
  await page.getByText('The ZIP has 5 of 6 images.').waitFor();
  await page.getByText(`${nameOf(ids[1]!)}: the image could not be loaded`).waitFor();
  expect(await page.evaluate(() => (globalThis as any).savedName)).toBe(`images-${day()}.zip`);
  const path = await ownFile(page);
  const images = [ids[0]!, ids[2]!, ids[3]!].map((id) => nameOf(id));
  const expected = [...images, nameOf(ids[4]!, 0), nameOf(ids[4]!, 1), 'missing.txt'];
  expect(namesInZip(path)).toEqual(expected);
  expect(readInZip(path, 'missing.txt').toString()).toContain(nameOf(ids[1]!));
  expect(readInZip(path, nameOf(ids[4]!, 1)).subarray(1, 4).toString()).toBe('PNG');
});

test('without the picker the images of one request are a download', async () => {
  const { page } = await dashboard.visit('quickstart');
  await page.addInitScript(() => delete (globalThis as any).showSaveFilePicker);
  await page.goto(`${dashboard.url}history/${ids[4]}`);
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'All as ZIP' }).click();
  const download = await saving;
  expect(download.suggestedFilename()).toBe(`images-${ids[4]!.slice(-8)}.zip`);
  const path = join(folder, 'download.zip');
  await download.saveAs(path);
  expect(namesInZip(path)).toEqual([nameOf(ids[4]!, 0), nameOf(ids[4]!, 1)]);
  await page.goto(`${dashboard.url}history/${ids[3]}`);
  await page.getByRole('button', { name: 'Download' }).waitFor();
  expect(await page.getByRole('button', { name: 'All as ZIP' }).count()).toBe(0);
});

test('a request that ends while the list is open is selected, saved and deleted like the others', async () => {
  const { page } = await dashboard.visit('quickstart');
  await page.addInitScript(() => delete (globalThis as any).showSaveFilePicker);
  const running = { status: 'PROCESSING', outputUrl: null, outputs: [], previews: [] };
  let hasEnded = false;
  // What the list says when it is fetched, and the newest request until it ends.
  await page.route('**/api/v1/generate?*', async (route) => {
    const { generations, ...rest } = await (await route.fetch()).json();
    await route.fulfill({
      json: { ...rest, generations: [{ ...generations[0], ...running }, ...generations.slice(1)] },
    });
  });
  await page.route(`**/api/v1/generate/${ids[0]}`, async (route) => {
    const answer = await (await route.fetch()).json();
    await route.fulfill({ json: hasEnded ? answer : { ...answer, ...running } });
  });
  await page.goto(`${dashboard.url}history`);
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  await page.getByRole('button', { name: 'Select all 4 loaded' }).waitFor();
  const newest = page.getByRole('checkbox', { name: all[0]! });
  expect(await newest.isDisabled()).toBe(true);
  hasEnded = true;
  await page.getByRole('button', { name: 'Select all 5 loaded' }).click();
  expect(await checked(page)).toEqual(all);
  await page.getByRole('button', { name: 'Select none' }).click();
  await newest.click();
  await page.getByText('1 selected').waitFor();
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download ZIP' }).click();
  const path = join(folder, 'ended.zip');
  await (await saving).saveAs(path);
  expect(namesInZip(path)).toEqual([nameOf(ids[0]!)]);
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('alertdialog', { name: 'Delete this request?' }).waitFor();
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
  await expectNoSidewaysScroll(page);
  await expectAccessible(page, 'a selection');
  await page.route(`**/generate/${ids[1]}`, (route) =>
    route.request().method() === 'DELETE'
      ? route.fulfill({ status: 500, json: { error: 'Something went wrong.', code: 'INTERNAL_ERROR' } })
      : route.continue(),
  );
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  const dialog = page.getByRole('alertdialog', { name: 'Delete 3 requests?' });
  await dialog.getByRole('button', { name: 'Delete for good' }).click();
  await dialog.getByText('1 request could not be deleted').waitFor();
  await dialog.getByText(/“two hills”: Something went wrong/).waitFor();
  await expectAccessible(page, 'a deletion that failed in part');
  await dialog.getByRole('button', { name: 'Close' }).click();
  expect(await checked(page)).toEqual([all[1]!]);
  expect(await Promise.all(ids.map(isStored))).toEqual([false, true, true, false, true]);
  await page.unroute(`**/generate/${ids[1]}`);
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('button', { name: 'Delete for good' }).click();
  await until('two requests are left', async () => (await page.getByRole('checkbox').count()) === 2);
  expect(await isStored(ids[1]!)).toBe(false);
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: all[2]! }).click();
  await screen(page, all[2]!);
});
