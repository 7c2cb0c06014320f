import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { expectAccessible, expectNoSidewaysScroll, phone, useDashboard } from '../support/browser.ts';
import { generate } from '../support/requests.ts';

const dashboard = useDashboard();

test('the period’s requests are saved as CSV, after the wait that a busy service asks for', async () => {
  const { service } = dashboard;
  const { aurora, flint } = service.ready.identities;
  const { headers } = await generate(service, service.ready.keys.pro!, {
    identityId: aurora,
    numOutputs: 2,
    prompt: '=a "calm", night',
  });
  const failed = await generate(service, service.ready.keys.pro!, { identityId: flint, prompt: 'a storm' });
  expect(failed.status).toBe(500);
  const { page, complaints } = await dashboard.visit('', { viewport: phone });
  const card = page.getByRole('region', { name: 'Requests as CSV' });
  await card.waitFor();
  expect(await page.getByRole('table', { name: 'By key' }).textContent()).toContain('pro');
  let refusals = 0;
  await page.route('**/api/v1/generate?*createdAfter=*', (route) => {
    refusals += 1;
    if (refusals > 1) return route.continue();
    const json = { error: 'Too many requests.', code: 'RATE_LIMITED' };
    return route.fulfill({ status: 429, headers: { 'retry-after': '2' }, json });
  });
  const download = page.waitForEvent('download');
  await card.getByRole('button', { name: 'Save CSV' }).focus();
  await page.keyboard.press('Enter');
  await card.getByText(/going on in 2 s/).waitFor();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^requests-\d{4}-\d\d-\d\d-\w{4}\.csv$/);
  const text = readFileSync((await file.path())!, 'utf8');
  expect(text.startsWith('\uFEFFrequest id,created,completed,status,type,identity,key,')).toBe(true);
  const lines = text.split('\r\n');
  const line = (start: string | null) => lines.find((one) => one.startsWith(start!))!;
  expect(line(headers.get('x-request-id'))).toMatch(
    /,COMPLETED,Text to image,aurora,pro,\d+,\d+,2,2,,"'=a ""calm"", night"$/,
  );
  expect(line(failed.headers.get('x-request-id'))).toMatch(
    /,FAILED,.*,pro,\d+,\d+,1,0,GENERATION_FAILED,a storm$/,
  );
  await card.getByText(/was saved, with \d+ requests/).waitFor();
  await expectNoSidewaysScroll(page);
  await expectAccessible(page, 'the overview after the CSV was saved');
  expect(complaints.filter((complaint) => !complaint.includes('429'))).toEqual([]);
});

test('a CSV that is cancelled asks for nothing more and saves nothing', async () => {
  const { page } = await dashboard.visit('');
  const card = page.getByRole('region', { name: 'Requests as CSV' });
  const json = { error: 'Too many requests.', code: 'RATE_LIMITED' };
  await page.route('**/api/v1/generate?*createdAfter=*', (route) =>
    route.fulfill({ status: 429, headers: { 'retry-after': '60' }, json }),
  );
  let downloads = 0;
  page.on('download', () => (downloads += 1));
  await card.getByRole('button', { name: 'Save CSV' }).click();
  await card.getByText(/going on in 60 s/).waitFor();
  await card.getByRole('button', { name: 'Cancel' }).click();
  await card.getByRole('button', { name: 'Save CSV' }).waitFor();
  expect(await card.getByRole('alert').count()).toBe(0);
  expect(downloads).toBe(0);
});
