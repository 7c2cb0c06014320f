import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { loaded, useDashboard } from '../support/browser.ts';

const dashboard = useDashboard();

/** A page of 1280 × 900 at 200%, and a phone of the smallest size with a bar of its browser's. */
const windows = [
  { width: 640, height: 450 },
  { width: 320, height: 640 },
];

/** What has the focus, null at the ends of the page, and whether its middle is seen, not below something else. */
function focusNow(page: Page): Promise<{ what: string; isSeen: boolean } | null> {
  return page.evaluate(() => {
    const { document, innerWidth, innerHeight } = globalThis as any;
    const focused = document.activeElement;
    if (focused === null || focused === document.body) return null;
    const { left, right, top, bottom } = focused.getBoundingClientRect();
    const x = Math.min(innerWidth - 1, Math.max(0, (left + right) / 2));
    // Of what is higher than the window, the part that is in it.
    const y = (Math.max(0, top) + Math.min(innerHeight - 1, bottom)) / 2;
    const hit = document.elementFromPoint(x, y);
    const isOver = [focused, focused.closest('label')].some((one) => one?.contains(hit));
    const isSeen = top < innerHeight && bottom > 0 && hit !== null && (isOver || hit.contains(focused));
    return { what: focused.outerHTML.slice(0, 160), isSeen };
  });
}

/** Presses a key until the focus has gone through the page. @returns what was below something when it had the focus */
async function hiddenStops(page: Page, key: 'Tab' | 'Shift+Tab'): Promise<string[]> {
  const stops = [];
  for (let count = 0; count < 120; count += 1) {
    await page.keyboard.press(key);
    const stop = await focusNow(page);
    if (stop === null) break;
    stops.push(stop);
  }
  expect(stops.length).toBeGreaterThan(8);
  return stops.filter(({ isSeen }) => !isSeen).map(({ what }) => what);
}

let run: string;

beforeAll(async () => {
  const { aurora } = dashboard.service.ready.identities;
  run = await dashboard.make({ identityId: aurora, numOutputs: 4, prompt: 'four of them' });
});

test.each(windows)('in a window of $width × $height no bar covers what has the focus', async (viewport) => {
  const { page } = await dashboard.visit('', { viewport });
  for (const path of ['', 'history', `history/${run}`, 'keys', `playground/${run}`, 'quickstart']) {
    await page.goto(`${dashboard.url}${path}`);
    await loaded(page);
    for (const key of ['Tab', 'Shift+Tab'] as const) {
      expect({ path, key, hidden: await hiddenStops(page, key) }).toEqual({ path, key, hidden: [] });
    }
  }
});

test('bars that stay take less than a quarter of a low window', async () => {
  const { page } = await dashboard.visit('playground', { viewport: windows[0]! });
  await page.evaluate(() => (globalThis as any).scrollTo(0, 300));
  const taken = await page.evaluate(() => {
    const { document, innerHeight } = globalThis as any;
    const rows = Array.from({ length: innerHeight }, (_, y) => document.elementFromPoint(5, y));
    return rows.filter((hit) => hit?.closest('header, nav, .submit-bar')).length / innerHeight;
  });
  expect(taken).toBeLessThan(1 / 4);
});
