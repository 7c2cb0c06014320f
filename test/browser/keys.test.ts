import { expect, test } from '@jest/globals';
import { desktop, phone, screen, useDashboard } from '../support/browser.ts';
import { small } from '../support/requests.ts';
import { until } from '../support/until.ts';

const dashboard = useDashboard();

test.each([
  ['a desktop', desktop],
  ['a phone', phone],
])('on %s a key is made, shown once, used, revoked by its name, and refused', async (where, viewport) => {
  const { service } = dashboard;
  const name = `app on ${where}`;
  const { page, complaints } = await dashboard.visit('keys', { viewport });
  await screen(page, 'Keys');
  await page.getByRole('button', { name: 'Create key' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByRole('button', { name: 'Create key' }).click();
  const key = (await dialog.getByRole('textbox', { name: 'Your new key' }).textContent())!;
  expect(key).toMatch(/^svc_live_[0-9A-Za-z]{38}$/);
  await dialog.getByRole('button', { name: 'Copy key' }).click();
  const copied = () => page.evaluate(() => (globalThis as any).navigator.clipboard.readText());
  await until('the key is copied', async () => (await copied()) === key);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await page.content()).not.toContain(key);

  const body = { ...small, identityId: service.ready.identities.aurora };
  expect((await service.api({ path: '/generate', key, body })).status).toBe(200);

  await page.reload();
  await screen(page, 'Keys');
  const entry = page
    .getByRole('tabpanel')
    .getByRole(viewport === phone ? 'listitem' : 'row')
    .filter({ hasText: name });
  expect(await entry.textContent()).toContain(key.slice(0, 13));
  // The time of the last use; of other times the list shows the date.
  expect(await entry.textContent()).toMatch(/just now|ago/);
  await entry.getByRole('button', { name: 'Revoke' }).click();
  const question = page.getByRole('alertdialog', { name: `Revoke “${name}”?` });
  await question.getByRole('button', { name: 'Revoke key' }).click();
  await question.waitFor({ state: 'detached' });

  const refused = await service.api({ path: '/identities', key });
  expect([refused.status, refused.body.code]).toEqual([401, 'INVALID_API_KEY']);
  await page.getByRole('tab', { name: /Revoked or expired/ }).click();
  expect(await entry.textContent()).toContain('Revoked');
  const activity = page.getByRole('region', { name: 'Activity' });
  await activity.getByText(`You revoked the key “${name}”`).waitFor();
  expect(await activity.textContent()).toContain(`You created the key “${name}”`);
  expect(complaints).toEqual([]);
});

test('a key that nobody copied is not lost by a slip', async () => {
  const { page } = await dashboard.visit('keys?new=1');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('not copied');
  await page.keyboard.press('Enter');
  await dialog.getByRole('textbox', { name: 'Your new key' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('alertdialog', { name: 'Close without copying?' }).waitFor();
  await page.getByRole('button', { name: 'Go back' }).click();
  expect(await dialog.getByRole('textbox', { name: 'Your new key' }).textContent()).toMatch(/^svc_live_/);
});

test('older keys are shown on demand, and the numbers say that there are more', async () => {
  const { page } = await dashboard.visit('keys');
  await page.route('**/api/v1/keys?*', async (route) => {
    const isOlder = new URL(route.request().url()).searchParams.has('cursor');
    const { keys } = await (await route.fetch({ url: route.request().url().split('?')[0]! })).json();
    const older = { keys: [{ ...keys[0], keyId: 'key_older', name: 'older' }], nextCursor: null };
    await route.fulfill({ json: isOlder ? older : { keys, nextCursor: 'more' } });
  });
  await page.reload();
  await page.getByRole('tab', { name: /^Active \d+\+$/ }).waitFor();
  await page.getByRole('button', { name: 'Show older keys' }).click();
  await page.getByRole('tab', { name: 'All' }).click();
  await page.getByRole('row', { name: /older/ }).waitFor();
  expect(await page.getByRole('button', { name: 'Show older keys' }).count()).toBe(0);
});
