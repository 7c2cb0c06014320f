import { describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { routes } from '../../shared/routes/routes.ts';
import type { Route } from '../../shared/routes/route.ts';
import { answerHeaders } from '../../shared/routes/api.ts';
import { ask } from '../support/agent.ts';
import { signIn } from '../support/forged-sessions.ts';
import { generate, small } from '../support/requests.ts';
import type { ApiAnswer } from '../support/service.ts';
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

  test('what no function answers can be read by every page, since it says nothing of anyone', async () => {
    const answer = await fetch(`${service.ready.baseUrl}/nothing`, { headers: { origin: other } });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([404, '*']);
  });
});

/** What every answer has, whoever gives it; openapi.test.ts looks at each success and refusal of the document. */
function expectCommon({ status, headers }: Pick<ApiAnswer, 'status' | 'headers'>): void {
  for (const [name, value] of Object.entries(answerHeaders(status)))
    expect([status, name, headers.get(name)]).toEqual([status, name, value]);
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('strict-transport-security')).toMatch(/^max-age=\d{8}$/);
}

describe('headers of every answer', () => {
  test.each(Object.values(routes) as Route[])('are on those of $method $path', async (route) => {
    const path = route.path.replace(/\{\w+\}/, 'x');
    const url = `${service.ready.baseUrl}${path}`;
    const asked = { origin: allowed[0]!, 'access-control-request-method': route.method };
    const answers = [
      await fetch(url, { method: 'OPTIONS', headers: asked }),
      await fetch(`${url}?unknown=1`, { method: route.method }),
      await fetch(url, { method: 'PUT' }),
    ];
    answers.forEach(expectCommon);
    const refused = [route.auth === 'none' ? 400 : 401, route.refusesOthers ? 405 : 404];
    expect(answers.map(({ status }) => status)).toEqual([204, ...refused]);
    expect(answers[2]!.headers.get('allow')).toBe(route.refusesOthers ? route.method : null);
  });

  test('are on streams, which no proxy keeps back, and on the answers to agents and to OpenAI’s SDKs', async () => {
    const { keys, identities } = service.ready;
    const body = { ...small, identityId: identities.aurora };
    const openAi = { prompt: 'x', size: '512x512', model: identities.aurora };
    const events = { accept: 'text/event-stream' };
    const key = keys.pro!;
    const plain = [
      await service.api({ path: '/generate', key, body }),
      await service.api({ path: '/generate', key, body, headers: { prefer: 'respond-async' } }),
      await service.api({
        path: '/openai/v1/images/generations',
        key,
        body: { ...openAi, response_format: 'url' },
      }),
      await service.api({ path: '/openai/v1/models', key }),
      await ask(service, { key, method: 'tools/list' }),
    ];
    const call = { name: 'generate', arguments: body, _meta: { progressToken: 1 } };
    const streams = [
      await service.api({ path: '/generate', key, body, headers: events }),
      await service.api({ path: '/openai/v1/images/generations', key, body: { ...openAi, stream: true } }),
      await ask(service, { key, method: 'tools/call', params: call }),
    ];
    expect(plain.map(({ status }) => status)).toEqual([200, 202, 200, 200, 200]);
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
    [...plain, ...streams].forEach(expectCommon);
    const types = (answers: ApiAnswer[]) =>
      answers.map(({ headers }) => [headers.get('content-type'), headers.get('x-accel-buffering')]);
    expect(types(plain)).toEqual(plain.map(() => ['application/json', null]));
    expect(types(streams)).toEqual(streams.map(() => ['text/event-stream', 'no']));
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
});
