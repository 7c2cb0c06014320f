import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { routes, type Route } from '../../shared/routes.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';

const allowed = 'http://localhost:5173';
let service: RunningService;

beforeAll(async () => {
  service = await startService({ args: ['--allow-origin', allowed, '--allow-origin', 'https://b.test'] });
});

afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

const ask = (path: string, method: string, origin: string) =>
  fetch(`${service.ready.baseUrl}${path}`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization',
    },
  });

describe.each(Object.values(routes) as Route[])('$method $path', ({ method, path }) => {
  const url = path.replace(/\{\w+\}/, 'x');

  test('a browser is told that a page of an allowed origin may send it', async () => {
    const answer = await ask(url, method, allowed);
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-origin')).toBe(allowed);
    expect(answer.headers.get('access-control-allow-methods')!.split(',')).toContain(method);
    expect(answer.headers.get('access-control-allow-headers')).toContain('authorization');
  });

  test('and that a page of any other origin may not', async () => {
    const answer = await ask(url, method, 'https://other.test');
    expect(answer.headers.has('access-control-allow-origin')).toBe(false);
  });
});

test('answers name the origin that asked, refusals too, and no other', async () => {
  const get = (origin: string) => fetch(`${service.ready.baseUrl}/generate`, { headers: { origin } });
  for (const origin of [allowed, 'https://b.test']) {
    const answer = await get(origin);
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([401, origin]);
  }
  expect((await get('https://other.test')).headers.has('access-control-allow-origin')).toBe(false);
});

test('what no function answers can be read by every page, since it says nothing of anyone', async () => {
  const answer = await fetch(`${service.ready.baseUrl}/nothing`, {
    headers: { origin: 'https://other.test' },
  });
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([404, '*']);
});
