import { createServer } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { openDashboard, type Dashboard } from '../../../local/dashboard/dashboard.ts';
import type { DashboardConfig } from '../../../shared/accounts/dashboard-config.ts';
import { listen, type RunningServer } from '../../../local/http/server.ts';
import { sendRaw, type RawAnswer } from '../../support/raw-request.ts';
import { until } from '../../support/until.ts';
import { createProject, type Project } from './support.ts';

const config = { apiBaseUrl: 'http://127.0.0.1:4600/api/v1', retentionDays: 30 } as DashboardConfig;

const llmsText = '# The service';

/** Public files. */
const files: Record<string, string> = {
  'long.txt': 'long '.repeat(200),
  'long.png': 'long '.repeat(200),
  'short.txt': 'short',
  'icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'photo.JPG': 'jpg',
  'with space.txt': 'a space',
  '.env': 'hidden',
  '.well-known/security.txt': 'hidden',
};

let project: Project;
let log: string[];
let dashboard: Dashboard;
let server: RunningServer;

async function start(): Promise<void> {
  const publicFiles = Object.entries(files).map(([name, text]) => [`dashboard/public/${name}`, text]);
  project = createProject(Object.fromEntries(publicFiles));
  log = [];
  open(0);
  server = await listen(createServer((req, res) => dashboard.handle(req, res).catch(() => res.destroy())));
}
function open(patienceMs: number): void {
  const { folder } = project;
  dashboard = openDashboard({ folder, config, llmsText, patienceMs, log: (sentence) => log.push(sentence) });
}
async function stop(): Promise<void> {
  dashboard.close();
  await server.close();
  await project.clear();
}

/** Sends a path as it is written, whatever other clients make of `..`. */
const get = (path: string, method = 'GET'): Promise<RawAnswer> =>
  sendRaw(server.url, { method, path: path.slice(1) });
const headersOf = ({ headers }: RawAnswer): Record<string, string> => Object.fromEntries(headers);

async function expectSameHead(path: string): Promise<void> {
  const [whole, head] = [await get(path), await get(path, 'HEAD')];
  const fleeting = { date: '', 'x-request-id': '' };
  expect({ ...headersOf(head), ...fleeting }).toEqual({ ...headersOf(whole), ...fleeting });
  expect(head).toMatchObject({ status: whole.status, text: '' });
}

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  // Nothing but the page's own style: no script, no image, no connection.
  'content-security-policy': expect.stringMatching(
    /^default-src 'none'; style-src 'unsafe-inline'; .*; frame-ancestors 'none'$/,
  ),
  'x-content-type-options': 'nosniff',
};

describe('a dashboard that is being prepared', () => {
  beforeEach(async () => {
    await start();
    project.write('hold-start', '');
  });
  afterEach(stop);
  const goOn = (): void => project.remove('hold-start');
  const begun = () => until('the build began', () => project.builds().length > 0);

  test('says so on every page, which refreshes itself and becomes the app once it is built', async () => {
    const prepared = dashboard.prepare();
    for (const path of ['/', '/history', '/callback?code=1']) {
      const answer = await get(path);
      expect(answer.status).toBe(503);
      expect(headersOf(answer)).toMatchObject({ ...pageHeaders, 'retry-after': '1' });
      expect(answer.text).toContain('<title>Preparing the dashboard</title>');
      expect(answer.text).toContain('<meta http-equiv="refresh" content="1">');
    }
    await expectSameHead('/');
    expect(log).toEqual([]);
    goOn();
    await prepared;
    expect(await get('/history')).toMatchObject({ status: 200, text: expect.stringContaining('The app') });
    expect(log).toEqual(['The dashboard was built.']);
    // What is built already is served at once, and nothing is said of it.
    await dashboard.prepare();
    expect(log).toHaveLength(1);
    // An older build is not shown for the new one.
    project.write('dashboard/index.html', '<!doctype html><title>A newer app</title>');
    open(0);
    expect((await get('/')).status).toBe(503);
    await dashboard.prepare();
    expect((await get('/')).text).toContain('A newer app');
  });

  test('says so of files as the API does, has its /config.json, and nothing for other methods', async () => {
    const file = await get('/assets/index.js');
    expect(file.status).toBe(503);
    expect(JSON.parse(file.text)).toEqual({ error: expect.any(String), code: 'SERVICE_UNAVAILABLE' });
    expect(headersOf(file)).toMatchObject({ 'content-type': 'application/json', 'retry-after': '1' });
    expect(JSON.parse((await get('/config.json')).text)).toEqual(config);
    expect((await get('/', 'POST')).status).toBe(404);
  });

  test('lets a page that is asked for wait for it, within its patience', async () => {
    open(60_000);
    const prepared = dashboard.prepare();
    await begun();
    const page = get('/history');
    goOn();
    await prepared;
    expect(await page).toMatchObject({ status: 200, text: expect.stringContaining('The app') });
  });

  test('has a page that says what to do when it can’t be built, and says why in the terminal', async () => {
    project.write('dashboard/src/main.js', "import './missing.js';");
    goOn();
    await dashboard.prepare();
    const answer = await get('/history');
    expect(answer.status).toBe(500);
    expect(headersOf(answer)).toMatchObject(pageHeaders);
    expect(headersOf(answer)).not.toHaveProperty('retry-after');
    expect(answer.text).toContain('The dashboard could not be prepared');
    expect(answer.text).toContain('<code>npm run build</code>');
    expect(answer.text).not.toContain('http-equiv="refresh"');
    // Where this machine keeps its files is nobody's business in a browser.
    expect(answer.text).not.toContain(project.root);
    const why = /^The dashboard could not be built: run "npm run build" .*missing\.js/s;
    expect(log).toEqual([expect.stringMatching(why)]);
    expect(JSON.parse((await get('/config.json')).text)).toEqual(config);
    // The same for want of its sources; nothing is thrown.
    project.remove('dashboard/src');
    open(0);
    await dashboard.prepare();
    expect((await get('/')).status).toBe(500);
  });
});

