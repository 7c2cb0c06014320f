import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { licenseStore } from '../../shared/store/license-store.ts';
import { chromiumPath } from '../support/chromium.ts';
import { issueKey, tableOf } from '../support/grants.ts';
import { generate } from '../support/requests.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';
import { percentile } from './statistics.ts';

const usage = `npm run paint -- [options]

  --loads N   how often each page is loaded (default 5)
  --data DIR  keeps the service's folder there, with its images, for another run

Measures when the largest part of a page has been painted (LCP), in Chromium at 9 Mbit/s and 40 ms. Nothing else should
run on the machine.`;

/** 9 Mbit/s down, 3 Mbit/s up. */
const network = { offline: false, latency: 40, downloadThroughput: 1_125_000, uploadThroughput: 375_000 };
const viewport = { width: 1440, height: 900 };
const requests = 24;
const pages = { History: 'history', Overview: '' };

interface Paint {
  /** From the moment the address was opened, with the way over the login domain and back, or from the form's button. */
  sinceOpenedMs: number;
  /** From the beginning of the last of these pages: what browsers report as LCP. */
  ofPageMs: number;
}

type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      loads: { type: 'string', default: '5' },
      data: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const loads = Number(values.loads);
  if (values.help || !(loads >= 1)) return console.log(usage);
  const [browser, service] = await Promise.all([
    // Containers run as root, where Chromium has no sandbox.
    chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] }),
    startService({ ...(values.data !== undefined && { dataDir: values.data }) }),
  ]);
  try {
    await fillHistory(service);
    await report(browser, service, loads);
  } finally {
    await Promise.all([browser.close(), service.end()]);
    if (values.data === undefined) removeFolder(service.dataDir);
  }
}

async function report(browser: Browser, service: RunningService, loads: number): Promise<void> {
  console.log(`median (lowest–highest) of ${loads} loads in ms; load average ${loadavg()[0]!.toFixed(1)}`);
  for (const [name, path] of Object.entries(pages)) {
    const url = `${service.ready.dashboardUrl}${path}`;
    const first: Paint[] = [];
    const cold: Paint[] = [];
    const warm: Paint[] = [];
    for (let i = 0; i < loads; i++) {
      const storageState = await loadAndSignIn(browser, service, url, first);
      await loadTwice(browser, storageState, url, [cold, warm]);
    }
    console.log(`${name}, after the sign-in form's button: ${wordsOf(first)}`);
    console.log(`${name}, signed in, nothing cached: ${wordsOf(cold)}`);
    console.log(`${name}, signed in, files cached: ${wordsOf(warm)}`);
  }
  console.log(`load average at the end ${loadavg()[0]!.toFixed(1)}`);
}

function wordsOf(paints: Paint[]): string {
  const words = (times: number[]): string => {
    const [low, middle, high] = [0, 0.5, 1].map((share) => percentile(times, share).toFixed(0));
    return `${middle} (${low}–${high})`;
  };
  const since = words(paints.map(({ sinceOpenedMs }) => sinceOpenedMs));
  return `${since}, of the last page alone ${words(paints.map(({ ofPageMs }) => ofPageMs))}`;
}

async function openSlowly(browser: Browser, storageState?: StorageState): Promise<Page> {
  const context = await browser.newContext({ viewport, ...(storageState && { storageState }) });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', network);
  return page;
}

/** Signs in, in a new profile. @returns what the login domain knows the browser by from then on. */
async function loadAndSignIn(
  browser: Browser,
  { ready }: RunningService,
  url: string,
  paints: Paint[],
): Promise<StorageState> {
  const page = await openSlowly(browser);
  const email = 'owner@example.test';
  await page.goto(url);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(ready.accounts[email]!.password);
  const button = page.getByRole('button', { name: 'Sign in' });
  paints.push(await paintAfter(page, () => button.click({ noWaitAfter: true })));
  const storageState = await page.context().storageState();
  await page.context().close();
  return storageState;
}

/** Loads a page in a new profile that is signed in, and then once more. */
async function loadTwice(
  browser: Browser,
  storageState: StorageState,
  url: string,
  [cold, warm]: [Paint[], Paint[]],
): Promise<void> {
  const page = await openSlowly(browser, storageState);
  const open = () => page.goto(url, { waitUntil: 'commit' });
  cold.push(await paintAfter(page, open));
  await page.goto('about:blank');
  warm.push(await paintAfter(page, open));
  await page.context().close();
}

async function paintAfter(page: Page, act: () => Promise<unknown>): Promise<Paint> {
  const openedMs = Date.now();
  await act();
  await page.locator('main img').first().waitFor();
  await page.waitForLoadState('networkidle');
  const { originMs, ofPageMs } = await page.evaluate(largestPaint);
  return { sinceOpenedMs: originMs + ofPageMs - openedMs, ofPageMs };
}

/** Runs in the page. */
function largestPaint(): Promise<{ originMs: number; ofPageMs: number }> {
  const { performance, PerformanceObserver } = globalThis as any;
  return new Promise((resolve) => {
    new PerformanceObserver((list: any) => {
      const ofPageMs = list.getEntries().at(-1).startTime;
      resolve({ originMs: performance.timeOrigin, ofPageMs });
    }).observe({ type: 'largest-contentful-paint', buffered: true });
  });
}

async function fillHistory(service: RunningService): Promise<void> {
  const { ready, dataDir, api } = service;
  const { body } = await api({ path: `/generate?limit=${requests}`, key: ready.keys.pro });
  const missing = requests - body.generations.length;
  if (missing <= 0) return;
  const bodyOf = (seed: number) => ({
    identityId: ready.identities[['aurora', 'basalt'][seed % 2]!],
    seed,
    width: 1024,
    height: 1024,
  });
  const first = await generate(service, ready.keys.pro!, bodyOf(0));
  const record = await api({ path: `/generate/${first.body.requestId}`, key: ready.keys.pro });
  const table = tableOf(dataDir);
  const license = (await licenseStore(table).get(record.body.licenseId))!;
  // A key may ask for ten a minute.
  const keys = await Promise.all([1, 2, 3].map(() => issueKey(table, license)));
  for (let i = 1; i < missing; i++) {
    const { status, body: answer } = await generate(service, keys[i % 3]!.key, bodyOf(i));
    if (status !== 200) throw new Error(`POST /generate answered ${status}: ${answer.error}`);
  }
}

await main();
