import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import {
  desktop,
  expectAccessible,
  openBrowser,
  phone,
  screen,
  visitSignedIn,
  type Visitor,
} from '../support/browser.ts';
import { generate } from '../support/requests.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';

let browser: Browser;
let service: RunningService;
let requestId: string;

beforeAll(async () => {
  [browser, service] = await Promise.all([openBrowser(), startService()]);
  const { identities, keys } = service.ready;
  const orders = [{ identityId: identities.flint }, { identityId: identities.aurora, numOutputs: 4 }];
  for (const order of orders) {
    const { headers } = await generate(service, keys.pro!, order);
    requestId = headers.get('x-request-id')!;
  }
});
afterAll(async () => {
  await Promise.all([browser.close(), service.end()]);
  removeFolder(service.dataDir);
});

/** Nothing under way any more, and nothing wider than the window. */
async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.getByRole('status', { name: /^Loading/ }).waitFor({ state: 'detached' });
  const wider = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = (globalThis as any).document.documentElement;
    return scrollWidth - clientWidth;
  });
  expect(wider).toBe(0);
}

describe.each([
  ['light', 'desktop', desktop],
  ['dark', 'desktop', desktop],
  ['light', 'phone', phone],
  ['dark', 'phone', phone],
] as const)(
  'in %s on a %s axe finds nothing, and nothing is complained about',
  (colorScheme, _device, viewport) => {
    let visitor: Visitor;

    beforeAll(async () => {
      visitor = await visitSignedIn(browser, service, '', { colorScheme, viewport });
      await screen(visitor.page, 'Overview');
    });
    afterAll(() => visitor.close());

    const check = async (where: string) => {
      await settled(visitor.page);
      await expectAccessible(visitor.page, where);
      expect(visitor.complaints).toEqual([]);
    };

    test.each([
      ['', 'Overview'],
      ['history', 'History'],
      ['history?status=TIMEOUT', 'History'],
      ['keys', 'Keys'],
      ['playground', 'Playground'],
      ['quickstart', 'Quickstart'],
      ['nowhere', 'There is no such page'],
    ])('at /%s', async (path, title) => {
      const { page } = visitor;
      await page.goto(`${service.ready.dashboardUrl}${path}`);
      await screen(page, title);
      await check(`/${path}`);
    });

    test('at a stored request', async () => {
      await visitor.page.goto(`${service.ready.dashboardUrl}history/${requestId}`);
      await visitor.page.getByRole('link', { name: 'Use again' }).waitFor();
      await check('/history/:requestId');
    });

    test('with its dialogs and menus open', async () => {
      const { page } = visitor;
      await page.goto(`${service.ready.dashboardUrl}keys?new=1`);
      await page.getByRole('dialog').getByLabel('Name').waitFor();
      await check('the dialog that creates a key');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Revoke' }).first().click();
      await page.getByRole('alertdialog').waitFor();
      await check('the dialog that revokes a key');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Account' }).locator('visible=true').click();
      await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
      await check('the account menu');
      await page.keyboard.press('Escape');
      await page
        .getByRole('button', { name: /^License/ })
        .locator('visible=true')
        .click();
      await page.getByRole('menuitemradio').first().waitFor();
      await check('the license menu');
    });
  },
);

test('when the API is away, every screen says so and offers to try again', async () => {
  const { page, close } = await visitSignedIn(browser, service, '');
  await screen(page, 'Overview');
  await page.route('**/api/v1/{usage,generate,keys,identities}*', (route) => route.abort());
  for (const name of ['History', 'Keys', 'Playground', 'Quickstart']) {
    await page.getByRole('link', { name, exact: true }).locator('visible=true').first().click();
    await screen(page, name);
    await page.getByText("The service can't be reached.").first().waitFor();
    await page
      .getByRole('button', { name: /Try again/ })
      .first()
      .waitFor();
    await expectAccessible(page, `${name} without the API`);
  }
  await close();
});

test('choosing another license is remembered and changes what the screens are about', async () => {
  const { page, close } = await visitSignedIn(browser, service, '');
  await page
    .getByRole('button', { name: /^License/ })
    .locator('visible=true')
    .click();
  await page.getByRole('menuitemradio', { name: /^Enterprise/ }).click();
  await page.getByText(/of 10,000 credits used/).waitFor();
  await page.reload();
  await page.getByText(/of 10,000 credits used/).waitFor();
  await close();
});

test('the theme that was chosen stays, whatever the system prefers', async () => {
  const { page, close } = await visitSignedIn(browser, service, '');
  const isDark = () =>
    page.evaluate(() => (globalThis as any).document.documentElement.classList.contains('dark'));
  expect(await isDark()).toBe(false);
  await page.getByRole('button', { name: 'Account' }).locator('visible=true').click();
  await page.getByRole('menuitemradio', { name: 'Dark' }).click();
  expect(await isDark()).toBe(true);
  await page.reload();
  await screen(page, 'Overview');
  expect(await isDark()).toBe(true);
  await close();
});

test('a first load takes at most 180 kB of JavaScript, compressed', async () => {
  const { page, close } = await visitSignedIn(browser, service, '');
  await screen(page, 'Overview');
  const scripts = new Set<string>();
  page.on('response', (response) => {
    if (response.request().resourceType() === 'script') scripts.add(response.url());
  });
  await page.goto(service.ready.dashboardUrl);
  await screen(page, 'Overview');
  await settled(page);
  let bytes = 0;
  for (const url of scripts) bytes += gzipSync(await (await fetch(url)).bytes()).length;
  console.log(`first load: ${scripts.size} scripts, ${(bytes / 1000).toFixed(1)} kB compressed`);
  expect(scripts.size).toBeGreaterThan(0);
  expect(bytes).toBeLessThanOrEqual(180_000);
  await close();
});
