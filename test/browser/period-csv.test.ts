import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { expectFits, phone, useDashboard } from '../support/browser.ts';

const dashboard = useDashboard();
const pages = '**/api/v1/generate?*createdAfter=*';
const busy = { status: 429, json: { error: 'Too many requests.', code: 'RATE_LIMITED' } };

test('the period’s requests are saved as CSV, after the wait that a busy service asks for', async () => {
  const { aurora, flint } = dashboard.service.ready.identities;
  const made = await dashboard.make({ identityId: aurora, numOutputs: 2, prompt: '=a "calm", night' });
  const failed = await dashboard.make({ identityId: flint, prompt: 'a storm' });
  const { page, complaints } = await dashboard.visit('', { viewport: phone });
  const card = page.getByRole('region', { name: 'This period as CSV' });
  await card.waitFor();
  expect(await page.getByRole('table', { name: 'By key' }).textContent()).toContain('pro');
  let refusals = 0;
  await page.route(pages, (route) => {
    refusals += 1;
    if (refusals > 1) return route.continue();
    return route.fulfill({ ...busy, headers: { 'retry-after': '2' } });
  });
  const download = page.waitForEvent('download');
  await card.getByRole('button', { name: 'Save requests' }).focus();
  await page.keyboard.press('Enter');
  await card.getByText(/going on in 2 s/).waitFor();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^requests-\d{4}-\d\d-\d\d-\w{4}\.csv$/);
  const text = readFileSync((await file.path())!, 'utf8');
  expect(text.startsWith('\uFEFFrequest id,created,completed,status,type,identity,key,')).toBe(true);
  const lines = text.split('\r\n');
  const line = (id: string) => lines.find((one) => one.startsWith(id))!;
  expect(line(made)).toMatch(
    /,COMPLETED,Text to image,aurora,pro,\d+,\d+,2,2,,"'=a ""calm"", night",,\d+,20,7\.5,png,2,\d+,[\w-]+$/,
  );
  expect(line(failed)).toMatch(/,FAILED,.*,pro,\d+,\d+,1,0,GENERATION_FAILED,a storm,,\d+,20,7\.5,png,/);
  await card.getByText(/was saved, with \d+ requests/).waitFor();
  const sums = page.waitForEvent('download');
  await card.getByRole('button', { name: 'Save sums' }).click();
  expect(readFileSync((await (await sums).path())!, 'utf8')).toMatch(/\r\nkey id,key,requests,credits\r\n/);
  await expectFits(page, 'the overview after the CSV was saved');
  expect(complaints.filter((complaint) => !complaint.includes('429'))).toEqual([]);
});

test('a CSV that is cancelled asks for nothing more and saves nothing', async () => {
  const { page } = await dashboard.visit('');
  const card = page.getByRole('region', { name: 'This period as CSV' });
  await page.route(pages, (route) => route.fulfill({ ...busy, headers: { 'retry-after': '60' } }));
  let downloads = 0;
  page.on('download', () => (downloads += 1));
  await card.getByRole('button', { name: 'Save requests' }).click();
  await card.getByText(/going on in 60 s/).waitFor();
  await card.getByRole('button', { name: 'Cancel' }).click();
  await card.getByRole('button', { name: 'Save requests' }).waitFor();
  expect([await card.getByRole('alert').count(), downloads]).toEqual([0, 0]);
});
