import { expect, test } from '@jest/globals';
import {
  desktop,
  expectAccessible,
  expectNoSidewaysScroll,
  phone,
  screen,
  tabTo,
  useDashboard,
} from '../support/browser.ts';
import { generate } from '../support/requests.ts';

const dashboard = useDashboard();

test.each([
  ['a desktop', desktop],
  ['a phone', phone],
])(
  'on %s a key gets a budget, uses it up, is raised and renamed, by keyboard only',
  async (where, viewport) => {
    const { service } = dashboard;
    const name = `worker on ${where}`;
    const { page, complaints } = await dashboard.visit('keys', { viewport });
    await screen(page, 'Keys');
    const budget = 'Monthly budget in credits (optional)';
    const press = async (control: string): Promise<void> => {
      await tabTo(page, page.getByRole('button', { name: control, exact: true }));
      await page.keyboard.press('Enter');
    };
    const replace = async (label: string, text: string): Promise<void> => {
      await tabTo(page, page.getByLabel(label, { exact: true }));
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.insertText(text);
    };
    const entry = (of: string) =>
      page
        .getByRole('tabpanel')
        .getByRole(viewport === phone ? 'listitem' : 'row')
        .filter({ hasText: of });

    await press('Create key');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').waitFor();
    await page.keyboard.insertText(name);
    await replace(budget, '0');
    await page.keyboard.press('Enter');
    await dialog.getByText(/Enter a whole number from 1/).waitFor();
    await expectAccessible(page, `a refused budget on ${where}`);
    await replace(budget, '3');
    await page.keyboard.press('Enter');
    const key = (await dialog.getByRole('textbox', { name: 'Your new key' }).textContent())!;
    await press('Copy key');
    await press('Done');
    await dialog.waitFor({ state: 'detached' });
    expect(await entry(name).textContent()).toContain('0 of 3 credits');

    const spend = () =>
      generate(service, key, { identityId: service.ready.identities.aurora, numOutputs: 2 });
    expect((await spend()).status).toBe(200);
    expect((await spend()).status).toBe(429);
    const one = { identityId: service.ready.identities.aurora };
    expect((await generate(service, key, one)).status).toBe(200);
    expect((await generate(service, key, one)).body.code).toBe('CREDIT_LIMIT_EXCEEDED');

    await page.reload();
    await screen(page, 'Keys');
    await entry(name)
      .getByText(/^Used up until /)
      .waitFor();
    expect(await entry(name).textContent()).toContain('3 of 3 credits');
    await expectNoSidewaysScroll(page);
    await expectAccessible(page, `a budget that is used up on ${where}`);

    await press(`Edit ${name}`);
    await dialog.getByText('3 credits used in this period.', { exact: false }).waitFor();
    await dialog.getByText(/its requests are refused from now on/).waitFor();
    await expectAccessible(page, `the dialog that edits a key on ${where}`);
    await replace(budget, '5');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await entry(name).getByText('3 of 5 credits').waitFor();
    expect(await entry(name).textContent()).not.toContain('Used up');
    expect((await spend()).status).toBe(200);

    // The focus is on the button again.
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Name').waitFor();
    await replace('Name', `${name}, renamed`);
    await replace(budget, '');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await entry(`${name}, renamed`).getByText('No budget').waitFor();
    const activity = page.getByRole('region', { name: 'Activity' });
    await activity.getByText(`renamed from “${name}”`).waitFor();
    expect(await activity.textContent()).toContain('without a budget');
    expect(complaints).toEqual([]);
  },
);

test('an edit that changes nothing sends nothing, and a refusal stands beside the form', async () => {
  const { page } = await dashboard.visit('keys');
  const sent: unknown[] = [];
  const sentence = 'There is no such key.';
  await page.route('**/api/v1/keys/*', (route) => {
    sent.push(route.request().postDataJSON());
    return route.fulfill({ status: 404, json: { error: sentence, code: 'KEY_NOT_FOUND' } });
  });
  const dialog = page.getByRole('dialog');
  const edit = page.getByRole('button', { name: /^Edit / }).first();
  await edit.click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(sent).toEqual([]);
  await edit.click();
  await dialog.getByLabel('Monthly budget').fill('7');
  await dialog.getByRole('button', { name: 'Save' }).click();
  expect(await dialog.getByRole('alert').textContent()).toContain(sentence);
  expect(sent).toEqual([{ monthlyCredits: 7 }]);
});

test('a key that was revoked in the meantime can’t be edited', async () => {
  const { page } = await dashboard.visit('keys');
  const edit = page.getByRole('button', { name: /^Edit / }).first();
  await edit.waitFor();
  await page.route('**/api/v1/keys*', async (route) => {
    const response = await route.fetch();
    const { keys, ...rest } = await response.json();
    const revoked = { status: 'revoked', revokedAt: new Date().toISOString() };
    await route.fulfill({ json: { ...rest, keys: keys.map((key: object) => ({ ...key, ...revoked })) } });
  });
  await edit.click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('A revoked key cannot be changed.').waitFor();
  expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('tab', { name: /^Revoked/ }).click();
  await page.getByRole('row').nth(1).waitFor();
  expect(await edit.count()).toBe(0);
});
