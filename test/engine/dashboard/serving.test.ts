import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openDashboard } from '../../../local/dashboard/dashboard.ts';
import { sendRaw, type RawAnswer } from '../../support/raw-request.ts';

const vite = fileURLToPath(new URL('../../../node_modules/vite', import.meta.url));
const config = {
  apiBaseUrl: 'http://127.0.0.1:4600/api/v1',
  signIn: { issuer: 'http://127.0.0.1:4600/pool', clientId: 'client-1', domainUrl: 'http://127.0.0.1:4600' },
};

/** What is served: a page, its script and style, and files of every kind. */
const sources: Record<string, string> = {
  'dashboard/package.json': '{ "type": "module" }',
  'dashboard/tsconfig.json': '{}',
  'dashboard/vite.config.ts': "export default { logLevel: 'error' };",
  'dashboard/scalar-build.ts': 'export {};',
  'dashboard/index.html':
    '<!doctype html><title>The app</title><script type="module" src="/src/main.js"></script>',
  'dashboard/src/main.js': "import './main.css';\ndocument.title = 'Łódź';",
  'dashboard/src/main.css': 'body { color: red }',
  'dashboard/public/icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'dashboard/public/icon.png': 'png',
  'dashboard/public/font.woff2': 'woff2',
  'dashboard/public/robots.txt': 'User-agent: *',
  'dashboard/public/app.webmanifest': '{}',
  'dashboard/public/data.json': '{"a":1}',
  'dashboard/public/photo.JPG': 'jpg',
  'dashboard/public/with space.txt': 'a space',
  'dashboard/public/.env': 'hidden',
  'dashboard/public/.well-known/security.txt': 'hidden',
  'dashboard/secret.txt': 'secret',
  'client/src/index.ts': 'export {};',
  'shared/contracts/dashboard.ts': 'export {};',
};

const root = realpathSync(mkdtempSync(join(tmpdir(), 'dashboard-')));
const folder = join(root, 'dashboard');
const log: string[] = [];
const dashboard = openDashboard({ folder, config, log: (sentence) => log.push(sentence) });
const server = createServer((req, res) => {
  dashboard.handle(req, res).catch(() => res.destroy());
});
let url: string;
let assets: string[];

beforeAll(async () => {
  for (const [path, content] of Object.entries(sources)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(vite, join(folder, 'node_modules', 'vite'));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await dashboard.prepare();
  assets = (await get('/')).text.match(/\/assets\/[\w.-]+/g) ?? [];
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  rmSync(root, { recursive: true, force: true });
});

/** Sends a path as it is written, whatever other clients make of `..`. */
function get(path: string, method = 'GET'): Promise<RawAnswer> {
  return sendRaw(url, { method, path: path.slice(1) });
}

const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': expect.stringContaining('camera=()'),
};

function headersOf({ headers }: RawAnswer): Record<string, string> {
  return Object.fromEntries(headers);
}

function policyOf({ headers }: RawAnswer): Record<string, string> {
  const directives = headers.get('content-security-policy')!.split('; ');
  return Object.fromEntries(directives.map((directive) => directive.split(/ (.*)/s).slice(0, 2)));
}

