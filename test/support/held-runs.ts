import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import type { RunningServer } from '../../local/http/server.ts';
import { deliver, emit, startContainer } from '../fuzz/quick-container.ts';
import { askFor, chooseIdentity, useDashboard, type Dashboard } from './browser.ts';

export interface HeldRuns {
  dashboard: Dashboard;
  /** Lets the model begin, or end, what it holds. */
  release(): void;
  /** From now on held requests wait for their turn. Otherwise they are being made. */
  holdBeforeStart(): void;
}

/**
 * A dashboard whose model holds each request of the identity `harbor` until the test releases it. An account may send ten
 * requests a minute, so the tests of a file may send no more than that.
 */
export function useHeldRuns(): HeldRuns {
  let gate: PromiseWithResolvers<void>;
  let begins = true;
  let container: RunningServer;
  beforeAll(async () => {
    container = await startContainer(async (request, res) => {
      const { delaySeconds, failWith } = request.identity.settings;
      const isHeld = delaySeconds !== undefined;
      if (isHeld && !begins) await gate.promise;
      emit(res, { event: 'started' });
      if (isHeld) await gate.promise;
      if (typeof failWith !== 'string') return deliver(request, res);
      emit(res, { event: 'failed', reason: 'model_error', message: failWith });
      res.end();
    });
  });
  const dashboard = useDashboard(() => ['--container', container.url]);
  afterAll(() => container.close());
  beforeEach(() => {
    gate = Promise.withResolvers<void>();
    begins = true;
  });
  return { dashboard, release: () => gate.resolve(), holdBeforeStart: () => void (begins = false) };
}

/** Sends a request in the playground. @returns its address */
export async function send(page: Page, identity: string, prompt: string): Promise<string> {
  const before = page.url();
  await chooseIdentity(page, identity);
  await askFor(page, prompt);
  await page.waitForURL((url) => url.href !== before && /\/playground\/[^/]+$/.test(url.pathname));
  return page.url();
}

/** What the panel says to screen readers. */
export const says = (page: Page, text: string | RegExp): Locator =>
  page.getByRole('region', { name: 'Result' }).getByRole('status').filter({ hasText: text });
export const isMade = (page: Page): Promise<void> => says(page, 'The image is being made').waitFor();
export const isReady = (page: Page): Promise<void> => page.getByText('1 credit charged').waitFor();
export const tiles = (page: Page): Locator =>
  page.getByRole('region', { name: 'Runs in this tab' }).getByRole('link');
