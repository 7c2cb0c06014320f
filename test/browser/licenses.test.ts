import { expect, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import {
  chooseLicense,
  expectAccessible,
  expectFits,
  expectNoSidewaysScroll,
  phone,
  screen,
  useDashboard,
} from '../support/browser.ts';

const dashboard = useDashboard();
const narrow = { ...phone, width: 320 };

test('two Starters are distinguished by their names wherever one chooses between them', async () => {
  const { page, complaints } = await dashboard.visit('keys', { viewport: narrow });
  await chooseLicense(page, 'Nearly spent');
  const only = page.getByLabel('Only Nearly spent');
  expect(await only.isChecked()).toBe(true);
  await only.click();
  await page.getByText('Who changed the license Nearly spent and its keys').waitFor();
  await expectNoSidewaysScroll(page);
  const list = page.getByRole('list', { name: 'Active keys' });
  for (const name of ['Starter', 'Nearly spent', 'Drift only', 'Pro']) {
    expect(await list.getByText(name, { exact: true }).count()).toBeGreaterThan(0);
  }
  await page.getByRole('button', { name: 'Create key' }).first().click();
  const license = page.getByRole('dialog').getByLabel('License');
  const chosen = license.locator('option:checked');
  expect(await chosen.textContent()).toMatch(/^Nearly spent · \d+ active key/);
  const choices = await license.getByRole('option').allTextContents();
  const names = choices.map((choice) => choice.slice(0, choice.indexOf(' · ')));
  expect(names).toEqual(expect.arrayContaining(['Starter', 'Nearly spent', 'Drift only']));
  expect(choices.at(-1)).toContain('Ended');
  await license.selectOption(choices.find((choice) => choice.startsWith('Starter'))!);
  expect(await chosen.textContent()).toMatch(/^Starter · /);
  await expectAccessible(page, 'the license of a new key');
  expect(complaints).toEqual([]);
});

test('a name as long as it may be fits on a narrow phone', async () => {
  const name = 'W'.repeat(64);
  const { page } = await dashboard.visit('', { viewport: narrow });
  await page.route('**/api/v1/licenses', async (route) => {
    const answer = await route.fetch();
    const { licenses } = await answer.json();
    await route.fulfill({ json: { licenses: licenses.map((one: object) => ({ ...one, name })) } });
  });
  for (const path of ['', 'keys', 'playground', 'quickstart']) {
    await page.goto(`${dashboard.url}${path}`);
    await page.getByText(name).locator('visible=true').first().waitFor();
    await expectNoSidewaysScroll(page);
  }
  await page.goto(`${dashboard.url}keys?new=1`);
  const license = page.getByRole('dialog').getByLabel('License');
  const expectInside = async (part: Locator) => {
    const { x, width } = (await part.boundingBox())!;
    expect(x).toBeGreaterThanOrEqual(0);
    expect(x + width).toBeLessThanOrEqual(narrow.width);
  };
  await expectInside(license);
});

test('an ended license shows no credits to spend, and its keys say that they are refused', async () => {
  const { page, complaints } = await dashboard.visit('', { viewport: narrow });
  await chooseLicense(page, 'Spring campaign');
  const credits = page.getByRole('region', { name: 'Credits' });
  await credits.getByText('Credits left').waitFor();
  const text = (await credits.textContent())!;
  expect(text).toMatch(/0 credits used in this period.*Credits left0The license has ended/);
  expect(text).not.toMatch(/500|Resets|Period ends/);
  expect(await credits.getByRole('progressbar').count()).toBe(0);
  await page.getByText(/^This license ended on /).waitFor();
  expect(await page.getByText('More credits').count()).toBe(0);
  await expectFits(page, 'the overview of an ended license');

  await page.goto(`${dashboard.url}playground`);
  await page.getByText('This license has ended').waitFor();
  expect(await page.getByRole('button', { name: /^Generate/ }).isDisabled()).toBe(true);
  expect(await page.getByText(/\d left$/).count()).toBe(0);
  await expectNoSidewaysScroll(page);

  await page.goto(`${dashboard.url}keys`);
  await screen(page, 'Keys');
  const entry = page.getByRole('listitem').filter({ hasText: 'Spring campaign' });
  await entry.getByText('Refused for good: its license has ended.').waitFor();
  expect(await entry.getByText('Refused', { exact: true }).count()).toBe(1);
  expect(await entry.getByText('Active', { exact: true }).count()).toBe(0);
  await expectFits(page, 'the key of an ended license');
  expect(complaints).toEqual([]);
});
