import { describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { routes } from '../../shared/routes/routes.ts';
import type { Route } from '../../shared/routes/route.ts';
import { answerHeaders } from '../../shared/routes/api.ts';
import { ask } from '../support/agent.ts';
import { signIn } from '../support/forged-sessions.ts';
import { small } from '../support/requests.ts';
import type { ApiAnswer } from '../support/service.ts';
import { useService } from '../support/use-service.ts';
import { newAccount } from './fixture.ts';

const allowed = ['http://localhost:5173', 'https://b.test'];
const other = 'https://other.test';
const lifetimeSeconds = 86_400;
const origins = allowed.flatMap((origin) => ['--allow-origin', origin]);
const service = useService({
  args: [...origins, '--token-lifetime', String(lifetimeSeconds)],
  quickContainer: true,
});

/** The path of a route with its parameters filled in. */
const urlOf = ({ path }: Route) => `${service.ready.baseUrl}${path.replace(/\{\w+\}/, 'x')}`;
const all = Object.values(routes) as Route[];

function preflight(route: Route, origin: string): Promise<Response> {
  const asked = {
    'access-control-request-method': route.method,
    'access-control-request-headers': 'authorization',
  };
  return fetch(urlOf(route), { method: 'OPTIONS', headers: { origin, ...asked } });
}

describe('--allow-origin', () => {
  test.each(all)('lets pages of these origins, and no others, call $method $path', async (route) => {
    const { status, headers } = await preflight(route, allowed[0]!);
    expect([status, headers.get('access-control-allow-origin')]).toEqual([204, allowed[0]]);
    expect(headers.get('access-control-allow-methods')!.split(',')).toContain(route.method);
    expect(headers.get('access-control-allow-headers')).toContain('authorization');
    const refused = await preflight(route, other);
    expect(refused.headers.has('access-control-allow-origin')).toBe(false);
  });

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
  test.each(all)('are on those of $method $path', async (route) => {
    const answers = [
      await preflight(route, allowed[0]!),
      await fetch(`${urlOf(route)}?unknown=1`, { method: route.method }),
      await fetch(urlOf(route), { method: 'PUT' }),
    ];
    answers.forEach(expectCommon);
    const refused = [route.auth === 'none' ? 400 : 401, route.refusesOthers ? 405 : 404];
    expect(answers.map(({ status }) => status)).toEqual([204, ...refused]);
    expect(answers[2]!.headers.get('allow')).toBe(route.refusesOthers ? route.method : null);
  });

  test('are on streams, which no proxy keeps back, and on the answers to agents and to OpenAI’s SDKs', async () => {
    const { key, byKey, generate } = await newAccount({}, service);
    const body = { ...small, identityId: service.ready.identities.aurora };
    const openAi = (more: object) =>
      byKey('/openai/v1/images/generations', {
        body: { prompt: 'x', size: '512x512', model: 'aurora', ...more },
      });
    const params = { name: 'generate', arguments: body, _meta: { progressToken: 1 } };
    const plain = [
      await generate(),
      await generate({}, { prefer: 'respond-async' }),
      await openAi({ response_format: 'url' }),
      await byKey('/openai/v1/models'),
      await ask(service, { key, method: 'tools/list' }),
    ];
    const streams = [
      await generate({}, { accept: 'text/event-stream' }),
      await openAi({ stream: true }),
      await ask(service, { key, method: 'tools/call', params }),
    ];
    expect([...plain, ...streams].map(({ status }) => status)).toEqual([200, 202, ...Array(6).fill(200)]);
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

test('--container generates with the model container behind that address, not with the painter', async () => {
  const { generate, stored } = await newAccount({}, service);
  const { requestId } = (await generate()).body;
  expect((await stored(requestId)).modelVersion).toBe('quick-1');
});
