import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openDashboard, type Dashboard } from '../../../local/dashboard/dashboard.ts';
import { sendRaw, type RawAnswer } from '../../support/raw-request.ts';
import { until } from '../../support/until.ts';

const vite = fileURLToPath(new URL('../../../node_modules/vite', import.meta.url));
const config = {
  apiBaseUrl: 'http://127.0.0.1:4600/api/v1',
  signIn: { issuer: 'http://127.0.0.1:4600/pool', clientId: 'client-1', domainUrl: 'http://127.0.0.1:4600' },
};
/** A build that tells that it began, and waits while the file `hold` is there. */
const viteConfig = `
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
const buildStart = async () => {
  writeFileSync('../began', '');
  while (existsSync('../hold')) await pause(20);
};
export default { logLevel: 'error', plugins: [{ name: 'hold', buildStart }] };`;

let root: string;
let folder: string;
let log: string[];
let dashboard: Dashboard;
let server: Server;

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'dashboard-')));
  folder = join(root, 'dashboard');
  const folders = ['src', 'public', 'node_modules', '../client/src', '../shared/contracts'];
  for (const name of folders) {
    mkdirSync(join(folder, name), { recursive: true });
  }
  symlinkSync(vite, join(folder, 'node_modules', 'vite'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'tsconfig.json'), '{}');
  writeFileSync(join(folder, 'vite.config.ts'), viteConfig);
  writeFileSync(join(folder, 'scalar-build.ts'), 'export {};');
  writePage('<title>The app</title>');
  writeFileSync(join(root, 'hold'), '');
  log = [];
  dashboard = openDashboard({ folder, config, patienceMs: 0, log: (sentence) => log.push(sentence) });
  server = createServer((req, res) => {
    dashboard.handle(req, res).catch(() => res.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
});

afterEach(async () => {
  dashboard.close();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  rmSync(root, { recursive: true, force: true });
});

const goOn = (): void => rmSync(join(root, 'hold'), { force: true });
const writePage = (html: string): void => writeFileSync(join(folder, 'index.html'), `<!doctype html>${html}`);
const brokenPage = '<script type="module" src="/src/missing.js"></script>';

function get(path: string, method = 'GET'): Promise<RawAnswer> {
  const { port } = server.address() as AddressInfo;
  return sendRaw(`http://127.0.0.1:${port}`, { method, path: path.slice(1) });
}

const noticeHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  // Nothing but the notice's own style: no script, no image, no connection.
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
};

function headersOf({ headers }: RawAnswer): Record<string, string> {
  return Object.fromEntries(headers);
}

describe('while the dashboard is being prepared', () => {
  test('every page says so, refreshes itself, and becomes the app once it is built', async () => {
    const prepared = dashboard.prepare();
    for (const path of ['/', '/history', '/callback?code=1']) {
      const answer = await get(path);
      expect(answer.status).toBe(503);
      expect(headersOf(answer)).toMatchObject({ ...noticeHeaders, 'retry-after': '1' });
      expect(answer.text).toContain('<title>Preparing the dashboard</title>');
      expect(answer.text).toContain('<meta http-equiv="refresh" content="1">');
    }
    expect(log).toEqual([]);
    goOn();
    await prepared;
    expect(await get('/history')).toMatchObject({ status: 200, text: expect.stringContaining('The app') });
    expect(log).toEqual(['The dashboard was built.']);
  });

  test('files say so as the API does, /config.json is there, and other methods have nothing', async () => {
    const file = await get('/assets/index.js');
    expect(file.status).toBe(503);
    expect(JSON.parse(file.text)).toEqual({ error: expect.any(String), code: 'SERVICE_UNAVAILABLE' });
    expect(headersOf(file)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'retry-after': '1',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'content-security-policy': expect.stringContaining("default-src 'self'"),
    });
    expect(JSON.parse((await get('/config.json')).text)).toEqual(config);
    expect((await get('/', 'POST')).status).toBe(404);
    expect((await get('/%2e%2e/x')).status).toBe(404);
  });

  test('HEAD is answered as GET, without the page', async () => {
    const [whole, head] = [await get('/'), await get('/', 'HEAD')];
    expect({ ...headersOf(head), date: '' }).toEqual({ ...headersOf(whole), date: '' });
    expect(head).toMatchObject({ status: 503, text: '' });
  });

  test('an older build is not shown for the new one', async () => {
    goOn();
    await dashboard.prepare();
    writePage('<title>A newer app</title>');
    const later = openDashboard({ folder, config, patienceMs: 0 });
    server.removeAllListeners('request');
    server.on('request', (req, res) => void later.handle(req, res));
    expect((await get('/')).status).toBe(503);
    await later.prepare();
    expect((await get('/')).text).toContain('A newer app');
  });
});

test('a page that is asked for while the app is built waits for it, within its patience', async () => {
  const patient = openDashboard({ folder, config });
  server.removeAllListeners('request');
  server.on('request', (req, res) => void patient.handle(req, res));
  const prepared = patient.prepare();
  await until('the build began', () => existsSync(join(root, 'began')));
  const page = get('/history');
  goOn();
  await prepared;
  expect(await page).toMatchObject({ status: 200, text: expect.stringContaining('The app') });
});

test('a dashboard that is built already is served at once, and nothing is said of it', async () => {
  goOn();
  await dashboard.prepare();
  log = [];
  await dashboard.prepare();
  expect(log).toEqual([]);
  expect((await get('/')).status).toBe(200);
});

describe('a dashboard that can’t be built', () => {
  test('has a page that says what to do and does not refresh, and tells why in the terminal', async () => {
    writePage(brokenPage);
    goOn();
    await dashboard.prepare();
    const answer = await get('/history');
    expect(answer.status).toBe(500);
    expect(headersOf(answer)).toMatchObject(noticeHeaders);
    expect(headersOf(answer)).not.toHaveProperty('retry-after');
    expect(answer.text).toContain('The dashboard could not be prepared');
    expect(answer.text).toContain('<code>npm run build</code>');
    expect(answer.text).not.toContain('http-equiv="refresh"');
    // Where this machine keeps its files is nobody's business in a browser.
    expect(answer.text).not.toContain(root);
    expect(log).toEqual([
      expect.stringMatching(/^The dashboard could not be built: run "npm run build" .*missing\.js/s),
    ]);
    expect(JSON.parse((await get('/config.json')).text)).toEqual(config);
  });

  test('for want of its sources has the same page, and throws nothing', async () => {
    rmSync(join(folder, 'src'), { recursive: true });
    await dashboard.prepare();
    expect(await get('/')).toMatchObject({ status: 500 });
    expect(log).toEqual([expect.stringMatching(/^The dashboard could not be built/)]);
  });
});

test('closing ends a build under way, says nothing and leaves no dashboard', async () => {
  const prepared = dashboard.prepare();
  await until('the build began', () => existsSync(join(root, 'began')));
  dashboard.close();
  await prepared;
  expect(log).toEqual([]);
  expect(existsSync(join(folder, 'dist'))).toBe(false);
  expect((await get('/')).status).toBe(503);
});