describe('a built dashboard', () => {
  beforeAll(async () => {
    await start();
    await dashboard.prepare();
  });
  afterAll(stop);

  const securityHeaders = {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': expect.stringContaining('camera=()'),
    'content-security-policy':
      "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
      "connect-src 'self'; font-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; " +
      "frame-ancestors 'none'",
  };

  function expectMissing(path: string, answer: RawAnswer): void {
    expect([path, answer.status]).toEqual([path, 404]);
    expect(JSON.parse(answer.text)).toEqual({
      error: 'There is nothing at this address. Check the method and the path.',
      code: 'NOT_FOUND',
    });
    expect(headersOf(answer)).toMatchObject({
      ...securityHeaders,
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  }

  test('answers the page at the start, and at every address within the app', async () => {
    const { status, text, headers } = await get('/');
    expect({ status, text }).toEqual({
      status: 200,
      text: expect.stringContaining('<title>The app</title>'),
    });
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
    const paths = ['/history/01a1', '/callback?code=a.b&state=c', '/keys/', '//keys', '/%C5%82', '/assets'];
    for (const path of paths) expect({ path, ...(await get(path)) }).toMatchObject({ status: 200, text });
  });

  test.each([
    ['/assets/main.js', 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['/index.html', 'text/html; charset=utf-8', 'no-cache'],
    ['/icon.svg', 'image/svg+xml', 'no-cache'],
    ['/photo.JPG', 'application/octet-stream', 'no-cache'],
    ['/with%20space.txt?v=1', 'text/plain; charset=utf-8', 'no-cache'],
  ])(
    'answers %s as %s, and browsers keep it only if it is named after its content',
    async (path, type, caching) => {
      const { status, headers } = await get(path);
      expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
        200,
        type,
        caching,
      ]);
    },
  );

  test.each([
    ['long.txt', 'br, gzip;q=0.8', 'gzip'],
    ['long.txt', 'gzip;q=0', null],
    ['short.txt', 'gzip', null],
    ['long.png', 'gzip', null],
  ])('%s for a client that takes %s has the coding %s', async (name, acceptEncoding, coding) => {
    const answer = await fetch(new URL(name, server.url), { headers: { 'accept-encoding': acceptEncoding } });
    expect([answer.headers.get('content-encoding'), await answer.text()]).toEqual([coding, files[name]]);
    expect(answer.headers.get('vary')).toBe(name === 'long.txt' ? 'Accept-Encoding' : null);
  });

  test('forbids what the app does not need, on every answer, and answers HEAD without the content', async () => {
    for (const path of ['/', '/assets/main.js', '/config.json', '/missing.js']) {
      expect(headersOf(await get(path))).toMatchObject(securityHeaders);
      await expectSameHead(path);
    }
    const { headers, text } = await get('/config.json?x=1');
    expect([JSON.parse(text), headers.get('cache-control')]).toEqual([config, 'no-store']);
  });

  test('has the text for language models, which knows where it is', async () => {
    const { text, headers } = await get('/llms.txt');
    expect([text, headers.get('content-type')]).toEqual([llmsText, 'text/plain; charset=utf-8']);
  });

  test('has nothing where no file is, in the way of the API, nor for other methods', async () => {
    const paths = ['/missing.js', '/history/page.html', '/config.json/x.y', `/${'a'.repeat(5000)}.txt`];
    for (const path of paths) expectMissing(path, await get(path));
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      for (const path of ['/', '/config.json']) expectMissing(path, await get(path, method));
    }
  });

  const climbs = [
    '/../',
    '/assets/../../',
    '/%2e%2e/',
    '/..%2f',
    '/assets%2f..%2f..%2f',
    '/..\\',
    '/%252e%252e/',
  ];
  const hidden = ['/..', '/.env', '/%2eenv', '/.well-known/security.txt', '//etc/passwd.txt', '/assets.'];
  const broken = ['/icon.svg%00.txt', '/icon.svg/x.txt', '/%', '/%zz.txt', '/%ff.txt', '/%2fetc%2fhosts.txt'];
  test.each([...climbs.map((climb) => `${climb}secret.txt`), ...hidden, ...broken])(
    'gives nothing away of what lies beside it: %s',
    async (path) => {
      const answer = await get(path);
      expect(answer.text).not.toMatch(/secret|hidden|root:|localhost|<svg/);
      expectMissing(path, answer);
    },
  );
});
