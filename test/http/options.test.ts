import { describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { routes, type Route } from '../../shared/routes.ts';
import { runToEnd } from '../support/command.ts';
import { signIn } from '../support/forged-sessions.ts';
import { generate } from '../support/requests.ts';
import { useService } from '../support/use-service.ts';

const allowed = ['http://localhost:5173', 'https://b.test'];
const other = 'https://other.test';
const lifetimeSeconds = 86_400;
const origins = allowed.flatMap((origin) => ['--allow-origin', origin]);
const service = useService({
  args: [...origins, '--token-lifetime', String(lifetimeSeconds)],
  quickContainer: true,
});

describe('--allow-origin', () => {
  const preflight = (path: string, method: string, origin: string) =>
    fetch(`${service.ready.baseUrl}${path}`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization',
      },
    });

  test.each(Object.values(routes) as Route[])(
    'lets pages of these origins, and no others, call $method $path',
    async ({ method, path }) => {
      const url = path.replace(/\{\w+\}/, 'x');
      const { status, headers } = await preflight(url, method, allowed[0]!);
      expect([status, headers.get('access-control-allow-origin')]).toEqual([204, allowed[0]]);
      expect(headers.get('access-control-allow-methods')!.split(',')).toContain(method);
      expect(headers.get('access-control-allow-headers')).toContain('authorization');
      const refused = await preflight(url, method, other);
      expect(refused.headers.has('access-control-allow-origin')).toBe(false);
    },
  );

  test('answers name the origin that asked, refusals too, and no other', async () => {
    const get = (origin: string) => fetch(`${service.ready.baseUrl}/generate`, { headers: { origin } });
    for (const origin of allowed) {
      const answer = await get(origin);
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([401, origin]);
    }
    expect((await get(other)).headers.has('access-control-allow-origin')).toBe(false);
  });

  test('what no function answers can be read by every page, since it says nothing of anyone', async () => {
    const answer = await fetch(`${service.ready.baseUrl}/nothing`, { headers: { origin: other } });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([404, '*']);
  });
});

test('--token-lifetime says how long a sign-in lasts', async () => {
  const { access_token: accessToken } = await signIn(service.ready, 'owner@example.test');
  const { exp, iat } = decodeJwt(accessToken);
  expect(exp! - iat!).toBe(lifetimeSeconds);
  expect((await service.api({ path: '/licenses', key: accessToken })).status).toBe(200);
});

describe('--container', () => {
  test('generates with the model container behind that address, not with the painter', async () => {
    const { keys, identities } = service.ready;
    const { status, body } = await generate(service, keys.pro!, { identityId: identities.aurora });
    expect(status).toBe(200);
    const stored = await service.api({ path: `/generate/${body.requestId}`, key: keys.pro });
    expect(stored.body.modelVersion).toBe('quick-1');
  });

  test.each(['', '127.0.0.1:8080', 'ftp://127.0.0.1'])('refuses %j in one sentence', async (address) => {
    const { code, stdout, stderr } = await runToEnd(['--container', address]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trim()).toMatch(/^--container must be an address[^\n]*\.$/);
  });
});
