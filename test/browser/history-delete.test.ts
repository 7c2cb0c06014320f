import { beforeAll, expect, test } from '@jest/globals';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  lists,
  phone,
  screen,
  useDashboard,
} from '../support/browser.ts';
import { generate, stored } from '../support/requests.ts';

const dashboard = useDashboard();
const all = ['a first hill', 'a second hill', 'a third hill', 'a fourth hill'];
const ids: string[] = [];

beforeAll(async () => {
  for (const prompt of all.toReversed()) ids.unshift(await make(prompt));
});

async function make(prompt: string): Promise<string> {
  const { identities, keys } = dashboard.service.ready;
  const body = { identityId: identities.aurora, prompt };
  const { status, headers } = await generate(dashboard.service, keys.pro!, body);
  expect(status).toBe(200);
  return headers.get('x-request-id')!;
}

function isStored(id: string): Promise<boolean> {
  const { service } = dashboard;
  return stored(service, service.ready.keys.pro!, id).then(({ id: found }) => found === id);
}

test('one request is deleted from its page, after a question, and the list has it no more', async () => {
  const { page, complaints } = await dashboard.visit('history', { viewport: phone });
  await page.getByRole('link', { name: all[1]! }).click();
  await screen(page, all[1]!);
  const remove = page.getByRole('button', { name: 'Delete' });
  await remove.click();
  const dialog = page.getByRole('alertdialog', { name: 'Delete this request?' });
  await dialog.getByText(/links to the image stop working.*Credits stay spent.*can’t be undone/).waitFor();
  await expectAccessible(page, 'the question before a request is deleted');
  await expectNoSidewaysScroll(page);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(await isStored(ids[1]!)).toBe(true);
  await remove.click();
  await dialog.getByRole('button', { name: 'Delete for good' }).click();
  await screen(page, 'History');
  await lists(page, all.toSpliced(1, 1));
  await page.getByText('The request was deleted.').waitFor();
  expect(await isStored(ids[1]!)).toBe(false);
  expect(await isStored(ids[0]!)).toBe(true);
  await page.goForward();
  await page.getByRole('heading', { name: 'There is no request with this id' }).waitFor();
  expect(complaints.filter((text) => !text.includes('404'))).toEqual([]);
});
