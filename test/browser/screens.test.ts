import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from '@jest/globals';
import {
  chooseLicense,
  desktop,
  expectAccessible,
  expectFits,
  goTo,
  licenseMenu,
  openAccountMenu,
  phone,
  screen,
  useDashboard,
  type Visitor,
} from '../support/browser.ts';

const dashboard = useDashboard();
let requestId: string;

beforeAll(async () => {
  const { flint, aurora } = dashboard.service.ready.identities;
  await dashboard.make({ identityId: flint });
  requestId = await dashboard.make({ identityId: aurora, numOutputs: 4 });
});

async function check({ page, complaints }: Visitor, where: string): Promise<void> {
  await expectFits(page, where);
  expect(complaints).toEqual([]);
}

const screens = [
  ['', 'Overview'],
  ['history', 'History'],
  ['history?status=TIMEOUT', 'History'],
  ['requests', 'Requests'],
  ['identities', 'Identities'],
  ['identities/aurora', 'aurora'],
  ['keys', 'Keys'],
  ['playground', 'Playground'],
  ['quickstart', 'Quickstart'],
  ['nowhere', 'There is no such page'],
] as const;

const devices = [
  ['desktop', desktop],
  ['phone', phone],
] as const;

test('on desktops and phones axe finds nothing on any screen, nothing is too wide, and the console stays empty', async () => {
  const visitor = await dashboard.visit('');
  const { page } = visitor;
  const checkOnAll = async (where: string) => {
    for (const [device, viewport] of devices) {
      await page.setViewportSize(viewport);
      await check(visitor, `${where} on a ${device}`);
    }
  };
  for (const [path, title] of screens) {
    await page.goto(`${dashboard.url}${path}`);
    await screen(page, title);
    await checkOnAll(`/${path}`);
  }
  await page.goto(`${dashboard.url}history/${requestId}`);
  await page.getByRole('link', { name: 'Use again' }).waitFor();
  await checkOnAll('a stored request');
});

test.each(devices)('on a %s axe finds nothing in dialogs and menus', async (device, viewport) => {
  const visitor = await dashboard.visit('keys?new=1', { viewport });
  const { page } = visitor;
  await page.getByRole('dialog').getByLabel('Name').waitFor();
  await check(visitor, `the dialog that creates a key, on a ${device}`);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Revoke' }).first().click();
  await page.getByRole('alertdialog').waitFor();
  await check(visitor, `the dialog that revokes a key, on a ${device}`);
  await page.keyboard.press('Escape');
  await openAccountMenu(page);
  await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
  await check(visitor, `the account menu on a ${device}`);
  await page.keyboard.press('Escape');
  await licenseMenu(page).click();
  await page.getByRole('menuitemradio').first().waitFor();
  await check(visitor, `the license menu on a ${device}`);
});

test('without the API, every screen says so and offers to try again', async () => {
  // A page that asks for nothing: what was loaded before would be shown.
  const { page } = await dashboard.visit('nowhere');
  await page.route('**/api/v1/{usage,generate,keys,identities}*', (route) => route.abort());
  for (const name of ['Overview', 'History', 'Requests', 'Identities', 'Keys', 'Playground', 'Quickstart']) {
    await goTo(page, name);
    await page.getByText("The service can't be reached.").first().waitFor();
    const again = page.getByRole('button', { name: /Try again/ });
    await again.first().waitFor();
    await expectAccessible(page, `${name} without the API`);
  }
});

test('the license and the theme that are chosen stay, whatever the system prefers', async () => {
  const { page } = await dashboard.visit('');
  const isDark = () =>
    page.evaluate(() => (globalThis as any).document.documentElement.classList.contains('dark'));
  expect(await isDark()).toBe(false);
  await chooseLicense(page, 'Enterprise');
  await page.getByText(/of 10,000 credits used/).waitFor();
  await openAccountMenu(page);
  await page.getByRole('menuitemradio', { name: 'Dark' }).click();
  expect(await isDark()).toBe(true);
  await page.reload();
  await page.getByText(/of 10,000 credits used/).waitFor();
  expect(await isDark()).toBe(true);
});

test('who prefers reduced motion gets the colors of a theme at once', async () => {
  const { page } = await dashboard.visit('');
  const moving = await page.evaluate(() => {
    const { document, CSSTransition } = globalThis as any;
    document.documentElement.classList.toggle('dark');
    // Not the placeholders of what is still loading, which have an animation.
    const transitions = document.getAnimations().filter((one: any) => one instanceof CSSTransition);
    return transitions.map((one: any) => one.effect.target.outerHTML.slice(0, 160));
  });
  expect(moving).toEqual([]);
});

test('a first load takes at most 180 kB of JavaScript, compressed, and nothing of Scalar', async () => {
  const { page } = await dashboard.visit('');
  const scripts = new Set<string>();
  page.on('response', (response) => {
    if (response.request().resourceType() === 'script') scripts.add(response.url());
  });
  await page.goto(dashboard.url);
  await screen(page, 'Overview');
  await page.waitForLoadState('networkidle');
  let bytes = 0;
  for (const url of scripts) bytes += gzipSync(await (await fetch(url)).bytes()).length;
  console.log(`first load: ${scripts.size} scripts, ${(bytes / 1000).toFixed(1)} kB compressed`);
  expect(scripts.size).toBeGreaterThan(0);
  expect(bytes).toBeLessThanOrEqual(180_000);
  expect([...scripts].filter((url) => /scalar|reference-screen/.test(url))).toEqual([]);
});

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
