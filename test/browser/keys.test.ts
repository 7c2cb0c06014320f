import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { desktop, openBrowser, phone, screen, visitSignedIn } from '../support/browser.ts';
import { small } from '../support/requests.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';

let browser: Browser;
let service: RunningService;

beforeAll(async () => {
  [browser, service] = await Promise.all([openBrowser(), startService()]);
});
afterAll(async () => {
  await Promise.all([browser.close(), service.end()]);
  removeFolder(service.dataDir);
});

test.each([
  ['a desktop', desktop],
  ['a phone', phone],
])(
  'on %s a key is made, shown once, used, revoked by its name, and then refused',
  async (where, viewport) => {
    const name = `app on ${where}`;
    const { page, complaints, close } = await visitSignedIn(browser, service, 'keys', { viewport });
    await screen(page, 'Keys');
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const key = (await dialog.getByRole('textbox', { name: 'Your new key' }).textContent())!;
    expect(key).toMatch(/^svc_live_[0-9A-Za-z]{38}$/);
    await dialog.getByRole('button', { name: 'Copy key' }).click();
    const copied = await page.evaluate(() => (globalThis as any).navigator.clipboard.readText());
    expect(copied).toBe(key);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(key);

    const body = { ...small, identityId: service.ready.identities.aurora };
    expect((await service.api({ path: '/generate', key, body })).status).toBe(200);

    await page.reload();
    await screen(page, 'Keys');
    const entry = page
      .locator('main')
      .getByRole(viewport === phone ? 'listitem' : 'row')
      .filter({ hasText: name });
    expect(await entry.textContent()).toContain(key.slice(0, 13));
    expect(await entry.textContent()).toContain('just now');
    await entry.getByRole('button', { name: 'Revoke' }).click();
    const question = page.getByRole('alertdialog', { name: `Revoke “${name}”?` });
    await question.getByRole('button', { name: 'Revoke key' }).click();
    await question.waitFor({ state: 'detached' });

    const refused = await service.api({ path: '/identities', key });
    expect([refused.status, refused.body.code]).toEqual([401, 'INVALID_API_KEY']);
    await page.getByRole('tab', { name: /Revoked or expired/ }).click();
    expect(await entry.textContent()).toContain('Revoked');
    expect(complaints).toEqual([]);
    await close();
  },
);

test('a key that nobody copied is not lost by a slip', async () => {
  const { page, close } = await visitSignedIn(browser, service, 'keys?new=1');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('not copied');
  await page.keyboard.press('Enter');
  await dialog.getByRole('textbox', { name: 'Your new key' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('alertdialog', { name: 'Close without copying?' }).waitFor();
  await page.getByRole('button', { name: 'Go back' }).click();
  expect(await dialog.getByRole('textbox', { name: 'Your new key' }).textContent()).toMatch(/^svc_live_/);
  await close();
});

test('what the API refuses is said in the dialog, in its own sentence', async () => {
  const { page, close } = await visitSignedIn(browser, service, 'keys?new=1');
  const sentence = 'The license lic_1 gets no keys: it has ended.';
  await page.route('**/api/v1/keys', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ status: 403, json: { error: sentence, code: 'LICENSE_INACTIVE' } })
      : route.continue(),
  );
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('refused');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  expect(await dialog.getByRole('alert').textContent()).toContain(sentence);
  await close();
});
