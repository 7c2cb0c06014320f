import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from '@jest/globals';
import { chromium, type Browser, type Page } from 'playwright-core';
import { chromiumPath } from './chromium.ts';
import type { RunningService } from './service.ts';

export const phone = { width: 390, height: 844 };
export const desktop = { width: 1440, height: 900 };

export function openBrowser(): Promise<Browser> {
  // Chromium has no sandbox of its own for root, as whom containers and CI machines run.
  return chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });
}

export interface Visitor {
  page: Page;
  /** What the page complained about: a test that expects none asks for it. */
  complaints: string[];
  close(): Promise<void>;
}

/** A browser profile of its own, as a first visit. */
export async function openPage(
  browser: Browser,
  options: { viewport?: typeof phone; colorScheme?: 'light' | 'dark' } = {},
): Promise<Visitor> {
  const { viewport = desktop, colorScheme = 'light' } = options;
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  return { page, complaints, close: () => context.close() };
}

/** Fills in the sign-in page, wherever a visit led to it. */
export async function signIn(
  page: Page,
  service: Pick<RunningService, 'ready'>,
  email = 'owner@example.test',
  password = service.ready.accounts[email]!.password,
): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Demands that axe-core finds nothing on the page as it stands: rules of WCAG 2.2 A and AA, and best practices. */
export async function expectAccessible(page: Page, where: string): Promise<void> {
  await page.evaluate(axeSource);
  const violations = await page.evaluate(async () => {
    const { axe, document } = globalThis as any;
    const { violations: found } = await axe.run(document, {
      resultTypes: ['violations'],
    });
    return found.map((violation: any) => ({
      rule: violation.id,
      help: violation.help,
      nodes: violation.nodes.map((node: any) => `${node.html} — ${node.failureSummary}`),
    }));
  });
  expect({ where, violations }).toEqual({ where, violations: [] });
}

/** A first visit to a page of the dashboard, signed in through the sign-in page. */
export async function visitSignedIn(
  browser: Browser,
  service: RunningService,
  path: string,
  options: Parameters<typeof openPage>[1] = {},
): Promise<Visitor> {
  const visitor = await openPage(browser, options);
  await visitor.page.goto(`${service.ready.dashboardUrl}${path}`);
  await signIn(visitor.page, service);
  // By then the screen has the focus, which would take it from whatever a test opens.
  await visitor.page.locator('main h1').waitFor();
  return visitor;
}

/** Waits for a screen by its only h1. */
export async function screen(page: Page, name: string | RegExp): Promise<void> {
  await page.getByRole('heading', { level: 1, name }).waitFor();
}
