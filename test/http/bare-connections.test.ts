import { connect } from 'node:net';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { expectError } from '../support/answers.ts';
import { grant } from '../support/grants.ts';
import { generate as generateImage } from '../support/requests.ts';
import { type ApiAnswer } from '../support/service.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();

/** Sends bytes as they are; `thenEnds` its half of the connection too. @returns all that came back until its end. */
function talk(text: string, thenEnds = false): Promise<string> {
  const { hostname, port } = new URL(service.ready.baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    let received = '';
    socket.on('data', (chunk) => (received += chunk.toString('latin1')));
    socket.on('error', reject);
    socket.on('end', () => socket.end());
    socket.on('close', () => resolve(received));
    socket.write(text, 'latin1');
    if (thenEnds) socket.end();
  });
}

/** The last answer of a connection; interim ones (100 Continue) come before it. */
function answerIn(received: string): ApiAnswer {
  const [head = '', rest = ''] = received.slice(received.lastIndexOf('HTTP/1.1 ')).split(/\r\n\r\n([^]*)/);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = new Headers(lines.map((line) => line.split(': ') as [string, string]));
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    body: JSON.parse(/\{.*\}/.exec(rest)?.[0] ?? '{}'),
  };
}

const ask = async (...lines: string[]) => answerIn(await talk(lines.join('\r\n')));
const close = 'Connection: close';
const host = () => `Host: ${new URL(service.ready.baseUrl).host}`;
let key: string;
const bearer = () => `Authorization: Bearer ${key}`;

beforeAll(async () => {
  ({ key } = await grant(service.table));
});

const health = 'GET /api/v1/health HTTP/1.1';
const generate = 'POST /api/v1/generate HTTP/1.1';

/** The beginning of a request with a body. */
const post = (...headers: string[]) => [generate, host(), bearer(), ...headers, ''];

/**
 * What the HTTP server itself refuses: no function runs, and nothing is logged. Node.js tests its parser; here are ways to
 * hide one request in another, and one case of what is no request at all.
 */
const noHttp: Record<string, () => string[]> = {
  'a body longer than its Content-Length': () => [...post('Content-Length: 1'), '{}'],
  'two lengths': () => [...post('Content-Length: 2', 'Content-Length: 3'), '{}'],
  'a length and chunks': () => [
    ...post('Content-Length: 2', 'Transfer-Encoding: chunked'),
    '2\r\n{}\r\n0\r\n\r\n',
  ],
  'a coding that is not chunked': () => [...post('Transfer-Encoding: gzip'), '{}'],
  'a chunk that is cut': () => [...post('Transfer-Encoding: chunked'), '5', '{}'],
  'two hosts': () => [health, host(), 'Host: a.test', close, '', ''],
  'the beginning of TLS': () => ['\x16\x03\x01\x02\x00\x01\x00\x01'],
  'a space before the colon': () => [health, host(), 'Authorization : Bearer x', '', ''],
  'bare line feeds': () => [`${health}\n${host()}\n\n`],
};

