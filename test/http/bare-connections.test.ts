import { connect } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { expectError } from '../support/answers.ts';
import type { ApiAnswer } from '../support/service.ts';
import { newAccount, service } from './fixture.ts';

const { hostname, host: address, port, origin } = new URL(service.ready.baseUrl);
const { key, generate: generateImage } = await newAccount();

/** Sends bytes as they are; `thenEnds` its half of the connection too. @returns all that came back until its end. */
function talk(lines: string[], thenEnds = false): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    let received = '';
    socket.on('data', (chunk) => (received += chunk.toString('latin1')));
    socket.on('error', reject);
    socket.on('end', () => socket.end());
    socket.on('close', () => resolve(received));
    socket.write(lines.join('\r\n'), 'latin1');
    if (thenEnds) socket.end();
  });
}

/** The last answer of a connection; interim ones (100 Continue) come before it. */
function answerIn(received: string): ApiAnswer {
  const [head = '', rest = ''] = received.slice(received.lastIndexOf('HTTP/1.1 ')).split(/\r\n\r\n([^]*)/);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = new Headers(lines.map((line) => line.split(': ') as [string, string]));
  const body = JSON.parse(/\{.*\}/.exec(rest)?.[0] ?? '{}');
  return { status: Number(statusLine.split(' ')[1]), headers, body };
}

const ask = async (...lines: string[]) => answerIn(await talk(lines));
const close = 'Connection: close';
const host = `Host: ${address}`;
const bearer = `Authorization: Bearer ${key}`;
const health = 'GET /api/v1/health HTTP/1.1';
const generate = 'POST /api/v1/generate HTTP/1.1';

/** The beginning of a request with a body. */
const post = (...headers: string[]) => [generate, host, bearer, ...headers, ''];

describe('over a bare connection', () => {
  /** Node.js tests its parser; here are ways to hide one request in another, and what is no request at all. */
  test.each<[string, string[]]>([
    ['a body longer than its Content-Length', [...post('Content-Length: 1'), '{}']],
    [
      'a length and chunks',
      [...post('Content-Length: 2', 'Transfer-Encoding: chunked'), '2', '{}', '0', '', ''],
    ],
    ['two hosts', [health, host, 'Host: a.test', close, '', '']],
    ['the beginning of TLS', ['\x16\x03\x01\x02\x00\x01\x00\x01']],
  ])('%s is refused in the API’s shape, as the next connection shows', async (_what, lines) => {
    const answer = answerIn(await talk(lines, true));
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect((await ask(health, host, close, '', '')).status).toBe(200);
  });

  test.each([
    ['a path', [`GET /api/v1/${'x'.repeat(17_000)} HTTP/1.1`, host, '', '']],
    ['many headers', [health, host, ...Array.from({ length: 3000 }, () => 'a: b'), '', '']],
  ])('%s beyond 16 KiB are refused, and the sentence says so', async (_what, lines) => {
    const answer = await ask(...lines);
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toContain('16 KiB');
  });

  test('a client that waits for 100 Continue gets it, and who expects anything else gets the usual answer', async () => {
    for (const expected of ['100-continue', 'tea']) {
      const received = await talk([...post(close, `Expect: ${expected}`, 'Content-Length: 2'), '{}']);
      expect(received.startsWith('HTTP/1.1 100 Continue\r\n')).toBe(expected === '100-continue');
      expectError(answerIn(received), 400, 'MISSING_IDENTITY');
    }
  });

  test('chunks are one body, and headers after it are not headers', async () => {
    const chunked = [close, 'Transfer-Encoding: chunked'];
    expectError(await ask(...post(...chunked), '1', '{', '1', '}', '0', '', ''), 400, 'MISSING_IDENTITY');
    const unsigned = [generate, host, ...chunked, ''];
    expectError(await ask(...unsigned, '2', '{}', '0', bearer, '', ''), 401, 'INVALID_API_KEY');
  });

  test('an old client, and one that would rather speak something else, get plain answers', async () => {
    expect((await ask('GET /api/v1/health HTTP/1.0', '', '')).status).toBe(200);
    const upgrade = ['Connection: Upgrade, close', 'Upgrade: websocket'];
    expect((await ask(health, host, ...upgrade, '', '')).status).toBe(200);
  });

  test('a tunnel is not opened, and a request about nothing is no request of the API', async () => {
    expect(await talk(['CONNECT a.test:443 HTTP/1.1', host, '', ''])).toBe('');
    for (const line of ['OPTIONS * HTTP/1.1', 'TRACE /api/v1/health HTTP/1.1'])
      expect(await talk([line, host, close, '', ''])).toMatch(/^HTTP\/1\.1 404 /);
  });
});

/** The first line of an answer to a request for a whole address, as a client sends it to a proxy. */
async function statusOf(target: string, ...headers: string[]): Promise<string> {
  const received = await talk([`GET ${target} HTTP/1.1`, ...headers, close, '', '']);
  return /^HTTP\/1\.1 (\d+)/.exec(received)?.[1] ?? received;
}

describe('a request line with a whole address', () => {
  const other = 'Host: other.test';

  test.each([
    ['the API', '/api/v1/generate?limit=1'],
    ['the sign-in', '/.well-known/openid-configuration'],
    ['the dashboard', '/'],
  ])('is served as its path: %s', async (_what, path) => {
    const plain = await statusOf(path, host, bearer);
    for (const target of [`${origin}${path}`, `${origin.replace('http', 'HTTP')}${path}`])
      expect([target, await statusOf(target, other, bearer)]).toEqual([target, plain]);
  });

  test('is the one whose host a signature holds for, not the header', async () => {
    const { body } = await generateImage();
    const link = new URL(body.outputs[0]);
    expect(await statusOf(link.href, other)).toBe('200');
    expect(await statusOf(link.href.replace(link.hostname, 'localhost'), host)).toBe('403');
    expect(await statusOf(link.pathname + link.search, host)).toBe('200');
  });

  test.each(['ftp://a.test/api/v1/health', 'http://u:p@a.test/api/v1/health', 'http:///x', 'http:'])(
    '%s is no address of HTTP',
    async (target) => expect(await statusOf(target, host)).toBe('400'),
  );

  test('needs one Host all the same, and may have no path', async () => {
    const target = `${origin}/api/v1/health`;
    expect(await statusOf(target)).toBe('400');
    expect(await statusOf(target, host, other)).toBe('400');
    expect(await statusOf(`${origin}?a=b`, host)).toBe(await statusOf('/?a=b', host));
  });
});
