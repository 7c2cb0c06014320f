import { expect, test } from '@jest/globals';
import { expectAccessible, screen, useDashboard } from '../support/browser.ts';

const dashboard = useDashboard();

test('without a network a screen that was not loaded says so, and comes by itself afterwards', async () => {
  const { page } = await dashboard.visit('');
  await page.waitForLoadState('networkidle');
  await page.context().setOffline(true);
  await page.getByRole('link', { name: 'Quickstart' }).locator('visible=true').first().click();
  await screen(page, 'You are offline');
  await expectAccessible(page, 'a screen without a network');
  // The others are still there.
  await page.getByRole('link', { name: 'Overview', exact: true }).locator('visible=true').first().click();
  await screen(page, 'Overview');
  await page.getByRole('link', { name: 'Quickstart' }).locator('visible=true').first().click();
  await screen(page, 'You are offline');
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

test('a menu whose code does not arrive leaves the page as it is', async () => {
  const { page } = await dashboard.visit('');
  await page.waitForLoadState('networkidle');
  await page.context().setOffline(true);
  await page.getByRole('button', { name: 'Account' }).locator('visible=true').click();
  await page.getByText('The menu could not be loaded.').waitFor();
  await screen(page, 'Overview');
});