describe('over a bare connection', () => {
  test.each(Object.keys(noHttp))(
    '%s is refused in the API’s shape, as the next connection shows',
    async (what) => {
      const received = await talk(noHttp[what]!().join('\r\n'), true);
      expectError(answerIn(received), 400, 'INVALID_PARAMETERS');
      expect(answerIn(received).headers.get('x-content-type-options')).toBe('nosniff');
      expect((await ask(health, host(), close, '', '')).status).toBe(200);
    },
  );

  test.each([
    ['a path', () => [`GET /api/v1/${'x'.repeat(17_000)} HTTP/1.1`, host(), '', '']],
    ['a token', () => [health, host(), `Authorization: Bearer ${'x'.repeat(17_000)}`, '', '']],
    ['many headers', () => [health, host(), ...Array.from({ length: 3000 }, () => 'a: b'), '', '']],
  ])('%s beyond 16 KiB are refused, and the sentence says so', async (_what, lines) => {
    const answer = await ask(...lines());
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toContain('16 KiB');
  });

  test('a client that waits for 100 Continue gets it, and who expects anything else gets the usual answer', async () => {
    for (const expected of ['100-continue', 'tea']) {
      const lines = [...post(close, `Expect: ${expected}`, 'Content-Length: 2'), '{}'];
      const received = await talk(lines.join('\r\n'));
      expect(received.startsWith('HTTP/1.1 100 Continue\r\n')).toBe(expected === '100-continue');
      expectError(answerIn(received), 400, 'MISSING_IDENTITY');
    }
  });

  test('chunks are one body, and headers after it are not headers', async () => {
    const lines = post(close, 'Transfer-Encoding: chunked', 'Trailer: Authorization');
    expectError(await ask(...lines, '1', '{', '1', '}', '0', '', ''), 400, 'MISSING_IDENTITY');
    const unsigned = [generate, host(), close, 'Transfer-Encoding: chunked', ''];
    expectError(await ask(...unsigned, '2', '{}', '0', bearer(), '', ''), 401, 'INVALID_API_KEY');
  });

  test('two requests at once get two answers, each its own', async () => {
    const first = [...post('Content-Length: 2'), '{}'].join('\r\n');
    const received = await talk(first + [health, host(), close, '', ''].join('\r\n'));
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400', 'HTTP/1.1 200']);
    expect(received.indexOf('MISSING_IDENTITY')).toBeLessThan(received.indexOf('"api":"up"'));
  });

  test('an old client, and one that would rather speak something else, get plain answers', async () => {
    expect((await ask('GET /api/v1/health HTTP/1.0', '', '')).status).toBe(200);
    for (const upgrade of ['websocket', 'h2c', 'TLS/1.0']) {
      const lines = [health, host(), 'Connection: Upgrade, close', `Upgrade: ${upgrade}`, '', ''];
      expect([upgrade, (await ask(...lines)).status]).toEqual([upgrade, 200]);
    }
  });

  test('a tunnel is not opened, and a request about nothing is no request of the API', async () => {
    expect(await talk(`CONNECT a.test:443 HTTP/1.1\r\n${host()}\r\n\r\n`)).toBe('');
    for (const line of ['OPTIONS * HTTP/1.1', 'TRACE /api/v1/health HTTP/1.1']) {
      const answer = await talk([line, host(), close, '', ''].join('\r\n'));
      expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    }
  });
});

/** The first line of an answer to a request for a whole address, as a client sends it to a proxy. */
async function statusOf(address: string, ...headers: string[]): Promise<string> {
  const received = await talk([`GET ${address} HTTP/1.1`, ...headers, close, '', ''].join('\r\n'));
  return /^HTTP\/1\.1 (\d+)/.exec(received)?.[1] ?? received;
}

describe('a request line with a whole address', () => {
  const other = 'Host: other.test';

  test.each([
    ['the API', '/api/v1/generate?limit=1'],
    ['the sign-in', '/.well-known/openid-configuration'],
    ['the dashboard', '/'],
  ])('is served as its path: %s', async (_what, path) => {
    const { origin } = new URL(service.ready.baseUrl);
    const plain = await statusOf(path, host(), bearer());
    for (const address of [`${origin}${path}`, `${origin.replace('http', 'HTTP')}${path}`])
      expect([address, await statusOf(address, other, bearer())]).toEqual([address, plain]);
  });

  test('is the one whose host a signature holds for, not the header', async () => {
    const { body } = await generateImage(service, key, { identityId: service.ready.identities.aurora });
    const link = new URL(body.outputs[0]);
    const elsewhere = link.href.replace(link.hostname, 'localhost');
    expect(await statusOf(link.href, other)).toBe('200');
    expect(await statusOf(elsewhere, host())).toBe('403');
    expect(await statusOf(link.pathname + link.search, host())).toBe('200');
  });

  test.each([
    'ftp://a.test/api/v1/health',
    'http://u:p@a.test/api/v1/health',
    'http:///api/v1/health',
    'http:',
  ])('%s is no address of HTTP', async (address) => expect(await statusOf(address, host())).toBe('400'));

  test('needs one Host all the same, and may have no path', async () => {
    const { origin } = new URL(service.ready.baseUrl);
    const address = `${origin}/api/v1/health`;
    expect(await statusOf(address)).toBe('400');
    expect(await statusOf(address, host(), other)).toBe('400');
    expect(await statusOf(`${origin}?a=b`, host())).toBe(await statusOf('/?a=b', host()));
  });
});
