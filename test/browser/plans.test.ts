import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  chooseLicense,
  desktop,
  expectAccessible,
  expectFits,
  expectNoSidewaysScroll,
  phone,
  screen,
  signIn,
  useDashboard,
} from '../support/browser.ts';

const dashboard = useDashboard(() => [
  '--billing-portal',
  'https://portal.test/',
  '--support',
  'help@s.test',
]);

/** The page of an account without a license. */
async function newcomer(viewport: typeof phone, path = '') {
  const visitor = await dashboard.open({ viewport });
  await visitor.page.goto(`${dashboard.url}${path}`);
  await signIn(visitor.page, dashboard.service, 'newcomer@example.test');
  return visitor;
}

/** Where a link of a button leads, its address and what it sends. */
async function linkOf(page: Page, name: string): Promise<[string, Record<string, string>]> {
  const url = new URL((await page.getByRole('link', { name }).getAttribute('href'))!);
  return [url.origin + url.pathname, Object.fromEntries(url.searchParams)];
}

test.each([
  ['a phone', phone],
  ['a desktop', desktop],
])(
  'an account without a license sees what it may subscribe to, and what each tier can do, on %s',
  async (_, size) => {
    const { page, complaints } = await newcomer(size, 'playground');
    await screen(page, 'Choose a plan');
    const names = await page.getByRole('listitem').getByRole('heading').allTextContents();
    expect(names).toEqual(['Starter', 'Standard', 'Studio']);
    const studio = page.getByRole('region', { name: 'Studio' });
    expect(await studio.textContent()).toMatch(
      /€119a month4,000 credits a month.*Up to 4 images of 2,048.*40 requests at a time/,
    );
    const answered = page.waitForResponse(/\/licenses$/);
    await page.getByRole('button', { name: 'Look again' }).click();
    const authorization = (await answered).request().headers().authorization!;
    const { sub } = JSON.parse(Buffer.from(authorization.split('.')[1]!, 'base64url').toString());
    expect(await linkOf(page, 'Subscribe to Studio (new tab)')).toEqual([
      'https://example.com/buy/pro',
      { client_reference_id: sub },
    ]);
    expect(await linkOf(page, 'Open billing (new tab)')).toEqual(['https://portal.test/', {}]);
    expect(await page.getByRole('link', { name: 'help@s.test' }).getAttribute('href')).toBe(
      'mailto:help@s.test',
    );
    await expectFits(page, 'the plans');
    await expectAccessible(page, 'the plans');
    expect(complaints).toEqual([]);
  },
);

test('an active license is offered packs, which are bought for it; others are not', async () => {
  const { page, complaints } = await dashboard.visit('', { viewport: phone });
  await chooseLicense(page, 'Nearly spent');
  const packs = page.getByRole('region', { name: 'More credits' });
  await packs.getByText('200 credits for €9.90').waitFor();
  expect(await linkOf(page, 'Buy Large pack (new tab)')).toEqual([
    'https://example.com/buy/pack-large',
    { client_reference_id: dashboard.service.ready.licenses['nearly-spent'] },
  ]);
  await expectNoSidewaysScroll(page);
  await expectAccessible(page, 'the packs');
  await chooseLicense(page, 'Spring campaign');
  await page.getByText(/^This license ended on /).waitFor();
  expect(await packs.count()).toBe(0);
  expect(complaints).toEqual([]);
});
