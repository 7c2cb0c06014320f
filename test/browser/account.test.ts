import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { codeOf } from '../../local/cognito/totp.ts';
import {
  desktop,
  expectAccessible,
  expectFits,
  kept,
  phone,
  screen,
  signIn,
  useDashboard,
} from '../support/browser.ts';
import { until } from '../support/until.ts';

const dashboard = useDashboard();
const owner = 'owner@example.test';
const stranger = 'stranger@example.test';

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

/** Signs in anew, as changes of the account want it. */
async function confirm(page: Page, email = owner, password?: string): Promise<void> {
  await press(page, 'Confirm that it’s you');
  await screen(page, 'Sign in');
  await signIn(page, dashboard.service, email, password);
  await page.getByRole('heading', { name: 'Password' }).waitFor();
}

test('an account changes its password and adds an app after it has signed in once more, and the next sign-in asks for both', async () => {
  const { page, complaints } = await dashboard.visit('account', { viewport: phone });
  // Whoever finds an open page changes nothing.
  expect(await page.getByLabel('Present password').count()).toBe(0);
  await expectFits(page, 'the account before the confirmation');
  await confirm(page);
  expect(await kept(page)).not.toMatch(/eyJ|access_token|refresh_token/);
  await page.getByLabel('Present password').fill('not this one');
  await page.getByLabel('New password').fill('too short');
  await press(page, 'Change password');
  await page.getByText('Use at least 12 characters.').waitFor();
  await page.getByLabel('New password').fill('correct horse battery');
  await press(page, 'Change password');
  await page.getByText('The present password is wrong.').waitFor();
  // The browser itself remarks on the refusal.
  complaints.length = 0;
  await page.getByLabel('Present password').fill(dashboard.service.ready.accounts[owner]!.password);
  await press(page, 'Change password');
  await page.getByText('The password was changed.').waitFor();

  await press(page, 'Add an app');
  const secret = (await page.locator('code').textContent())!.replaceAll(' ', '');
  await page.getByLabel('Code that the app shows').fill(codeOf(secret));
  await expectFits(page, 'the enrolment of an app');
  await expectAccessible(page, 'the account');
  await press(page, 'Turn on');
  await page.getByText('Each sign-in asks for a code of your app.').waitFor();
  await page.reload();
  await press(page, 'Confirm that it’s you');
  await signIn(page, dashboard.service, owner, 'correct horse battery');
  await expectAccessible(page, 'the page that asks for a code');
  await page.getByLabel('Code of your authenticator app').fill(codeOf(secret));
  await press(page, 'Sign in');
  await press(page, 'Turn off');
  await page.getByRole('button', { name: 'Add an app' }).waitFor();
  expect(complaints).toEqual([]);
});

test('signing out everywhere ends the session of another browser at its next request, and what would renew it', async () => {
  const [here, there] = [await dashboard.open({ viewport: desktop }), await dashboard.open()];
  for (const { page } of [here, there]) {
    await page.goto(`${dashboard.url}account`);
    await signIn(page, dashboard.service, stranger);
    await screen(page, 'Account');
  }
  await confirm(here.page, stranger);
  await press(here.page, 'Sign out everywhere');
  await here.page.getByText('You are signed out').waitFor();
  await there.page.getByRole('link', { name: 'Keys' }).click();
  await there.page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
});

test('an account that is deleted takes its keys and requests with it, and nobody signs in with it again', async () => {
  const requestId = await dashboard.make(
    { identityId: dashboard.service.ready.identities.aurora },
    'stranger',
  );
  const key = dashboard.service.ready.keys.stranger!;
  const { page } = await dashboard.open({ viewport: phone });
  await page.goto(`${dashboard.url}account`);
  await signIn(page, dashboard.service, stranger);
  await confirm(page, stranger);
  await press(page, 'Delete my account');
  const dialog = page.getByRole('alertdialog');
  const remove = dialog.getByRole('button', { name: 'Delete my account' });
  expect(await remove.isDisabled()).toBe(true);
  await dialog.getByLabel(/^Type/).fill(stranger);
  await expectAccessible(page, 'the question before an account is deleted');
  await remove.click();
  await page.getByText('You are signed out').waitFor();
  const look = () =>
    fetch(`${dashboard.service.ready.baseUrl}/generate/${requestId}`, {
      headers: { authorization: `Bearer ${key}` },
    });
  await until('the key is refused', async () => (await look()).status === 401);
  await page.goto(`${dashboard.url}account`);
  await signIn(page, dashboard.service, stranger);
  await page.getByText('The e-mail or the password is wrong.').waitFor();
});
