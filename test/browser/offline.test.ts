import { expect, test } from '@jest/globals';
import {
  expectAccessible,
  goTo,
  openAccountMenu,
  screen,
  signIn,
  signOut,
  useDashboard,
} from '../support/browser.ts';

const dashboard = useDashboard();

test('without a network a screen that was not loaded says so, and comes by itself afterwards', async () => {
  const { page } = await dashboard.visit('');
  await page.waitForLoadState('networkidle');
  await page.context().setOffline(true);
  await goTo(page, 'Quickstart', 'You are offline');
  await expectAccessible(page, 'a screen without a network');
  // The others are still there, and a menu whose code does not arrive leaves the page as it is.
  await goTo(page, 'Overview');
  await openAccountMenu(page);
  await page.getByText('The menu could not be loaded.').waitFor();
  await goTo(page, 'Quickstart', 'You are offline');
  await page.context().setOffline(false);
  await screen(page, 'Quickstart');
  expect(new URL(page.url()).pathname).toBe('/quickstart');
});

test('a screen whose file a newer version has replaced is loaded again once, and else says what to do', async () => {
  const { page } = await dashboard.visit('');
  let isReplaced = true;
  let loads = 0;
  await page.route('**/assets/keys-screen-*.js', (route) => {
    loads += 1;
    return isReplaced ? route.fulfill({ status: 404, body: '' }) : route.continue();
  });
  await page.getByRole('link', { name: 'Keys', exact: true }).locator('visible=true').first().click();
  await page.waitForEvent('load');
  await screen(page, 'This page could not be loaded');
  const seen = loads;
  await page.waitForTimeout(2000);
  // It does not go on for ever.
  expect(loads).toBe(seen);
  isReplaced = false;
  await page.getByRole('button', { name: 'Reload the page' }).click();
  await screen(page, 'Keys');
});

test('while the service is away the page stays, says so, and Reload brings it back', async () => {
  const { page } = await dashboard.visit('');
  await page.waitForLoadState('networkidle');
  let isAway = true;
  await page.route('**/*', (route) => (isAway ? route.abort('connectionrefused') : route.continue()));
  await goTo(page, 'Quickstart', 'This page could not be loaded');
  const button = page.getByRole('button', { name: 'Reload the page' });
  await button.click();
  await page.getByText('The service can’t be reached now.').waitFor();
  isAway = false;
  await button.click();
  await screen(page, 'Quickstart');
  await page.getByText('1024 × 1024 costs 1, 2048 × 2048 costs 4.').waitFor();
  await page.getByRole('button', { name: 'Account' }).first().hover();
  await page.waitForLoadState('networkidle');
  isAway = true;
  await signOut(page);
  await screen(page, 'The sign-out is not complete');
  isAway = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await screen(page, 'You are signed out');
});

test('an app whose script a newer version replaced says so', async () => {
  const { page } = await dashboard.open();
  await page.route('**/assets/index-*.js', (route) =>
    route.fulfill({ body: '<html>', contentType: 'text/html' }),
  );
  await page.goto(dashboard.url);
  await screen(page, 'The page could not be loaded');
  await page.unrouteAll();
  await page.getByRole('link', { name: 'Reload' }).click();
  await page.getByLabel('E-mail').waitFor();
});

/** What `localStorage` and `sessionStorage` are in browsers that block them. */
function blockStorage(...names: string[]): void {
  for (const name of names) {
    const get = () => {
      throw new Error('blocked');
    };
    Object.defineProperty(globalThis, name, { configurable: true, get });
  }
}

test('a browser without storage shows the reference, and the dashboard as long as it keeps a sign-in', async () => {
  const { page } = await dashboard.open();
  await page.addInitScript(`(${blockStorage})('localStorage')`);
  await page.goto(`${dashboard.url}reference`);
  await page.getByRole('heading', { name: 'Tier limit' }).waitFor();
  await page.goto(dashboard.url);
  await signIn(page, dashboard.service);
  await screen(page, 'Overview');
  await page.addInitScript(`(${blockStorage})('sessionStorage')`);
  await page.goto(`${dashboard.url}reference`);
  await page.getByRole('heading', { name: 'Tier limit' }).waitFor();
  await page.goto(dashboard.url);
  await screen(page, 'The sign-in could not be started');
});
