import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { useDashboard } from '../support/browser.ts';

const dashboard = useDashboard();

/** A page of 1280 × 900 at 200%, and a phone of the smallest size with a bar of its browser's. */
const windows = [
  { width: 640, height: 450 },
  { width: 320, height: 640 },
];

interface Stop {
  what: string;
  /** Whether the middle of what has the focus is seen, and not below something else. */
  isSeen: boolean;
}

/** Notes in the page, each time that a key is let go, what has the focus. At the end of the page the focus stays. */
function noteStops(page: Page): Promise<void> {
  return page.evaluate(() => {
    const { document, window, innerWidth, innerHeight } = globalThis as any;
    const stopNow = (): Stop | null => {
      const focused = document.activeElement;
      if (focused === null || focused === document.body) return null;
      const { left, right, top, bottom } = focused.getBoundingClientRect();
      const x = Math.min(innerWidth - 1, Math.max(0, (left + right) / 2));
      // Of what is higher than the window, the part that is in it.
      const y = (Math.max(0, top) + Math.min(innerHeight - 1, bottom)) / 2;
      const hit = document.elementFromPoint(x, y);
      const label = focused.closest('label');
      const isSeen =
        top < innerHeight &&
        bottom > 0 &&
        hit !== null &&
        (focused.contains(hit) || hit.contains(focused) || label?.contains(hit));
      return { what: focused.outerHTML.slice(0, 160), isSeen };
    };
    window.stops = [];
    window.addEventListener('keyup', ({ key }: any) => {
      if (key === 'Tab' && window.stops.at(-1) !== null) window.stops.push(stopNow());
    });
    const stay = (event: any) => window.stops.at(-1) === null && event.preventDefault();
    window.addEventListener('keydown', stay, { capture: true });
  });
}

/** Presses a key until the focus has gone through the page. @returns what was below something when it had the focus */
async function hiddenStops(page: Page, key: 'Tab' | 'Shift+Tab'): Promise<string[]> {
  await page.evaluate(() => ((globalThis as any).stops.length = 0));
  let stops: (Stop | null)[] = [];
  for (let count = 0; count < 120 && stops.at(-1) !== null; count += 10) {
    for (let i = 0; i < 10; i++) await page.keyboard.press(key);
    stops = await page.evaluate(() => (globalThis as any).stops);
  }
  const seen = stops.filter((stop) => stop !== null);
  expect(seen.length).toBeGreaterThan(8);
  return seen.filter(({ isSeen }) => !isSeen).map(({ what }) => what);
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
    await page.locator('main h1[tabindex]').waitFor();
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
    await noteStops(page);
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
