import { spawn, type ChildProcess } from 'node:child_process';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newSigningKey, publicKey } from '../../../local/cognito/signing-key.ts';
import { signAccessToken } from '../../../local/cognito/tokens.ts';
import { listen, type RunningServer } from '../../../local/http/server.ts';
import { newApiKey } from '../../../shared/keys/api-key.ts';
import { newRequestId } from '../../../shared/base/ids.ts';
import { routes } from '../../../shared/routes/routes.ts';
import type { Route } from '../../../shared/routes/route.ts';
import { expectError, inOurShape } from '../../support/answers.ts';
import { callApi } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { inRepository } from '../../support/repository.ts';

/** How the table answers every call: with one of its errors, or by hanging up. */
let answer: { name: string; status: number } | 'hangs up';
/** What the routes' process printed since a test began. */
let lines: string[] = [];
let servers: RunningServer[];
let host: ChildProcess;
let baseUrl: string;
let session: string;

beforeAll(async () => {
  const signingKey = await newSigningKey();
  const keys = JSON.stringify({ keys: [publicKey(signingKey)] });
  const pool = await listen(createServer((_req, res) => void res.end(keys)));
  const table = await listen(
    createServer((req, res) => {
      if (answer === 'hangs up') return void req.socket.destroy();
      res.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' });
      res.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${answer.name}`, message: 'no' }));
    }),
  );
  servers = [pool, table];
  const [issuer, clientId] = ['https://pool.example.test', 'the-client'];
  session = await signAccessToken({
    issuer,
    clientId,
    signingKey,
    account: { sub: 'owner' },
    lifetimeSeconds: 600,
  });
  const script = inRepository('test/support/hosted-routes.ts');
  host = spawn(process.execPath, [script, table.url, pool.url, issuer, clientId], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  createInterface(host.stdout!).on('line', (line) => lines.push(line));
  await until('the routes are served', () => lines.length > 0);
  baseUrl = lines[0]!;
});

afterAll(async () => {
  host.kill();
  await Promise.all(servers.map((server) => server.close()));
});

beforeEach(() => {
  answer = 'hangs up';
  lines = [];
});

/** What the log says of why the only request of a test failed. */
async function causes(): Promise<object[]> {
  const logged = () => lines.map((line) => JSON.parse(line));
  await until('the request is logged', () => logged().some(({ message }) => message === 'request'));
  return logged().flatMap((line) => line.causes ?? []);
}

describe('the table hangs up', () => {
  const withCredentials = Object.values(routes).flatMap((route: Route) => {
    const ways = { key: ['key'], session: ['session'], key_or_session: ['key', 'session'], none: [] }[
      route.auth
    ];
    return ways.map((by) => [`${route.method} ${route.path} by ${by}`, route, by] as const);
  });

  test.each(withCredentials)(
    '%s: 503, with a time to wait, and the cause in the log',
    async (_, route, by) => {
      const { method } = route;
      const filled = route.path
        .replace('{keyId}', `key_${'0'.repeat(32)}`)
        .replace('{requestId}', newRequestId(Date.now()))
        .replace('{licenseId}', 'lic_1')
        .replace('{model}', 'idn_1');
      const needsLicense = by === 'session' && ['/generate', '/usage'].includes(filled);
      const response = await callApi(baseUrl, {
        method,
        path: needsLicense ? `${filled}?licenseId=lic_1` : filled,
        key: by === 'key' ? newApiKey() : session,
        ...(method === 'POST'
          ? {
              body: {
                ...(by === 'session' && { licenseId: 'lic_1' }),
                ...(filled === '/keys' && { name: 'x' }),
              },
            }
          : {}),
        ...(method === 'PATCH' ? { body: filled === '/account' ? {} : { name: 'x' } } : {}),
      });
      expectError({ ...response, body: inOurShape(response.body) }, 503, 'SERVICE_UNAVAILABLE');
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(await causes()).toContainEqual(expect.objectContaining({ code: 'ECONNRESET' }));
    },
  );
});

describe('what the table answers', () => {
  test.each([
    ['InternalServerError', 500, 503, 'SERVICE_UNAVAILABLE'],
    ['ProvisionedThroughputExceededException', 400, 503, 'SERVICE_UNAVAILABLE'],
    // Waiting would not help.
    ['AccessDeniedException', 400, 500, 'INTERNAL_ERROR'],
    ['ValidationException', 400, 500, 'INTERNAL_ERROR'],
  ])('%s with status %i is %i %s', async (name, status, answered, code) => {
    answer = { name, status };
    expectError(await callApi(baseUrl, { path: '/generate', key: newApiKey() }), answered, code);
    expect(await causes()).toContainEqual(expect.objectContaining({ name }));
  });
});
