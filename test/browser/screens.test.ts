import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from '@jest/globals';
import {
  chooseLicense,
  desktop,
  expectAccessible,
  expectNoSidewaysScroll,
  phone,
  screen,
  useDashboard,
  type Visitor,
} from '../support/browser.ts';
import { generate } from '../support/requests.ts';

const dashboard = useDashboard();
let requestId: string;

beforeAll(async () => {
  const { identities, keys } = dashboard.service.ready;
  for (const body of [{ identityId: identities.flint }, { identityId: identities.aurora, numOutputs: 4 }]) {
    const { headers } = await generate(dashboard.service, keys.pro!, body);
    requestId = headers.get('x-request-id')!;
  }
});

async function check({ page, complaints }: Visitor, where: string): Promise<void> {
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
  await expectNoSidewaysScroll(page);
  await expectAccessible(page, where);
  expect(complaints).toEqual([]);
}

const screens = [
  ['', 'Overview'],
  ['history', 'History'],
  ['history?status=TIMEOUT', 'History'],
  ['identities', 'Identities'],
  ['identities/nobody', 'There is no such identity'],
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
  await page.getByRole('button', { name: 'Account' }).locator('visible=true').click();
  await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
  await check(visitor, `the account menu on a ${device}`);
  await page.keyboard.press('Escape');
  const license = page.getByRole('button', { name: /^License/ }).locator('visible=true');
  await license.click();
  await page.getByRole('menuitemradio').first().waitFor();
  await check(visitor, `the license menu on a ${device}`);
});

test('without the API, every screen says so and offers to try again', async () => {
  // A page that asks for nothing: what was loaded before would be shown.
  const { page } = await dashboard.visit('nowhere');
  await page.route('**/api/v1/{usage,generate,keys,identities}*', (route) => route.abort());
  for (const name of ['Overview', 'History', 'Identities', 'Keys', 'Playground', 'Quickstart']) {
    await page.getByRole('link', { name, exact: true }).locator('visible=true').first().click();
    await screen(page, name);
    await page.getByText("The service can't be reached.").first().waitFor();
    await page
      .getByRole('button', { name: /Try again/ })
      .first()
      .waitFor();
    await expectAccessible(page, `${name} without the API`);
  }
});

test('a license that is chosen is remembered, and the screens are about it', async () => {
  const { page } = await dashboard.visit('');
  await chooseLicense(page, 'Enterprise');
  await page.getByText(/of 10,000 credits used/).waitFor();
  await page.reload();
  await page.getByText(/of 10,000 credits used/).waitFor();
});

test('a theme that is chosen stays, whatever the system prefers', async () => {
  const { page } = await dashboard.visit('');
  const isDark = () =>
    page.evaluate(() => (globalThis as any).document.documentElement.classList.contains('dark'));
  expect(await isDark()).toBe(false);
  await page.getByRole('button', { name: 'Account' }).locator('visible=true').click();
  await page.getByRole('menuitemradio', { name: 'Dark' }).click();
  expect(await isDark()).toBe(true);
  await page.reload();
  await screen(page, 'Overview');
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
