import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { chromium, type Browser, type BrowserContextOptions, type Locator, type Page } from 'playwright-core';
import { chromiumPath } from './chromium.ts';
import { generate, stored } from './requests.ts';
import { removeFolder, startService, type RunningService } from './service.ts';
import { until } from './until.ts';

export const phone = { width: 390, height: 844 };
export const desktop = { width: 1440, height: 900 };

export interface Visitor {
  page: Page;
  /** The errors that the browser wrote to the console. */
  complaints: string[];
}

export interface VisitOptions {
  viewport?: typeof phone;
  /** What the browser remembers from the beginning. */
  storageState?: BrowserContextOptions['storageState'];
}

export interface Dashboard {
  readonly service: RunningService;
  /** Ends with a slash. */
  readonly url: string;
  /** An empty page in a browser profile of its own. The profile is closed after the test. */
  open(options?: VisitOptions): Promise<Visitor>;
  /** The same at a page of the dashboard, signed in as the owner. */
  visit(path: string, options?: VisitOptions): Promise<Visitor>;
  /** Sends a request of a small image by a key of the demo, `pro` unless another is named. @returns its id */
  make(body: Record<string, unknown>, key?: string): Promise<string>;
  /** Whether a request of the owner's is stored. */
  isStored(requestId: string): Promise<boolean>;
}

/**
 * Starts a browser and a service for the tests of a file: an account may send only so many requests a minute.
 * @param args of the service, asked for when it starts
 * @param options.samples whether its identities get samples
 */
export function useDashboard(args: () => string[] = () => [], { samples = false } = {}): Dashboard {
  let browser: Browser;
  let service: RunningService;
  let signedIn: BrowserContextOptions['storageState'];

  beforeAll(async () => {
    [browser, service] = await Promise.all([openBrowser(), startService({ args: args(), samples })]);
  });
  afterEach(() => closePages(browser));
  afterAll(async () => {
    await Promise.all([browser.close(), service.end()]);
    removeFolder(service.dataDir);
  });

  const open = (options?: VisitOptions): Promise<Visitor> => openPage(browser, options);
  return {
    get service() {
      return service;
    },
    get url() {
      return service.ready.dashboardUrl;
    },
    open,
    async visit(path, options) {
      const visitor = await open({ ...options, ...(signedIn && { storageState: signedIn }) });
      const { page } = visitor;
      await page.goto(`${service.ready.dashboardUrl}${path}`);
      // The sign-in page remembers the browser from then on.
      if (signedIn === undefined) await signIn(page, service);
      // The screen has the focus now. A later focus would take it from what a test opens.
      await page.locator('main h1[tabindex]').waitFor();
      signedIn ??= await page.context().storageState();
      return visitor;
    },
    async make(body, key = 'pro') {
      const { headers } = await generate(service, service.ready.keys[key]!, body);
      return headers.get('x-request-id')!;
    },
    async isStored(requestId) {
      const { id } = await stored(service, service.ready.keys.pro!, requestId);
      return id === requestId;
    },
  };
}

function openBrowser(): Promise<Browser> {
  // Containers and CI machines run as root, where Chromium has no sandbox.
  return chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });
}

async function openPage(browser: Browser, options: VisitOptions = {}): Promise<Visitor> {
  const { viewport = desktop, storageState } = options;
  const context = await browser.newContext({
    viewport,
    colorScheme: 'light',
    reducedMotion: 'reduce',
    ...(storageState && { storageState }),
  });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  return { page, complaints };
}

/** Shows what the pages of a failed test said last. */
async function closePages(browser: Browser): Promise<void> {
  const contexts = browser.contexts();
  if ((globalThis as any).hasFailed) {
    for (const page of contexts.flatMap((context) => context.pages())) {
      const text = await page.locator('body').innerText({ timeout: 5000 }).catch(String);
      console.log(page.url(), text.replaceAll(/\n+/g, ' | '));
    }
  }
  await Promise.all(contexts.map((context) => context.close()));
}

/** Fills in the sign-in page. */
export async function signIn(
  page: Page,
  service: Pick<RunningService, 'ready'>,
  email = 'owner@example.test',
  password = service.ready.accounts[email]!.password,
): Promise<void> {
  await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules of axe whose outcome a theme can change. */
const colorRules = ['color-contrast', 'link-in-text-block'];

/** Expects that axe finds nothing on a page that follows the system's theme, in the light theme and in the dark one. */
export async function expectAccessible(page: Page, where: string): Promise<void> {
  await expectNoViolations(page, where);
  await prefer(page, 'dark');
  await expectNoViolations(page, `${where}, dark`, colorRules);
  await prefer(page, 'light');
}

/** Changes the system's theme, and waits until the page knows. */
export async function prefer(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  const changed = page.evaluate(() => {
    const { matchMedia } = globalThis as any;
    return new Promise<void>((resolve) => {
      const query = matchMedia('(prefers-color-scheme: dark)');
      query.addEventListener('change', () => resolve(), { once: true });
    });
  });
  await page.emulateMedia({ colorScheme });
  await changed;
}

/** Expects that axe finds nothing by the rules of WCAG 2.2 A and AA and best practices, or by those that are named. */
export async function expectNoViolations(page: Page, where: string, rules?: string[]): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource);
  const violations = await page.evaluate(async (only) => {
    const { axe, document } = globalThis as any;
    const { violations: found } = await axe.run(document, {
      resultTypes: ['violations'],
      preload: false,
      ...(only && { runOnly: only }),
    });
    return found.map(({ id, help, nodes }: any) => ({
      rule: id,
      help,
      nodes: nodes.map((node: any) => `${node.html} — ${node.failureSummary}`),
    }));
  }, rules);
  expect({ where, violations }).toEqual({ where, violations: [] });
}

