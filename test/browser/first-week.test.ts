import { writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { codeOf } from '../../local/cognito/totp.ts';
import { environmentVariables } from '../../shared/base/config.ts';
import { newRequestId } from '../../shared/base/ids.ts';
import {
  askFor,
  desktop,
  expectAccessible,
  expectFits,
  kept,
  phone,
  screen,
  signIn,
  useDashboard,
} from '../support/browser.ts';
import { tableOf } from '../support/grants.ts';
import { generate } from '../support/requests.ts';
import { until } from '../support/until.ts';
import { prices, useFunction } from '../engine/billing/fixture.ts';
import { envelope } from '../unit/billing/delivery.ts';
import { day, eventsOf, items, newSubscriptionId, packOf } from '../unit/billing/stripe-fixtures.ts';

const dashboard = useDashboard(() => [
  '--billing-portal',
  'https://portal.test/',
  '--support',
  'help@s.test',
]);
const stripe = useFunction(() => tableOf(dashboard.service.dataDir).name);
beforeAll(() => {
  writeFileSync(stripe.pricesFile, JSON.stringify(prices));
  process.env[environmentVariables.billingPacks] = JSON.stringify({ 'pack-large': 1000 });
});

const mia = 'newcomer@example.test';
const subscription = newSubscriptionId();
const licenseId = `lic_${subscription}`;
const events = eventsOf(subscription);
const nowSeconds = Math.floor(Date.now() / 1000) - 60;
let [password, key] = ['', ''];

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const send = async (...sent: object[]) =>
  expect((await stripe.send(...sent.map((event) => envelope(event)))).failed).toEqual([]);

/** A page of an account, the one of this week unless another is named, at the account's password. */
async function open(path: string, viewport = phone, email = mia, known = password) {
  const visitor = await dashboard.open({ viewport });
  await visitor.page.goto(`${dashboard.url}${path}`);
  await signIn(visitor.page, dashboard.service, email, known || undefined);
  return visitor;
}

/** Signs in anew, as changes of the account want it. */
async function confirm(page: Page, email = mia, known?: string): Promise<void> {
  await press(page, 'Confirm that it’s you');
  await screen(page, 'Sign in');
  await signIn(page, dashboard.service, email, known);
}

/** Where a link of a button leads, its address and what it sends. */
async function linkOf(page: Page, name: string): Promise<[string, Record<string, string>]> {
  const url = new URL((await page.getByRole('link', { name }).getAttribute('href'))!);
  return [url.origin + url.pathname, Object.fromEntries(url.searchParams)];
}

/** Of a renewal: what Stripe sends when the month of this number begins. */
function renewal(month: number): object[] {
  const start = nowSeconds + month * 30 * day;
  const changes = {
    metadata: {},
    billing_cycle_anchor: nowSeconds,
    items: items('price_pro', start + 30 * day),
  };
  return [events.updated(start, changes), events.paid(start + 3600, start + 30 * day)];
}

test('an account without a license is sold a plan, and makes its first key and image as soon as it is paid', async () => {
  const { page, complaints } = await open('playground');
  await screen(page, 'Choose a plan');
  const names = await page.getByRole('listitem').getByRole('heading').allTextContents();
  expect(names).toEqual(['Starter', 'Standard', 'Studio']);
  expect(await page.getByRole('region', { name: 'Studio' }).textContent()).toMatch(
    /€119a month4,000 credits a month.*Up to 4 images of 2,048.*40 requests at a time/,
  );
  expect(await linkOf(page, 'Open billing (new tab)')).toEqual(['https://portal.test/', {}]);
  for (const viewport of [desktop, phone]) {
    await page.setViewportSize(viewport);
    await expectFits(page, 'the plans');
  }
  const [link, { client_reference_id: sub }] = await linkOf(page, 'Subscribe to Studio (new tab)');
  expect(link).toBe('https://example.com/buy/pro');
  await send(...renewal(0), events.bought(nowSeconds, { client_reference_id: sub! }));
  await press(page, 'Look again');

  await screen(page, 'Playground');
  await askFor(page, 'a red fox');
  await page
    .getByRole('img', { name: /a red fox/ })
    .first()
    .waitFor();
  await page.goto(`${dashboard.url}keys?new=1`);
  await page.getByRole('dialog').getByLabel('Name').fill('shop');
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  key = /svc_live_\w{38}/.exec(
    (await page
      .getByText(/^svc_live_/)
      .first()
      .textContent())!,
  )![0];
  expect(complaints).toEqual([]);
});

test('a refused and a failed call are found among the requests, a pack of credits is bought, and renewals need no word', async () => {
  const { service } = dashboard;
  const { flint, aurora } = service.ready.identities;
  const failed = (await generate(service, key, { identityId: flint })).headers.get('x-request-id')!;
  const refused = await generate(service, key, { identityId: aurora, numOutputs: 5 });
  const { page, complaints } = await open('requests');
  const rows = page.getByRole('list', { name: 'Requests' }).getByRole('listitem');
  const shows = (...parts: string[]) =>
    until(`these are shown: ${parts.join(', ')}`, async () => {
      const texts = await rows.allTextContents();
      return texts.length === parts.length && parts.every((part, i) => texts[i]!.includes(part));
    });
  await shows('400 · POST /generate · shop', failed, 'a red fox');
  await page.getByRole('link', { name: 'help@s.test' }).waitFor();
  await page.getByLabel('Code').selectOption('GENERATION_FAILED');
  await shows(failed);
  await page.getByLabel('Status').selectOption({ label: 'Refused' });
  await page.getByLabel('Code').selectOption('All codes');
  const id = refused.headers.get('x-request-id')!;
  await shows(id);
  for (const [typed, shown] of [
    [id, refused.body.error],
    [failed, failed],
    [newRequestId(0), 'No request has this id'],
  ]) {
    await page.getByLabel('Request id', { exact: true }).fill(` ${typed.toUpperCase()}`);
    await page.keyboard.press('Enter');
    await page.getByRole('main').getByText(shown).first().waitFor();
  }
  complaints.length = 0;
  await press(page, 'Show all requests');
  await page.setViewportSize({ ...phone, width: 320 });
  await expectFits(page, 'the requests on a narrow phone');

  await page.goto(dashboard.url);
  await page.getByText('200 credits for €9.90').waitFor();
  expect(await linkOf(page, 'Buy Large pack (new tab)')).toEqual([
    'https://example.com/buy/pack-large',
    { client_reference_id: licenseId },
  ]);
  await send(packOf(licenseId, 'pack-large').bought('completed', 'paid', nowSeconds));
  await send(...renewal(1), ...renewal(2));
  await page.reload();
  await page.getByText('Extra credits').waitFor();
  expect(await page.getByText('active until').count()).toBe(0);
  await expectFits(page, 'an overview with extra credits and packs');
  expect(complaints).toEqual([]);

  await send(events.deleted(nowSeconds + 1, { ended_at: nowSeconds + 1, metadata: {} }));
  await page.reload();
  await page.getByRole('link', { name: 'See the plans' }).click();
  await screen(page, 'Choose a plan');
});

test('an account changes its password and adds an app after it has signed in once more, and signs out everywhere', async () => {
  const elsewhere = await open('account');
  await confirm(elsewhere.page);
  const { page, complaints } = await open('account');
  await page.getByRole('heading', { name: 'Sign-in and security' }).waitFor();
  // Whoever finds an open page changes nothing.
  expect(await page.getByLabel('Current password').count()).toBe(0);
  await confirm(page);
  await page.getByLabel('Current password').fill('not this one');
  expect(await kept(page)).not.toMatch(/eyJ|access_token|refresh_token/);
  await page.getByLabel('New password').fill('too short');
  await press(page, 'Change password');
  await page.getByText('Use at least 12 characters.').waitFor();
  password = 'correct horse battery';
  await page.getByLabel('New password').fill(password);
  await press(page, 'Change password');
  await page.getByText('The current password is wrong.').waitFor();
  // The browser itself remarks on the refusal.
  complaints.length = 0;
  await page.getByLabel('Current password').fill(dashboard.service.ready.accounts[mia]!.password);
  await press(page, 'Change password');
  await page.getByText('The password was changed.').waitFor();
  await press(page, 'Add an app');
  const secret = (await page.locator('code').textContent())!.replaceAll(' ', '');
  await page.getByLabel('Code that the app shows').fill(codeOf(secret));
  await expectFits(page, 'the account, and the enrolment of an app');
  await press(page, 'Turn on');
  await page.getByText('Each sign-in asks for a code of your app.').waitFor();
  expect(complaints).toEqual([]);
  await press(page, 'Sign out everywhere');
  await page.getByText('You are signed out').waitFor();
  // Its confirmation counts no more either.
  await press(elsewhere.page, 'Add an app');
  await elsewhere.page.getByRole('alertdialog', { name: 'Your session has ended' }).waitFor();
  expect(await elsewhere.page.locator('h1').textContent()).toBe('Account');

  await page.goto(`${dashboard.url}account`);
  await signIn(page, dashboard.service, mia, password);
  await expectAccessible(page, 'the page that asks for a code');
  await page.getByLabel('Code of your authenticator app').fill(codeOf(secret));
  await press(page, 'Sign in');
  await confirm(page, mia, password);
  await page.getByLabel('Code of your authenticator app').fill(codeOf(secret));
  await press(page, 'Sign in');
  await press(page, 'Turn off');
  await page.getByRole('button', { name: 'Add an app' }).waitFor();
});

test('an account that is deleted takes its keys and requests with it, and nobody signs in with it again', async () => {
  const { service } = dashboard;
  const email = 'stranger@example.test';
  const requestId = await dashboard.make({ identityId: service.ready.identities.aurora }, 'stranger');
  const { page } = await open('account', phone, email, service.ready.accounts[email]!.password);
  await confirm(page, email);
  await press(page, 'Delete my account');
  const dialog = page.getByRole('alertdialog');
  const remove = dialog.getByRole('button', { name: 'Delete my account' });
  expect(await remove.isDisabled()).toBe(true);
  await dialog.getByLabel(/^Type/).fill(email);
  await expectAccessible(page, 'the question before an account is deleted');
  await remove.click();
  await page.getByText('You are signed out').waitFor();
  const look = () => service.api({ path: `/generate/${requestId}`, key: service.ready.keys.stranger });
  await until('the key is refused', async () => (await look()).status === 401);
  await page.goto(`${dashboard.url}account`);
  await signIn(page, service, email);
  await page.getByText('The e-mail or the password is wrong.').waitFor();
});
