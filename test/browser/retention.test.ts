import { expect, test } from '@jest/globals';
import { chooseLicense, screen, useDashboard } from '../support/browser.ts';

const dashboard = useDashboard();

test('every page that says how long requests are kept has the number from the configuration', async () => {
  const { page } = await dashboard.visit('');
  await page.route('**/config.json', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ json: { ...(await response.json()), retentionDays: 31 } });
  });
  const unknown = '019aa3c2-7b1e-7c55-9d0c-3b8f6f0e2a41';
  for (const path of [
    'history',
    'history?status=TIMEOUT',
    `history/${unknown}`,
    `history/compare?a=${unknown}&b=${unknown}`,
    `playground/${unknown}`,
    `playground?from=${unknown}`,
    `playground?reference=${unknown}`,
    'quickstart',
  ]) {
    await page.goto(`${dashboard.url}${path}`);
    await page.getByRole('main').getByText('31 days').first().waitFor();
    expect(await page.getByRole('main').getByText('90 days').count()).toBe(0);
  }
  await page.goto(dashboard.url);
  await screen(page, 'Overview');
  await chooseLicense(page, 'Spring campaign');
  await page.getByText('for the 31 days that requests are kept').waitFor();
});