/** Expects that nothing is wider than the window, at the latest when what fits itself to it has done so. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const { scrollWidth, clientWidth } = (globalThis as any).document.documentElement;
    return scrollWidth === clientWidth;
  });
}

/** Waits until a screen has its title, which has the focus then, and all that it loads. */
export async function loaded(page: Page): Promise<void> {
  await page.locator('main h1[tabindex]').waitFor();
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
}

/** Waits until a page is loaded, and expects that nothing is wider than the window and that axe finds nothing. */
export async function expectFits(page: Page, where: string): Promise<void> {
  await loaded(page);
  await expectNoSidewaysScroll(page);
  await expectAccessible(page, where);
}

/** Waits for a screen by its only h1. */
export async function screen(page: Page, name: string | RegExp): Promise<void> {
  await page.getByRole('heading', { level: 1, name }).waitFor();
}

/** Presses Tab until the focus is on an element. */
export async function tabTo(page: Page, element: Locator): Promise<void> {
  await element.waitFor();
  for (let presses = 0; presses < 80; presses += 1) {
    if (await hasFocus(element)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab did not reach ${String(element)}.`);
}

/** The width of an image in pixels, once it is loaded. */
export function naturalWidth(page: Page, alt: string): Promise<number> {
  return page.getByRole('img', { name: alt }).evaluate(async (image: any) => {
    await image.decode();
    // Where an image may choose among files, its natural width is that of its place.
    const { Image } = globalThis as any;
    const alone = new Image();
    alone.src = image.currentSrc;
    await alone.decode();
    return alone.naturalWidth;
  });
}

export async function chooseIdentity(page: Page, identity: string): Promise<void> {
  await page.getByRole('button', { name: /^Identity/ }).click();
  await page.getByRole('menuitemradio', { name: new RegExp(`^${identity}`) }).click();
}

export const licenseMenu = (page: Page): Locator =>
  page.getByRole('button', { name: /^License/ }).locator('visible=true');

export async function chooseLicense(page: Page, name: string): Promise<void> {
  await licenseMenu(page).click();
  await page.getByRole('menuitemradio', { name: new RegExp(`^${name}`) }).click();
}

/** Follows a link of the navigation, to the screen of its name unless another is named. */
export async function goTo(page: Page, name: string, title = name): Promise<void> {
  await page.getByRole('link', { name, exact: true }).locator('visible=true').first().click();
  await screen(page, title);
}

export function openAccountMenu(page: Page): Promise<void> {
  return page.getByRole('button', { name: 'Account' }).locator('visible=true').click();
}

/** Signs out in the account menu. */
export async function signOut(page: Page): Promise<void> {
  await openAccountMenu(page);
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
}

export const promptField = (page: Page): Locator => page.getByLabel('Prompt', { exact: true });

/** Asks the playground for a small image. */
export async function askFor(page: Page, prompt: string): Promise<void> {
  await promptField(page).fill(prompt);
  await page.getByRole('radio', { name: /^Small/ }).click();
  await page.getByRole('button', { name: /^Generate/ }).click();
}

/** Everything that a script can read of what the browser keeps for this site. */
export function kept(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const { localStorage, sessionStorage, document, indexedDB, caches, location, history } =
      globalThis as any;
    const stores = [
      { ...localStorage },
      { ...sessionStorage },
      document.cookie,
      location.href,
      history.state,
    ];
    return JSON.stringify([...stores, await indexedDB.databases(), await caches.keys()]);
  });
}

/** Waits until the clipboard has a text. */
export function isCopied(page: Page, text: string): Promise<void> {
  const copied = () => page.evaluate(() => (globalThis as any).navigator.clipboard.readText());
  return until('it is copied', async () => (await copied()) === text);
}

export function hasFocus(element: Locator): Promise<boolean> {
  return element.evaluate((one: any) => one === one.ownerDocument.activeElement);
}

/**
 * Loads a page of pictures twice, in a browser that has kept nothing, and scrolls through them.
 * @returns the bytes that came over the network each time
 */
export async function bytesOf(page: Page, url: string, pictures: number): Promise<[number, number]> {
  await page.goto('about:blank');
  const session = await page.context().newCDPSession(page);
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  await session.send('Network.enable');
  await session.send('Network.clearBrowserCache');
  const seeAll = async (): Promise<void> => {
    const images = page.locator('main article img');
    await images.nth(pictures - 1).waitFor();
    for (const image of await images.all()) {
      await image.scrollIntoViewIfNeeded();
      await image.evaluate((element: any) => element.decode());
    }
  };
  await page.goto(url);
  await seeAll();
  const first = bytes;
  await page.reload();
  await seeAll();
  console.log(`${url}: ${first} bytes, loaded again: ${bytes - first}`);
  return [first, bytes - first];
}
