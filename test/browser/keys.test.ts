import { expect, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import {
  desktop,
  expectAccessible,
  expectFits,
  isCopied,
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
  'on %s a key is made by keyboard only, shown once, used up to its budget, and revoked by its name',
  async (where, viewport) => {
    const { service } = dashboard;
    const { page, complaints } = await dashboard.visit('keys', { viewport });
    await screen(page, 'Keys');
    const name = `worker on ${where}`;
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
    const list = page.getByRole('tabpanel').getByRole(viewport === phone ? 'listitem' : 'row');
    const entry = list.filter({ hasText: name });
    const text = () => entry.textContent();

    await press('Create key');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').waitFor();
    await page.keyboard.insertText(name);
    await replace(budget, '0');
    await page.keyboard.press('Enter');
    await dialog.getByText(/Enter a whole number from 1/).waitFor();
    await expectAccessible(page, `a refused budget on ${where}`);
    await replace(budget, '3');
    // Choosing "own" proposes half of the license's places.
    await tabTo(page, dialog.getByLabel('What it may see and delete'));
    await page.keyboard.press('ArrowDown');
    await tabTo(page, dialog.getByLabel('Requests at a time (optional)'));
    expect(await dialog.getByLabel('Requests at a time (optional)').inputValue()).toBe('20');
    await page.keyboard.press('Enter');
    const key = (await dialog.getByRole('textbox', { name: 'Your new key' }).textContent())!;
    expect(key).toMatch(/^svc_live_[0-9A-Za-z]{38}$/);
    await press('Copy key');
    await isCopied(page, key);
    await press('Done');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(key);
    expect(await text()).toContain('0 of 3 credits');
    expect(await text()).toContain('Sees only its own requests · 20 at a time');

    const identityId = service.ready.identities.aurora;
    const spend = async (numOutputs: number) =>
      (await generate(service, key, { identityId, numOutputs })).status;
    expect([await spend(2), await spend(2), await spend(1)]).toEqual([200, 429, 200]);
    await page.reload();
    await screen(page, 'Keys');
    await entry.getByText(/^Used up until /).waitFor();
    expect(await text()).toContain('3 of 3 credits');
    expect(await text()).toContain(key.slice(0, 13));
    // The time of the last use; of other times the list shows the date.
    expect(await text()).toMatch(/just now|ago/);
    await expectFits(page, `a budget that is used up on ${where}`);

    await press(`Edit ${name}`);
    await dialog.getByText('3 credits used in this period.', { exact: false }).waitFor();
    await dialog.getByText(/its requests are refused from now on/).waitFor();
    await expectAccessible(page, `the dialog that edits a key on ${where}`);
    await replace(budget, '5');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await entry.getByText('3 of 5 credits').waitFor();
    expect(await text()).not.toContain('Used up');
    expect(await spend(2)).toBe(200);

    // The focus is on the button again.
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Name').waitFor();
    const renamed = `${name}, renamed`;
    await replace('Name', renamed);
    await replace(budget, '');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await entry.filter({ hasText: renamed }).getByText('No budget').waitFor();

    await entry.getByRole('button', { name: 'Revoke' }).click();
    const question = page.getByRole('alertdialog', { name: `Revoke “${renamed}”?` });
    await question.getByRole('button', { name: 'Revoke key' }).click();
    await question.waitFor({ state: 'detached' });
    expect(await spend(1)).toBe(401);
    await page.getByRole('tab', { name: /Revoked or expired/ }).click();
    expect(await text()).toContain('Revoked');
    const activity = page.getByRole('region', { name: 'Activity' });
    await activity.getByText(`You revoked the key “${renamed}”`).waitFor();
    const activities = await activity.textContent();
    for (const words of ['You created the key', `renamed from “${name}”`, 'without a budget']) {
      expect(activities).toContain(words);
    }
    expect(complaints).toEqual([]);
  },
);

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

test('an edit that changes nothing sends nothing, and a refusal stands beside the form', async () => {
  const { page } = await dashboard.visit('keys');
  const sent: unknown[] = [];
  await page.route('**/api/v1/keys/*', (route) => {
    sent.push(route.request().postDataJSON());
    return route.fulfill({ status: 404, json: { error: 'There is no such key.', code: 'KEY_NOT_FOUND' } });
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
  expect(await dialog.getByRole('alert').textContent()).toContain('There is no such key.');
  expect(sent).toEqual([{ monthlyCredits: 7 }]);
  await dialog.getByRole('button', { name: 'Cancel' }).click();

  // All keys are revoked in the meantime.
  await page.route('**/api/v1/keys*', async (route) => {
    const { keys, ...rest } = await (await route.fetch()).json();
    const revoked = { status: 'revoked', revokedAt: new Date().toISOString() };
    await route.fulfill({ json: { ...rest, keys: keys.map((key: object) => ({ ...key, ...revoked })) } });
  });
  await edit.click();
  await dialog.getByText('A revoked key cannot be changed.').waitFor();
  expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('tab', { name: /^Revoked/ }).click();
  await page.getByRole('row').nth(1).waitFor();
  expect(await edit.count()).toBe(0);
});

/** Expects words that follow each other in a text to stand from left to right. */
async function expectInOrder(place: Locator, ...words: string[]): Promise<void> {
  const lefts = await place.evaluate((element: any, sought: string[]) => {
    const { find, getSelection } = globalThis as any;
    getSelection().collapse(element, 0);
    return sought.map(
      (word) => find(word, true) && getSelection().getRangeAt(0).getBoundingClientRect().left,
    );
  }, words);
  expect(lefts).not.toContain(false);
  expect(lefts).toEqual(lefts.toSorted((a, b) => a - b));
}

test('a name that overrides the order of letters reorders nothing beside it', async () => {
  const { page } = await dashboard.visit('keys?new=1');
  const dialog = page.getByRole('dialog');
  const save = async (name: string) => {
    await dialog.getByLabel('Name').fill(name);
    await page.keyboard.press('Enter');
  };
  // It would also end an isolate around it.
  const name = 'ab\u2069\u202edc';
  await save(name);
  await dialog.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('row').filter({ hasText: /^ab/ });
  await row.getByRole('button', { name: 'Edit' }).click();
  await expectInOrder(dialog.getByRole('heading'), 'Edit', 'ab', '”');
  await dialog.getByLabel('Monthly budget').fill('5');
  await save(`${name}e`);
  await expectInOrder(page.getByText('was changed.'), '“', 'was', 'changed');
  // Entries of other keys are there before this one.
  const entry = page.getByText('renamed from “ab').locator('..').first();
  await expectInOrder(entry, 'You', 'renamed', 'ab', 'month');
  await row.getByRole('button', { name: 'Revoke' }).click();
  const question = page.getByRole('alertdialog');
  await expectInOrder(question.getByRole('heading'), 'Revoke', 'ab', '?');
  await question.getByRole('button', { name: 'Revoke key' }).click();
  await expectInOrder(page.getByText('was revoked.'), '“', 'was', 'revoked');
});

test('a key that is made while the list is still read is in the list', async () => {
  const { page } = await dashboard.visit('identities');
  const made = Promise.withResolvers<void>();
  let reads = 0;
  await page.route('**/api/v1/keys?*', async (route) => {
    const response = await route.fetch();
    if ((reads += 1) === 1) await made.promise;
    // The dashboard has given up the first by then.
    await route.fulfill({ response }).catch(() => {});
  });
  await page.getByRole('link', { name: 'Keys' }).click();
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('in a hurry');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Done' }).waitFor();
  made.resolve();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('row', { name: /in a hurry/ }).waitFor();
});