function expectMissing(answer: RawAnswer): void {
  expect(answer.status).toBe(404);
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

describe('a built dashboard', () => {
  test('says in one line that it was built', () => {
    expect(log).toEqual(['The dashboard was built.']);
  });

  test('answers the page at the start, and at every address within the app', async () => {
    const page = await get('/');
    expect(page.status).toBe(200);
    expect(page.text).toContain('<title>The app</title>');
    expect(headersOf(page)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-length': String(Buffer.byteLength(page.text)),
    });
    for (const path of [
      '/history',
      '/history/01a1',
      '/callback?code=a.b&state=c',
      '/keys/',
      '//keys',
      '/%C5%82',
      '/assets',
    ]) {
      expect({ path, ...(await get(path)) }).toMatchObject({ status: 200, text: page.text });
    }
    expect((await get('/index.html')).text).toBe(page.text);
  });

  test('tells browsers to keep what is named after its content, and to ask for the rest again', async () => {
    expect(assets).toHaveLength(2);
    for (const path of assets) {
      const answer = await get(path);
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      const type = path.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8';
      expect(answer.headers.get('content-type')).toBe(type);
      expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(answer.text)));
    }
    expect((await get('/icon.svg')).headers.get('cache-control')).toBe('no-cache');
  });

  test.each([
    ['/icon.svg', 'image/svg+xml'],
    ['/icon.png', 'image/png'],
    ['/font.woff2', 'font/woff2'],
    ['/robots.txt', 'text/plain; charset=utf-8'],
    ['/app.webmanifest', 'application/manifest+json'],
    ['/data.json', 'application/json'],
    ['/photo.JPG', 'application/octet-stream'],
    ['/with%20space.txt?v=1', 'text/plain; charset=utf-8'],
  ])('answers %s as %s, with its content', async (path, type) => {
    const answer = await get(path);
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.headers.get('content-type')).toBe(type);
    const name = decodeURIComponent(path.split('?')[0]!);
    expect(answer.text).toBe(sources[`dashboard/public${name}`]);
  });

  test('answers /config.json exactly, and nobody keeps it', async () => {
    const answer = await get('/config.json?x=1');
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toEqual(config);
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
    expect(headersOf(answer)).toMatchObject({ ...securityHeaders, ...headers });
  });

  test.each([
    '/missing.js',
    '/assets/index-AAAAAAAA.js',
    '/history/page.html',
    '/favicon.ico',
    '/config.json/x.y',
  ])('answers %s, which no file has, in the way of the API', async (path) => expectMissing(await get(path)));

  test('forbids what the app does not need, on every answer', async () => {
    for (const path of [
      '/',
      '/history',
      assets[0]!,
      '/icon.svg',
      '/config.json',
      '/missing.js',
      '/../secret.txt',
    ]) {
      const answer = await get(path);
      expect(headersOf(answer)).toMatchObject(securityHeaders);
      const { 'style-src': style, ...policy } = policyOf(answer);
      expect(policy).toEqual({
        'default-src': "'self'",
        'script-src': "'self'",
        'img-src': "'self' data: blob:",
        'connect-src': "'self'",
        'font-src': "'self'",
        'object-src': "'none'",
        'base-uri': "'none'",
        'form-action': "'self'",
        'frame-ancestors': "'none'",
      });
      expect(style).toBe("'self' 'unsafe-inline'");
    }
  });

  test.each([
    '/../secret.txt',
    '/assets/../../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e%2fsecret.txt',
    '/assets/%2e%2e/%2e%2e/secret.txt',
    '/assets%2f..%2f..%2fsecret.txt',
    '/..\\secret.txt',
    '/..%5csecret.txt',
    '/assets\\..\\..\\secret.txt',
    '/%252e%252e/secret.txt',
    '/icon.svg%00.txt',
    '/icon.svg%00',
    '/%00',
    '/..',
    '/.env',
    '/%2eenv',
    '/.well-known/security.txt',
    '//etc/passwd.txt',
    '/%2fetc%2fhosts.txt',
    '/icon.svg/x.txt',
    '/assets.',
    '/%',
    '/%zz.txt',
    '/%ff.txt',
  ])('gives nothing away at %s', async (path) => {
    const answer = await get(path);
    expect(answer.text).not.toMatch(/secret|hidden|root:|localhost|<svg/);
    expectMissing(answer);
  });

  test('has no file of a name that no file can have', async () => {
    expectMissing(await get(`/${'a'.repeat(5000)}.txt`));
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('has nothing for %s', async (method) => {
    for (const path of ['/', '/icon.svg', '/config.json']) expectMissing(await get(path, method));
  });

  test('answers HEAD as GET, without the content', async () => {
    for (const path of ['/', '/history', assets[0]!, '/icon.svg', '/config.json', '/missing.js']) {
      const [whole, head] = [await get(path), await get(path, 'HEAD')];
      const fleeting = { date: '', 'x-request-id': '' };
      expect({ ...headersOf(head), ...fleeting }).toEqual({ ...headersOf(whole), ...fleeting });
      expect(head).toMatchObject({ status: whole.status, text: '' });
    }
  });
});
