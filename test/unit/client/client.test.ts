import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createClient, type Client, type ClientOptions } from '../../../client/src/index.ts';
import { answered, refused, scriptedFetch, type Script, type Sent } from '../../support/scripted-fetch.ts';

const apiKey = 'svc_live_0123456789abcdefghijABCDEFGHIJ0123456789';
const baseUrl = 'https://api.test/api/v1';
const body = { identityId: 'idn_1', prompt: 'a quiet bay' };

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  jest.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  expect(jest.getTimerCount()).toBe(0);
  jest.restoreAllMocks();
  jest.useRealTimers();
});

function clientOf(scripts: Script[], options: Partial<ClientOptions> = {}): { client: Client; sent: Sent[] } {
  const { fetch, sent } = scriptedFetch(...scripts);
  return { client: createClient({ apiKey, baseUrl, fetch, ...options }), sent };
}

/** What came of it, after as long as all retries take. */
async function outcomeOf<T>(promise: Promise<T>): Promise<any> {
  const outcome = promise.catch((error: unknown) => error);
  await jest.advanceTimersByTimeAsync(20 * 60_000);
  return outcome;
}

const lines = (sent: Sent[]): string[] => sent.map(({ line }) => line.replace(baseUrl, ''));
const unreachable = new TypeError('fetch failed');

describe('every call', () => {
  test('carries the key, below an address with or without a slash at its end', async () => {
    for (const url of [baseUrl, `${baseUrl}/`]) {
      const { client, sent } = clientOf([answered({ identities: [{ id: 'idn_1' }] })], { baseUrl: url });
      expect(await client.listIdentities()).toEqual([{ id: 'idn_1' }]);
      expect(sent.map(({ line }) => line)).toEqual([`GET ${baseUrl}/identities`]);
      expect(sent[0]!.headers.get('authorization')).toBe(`Bearer ${apiKey}`);
    }
  });

  test('tells nobody the key: not in its errors, and not when the client itself is shown', async () => {
    const ways: Script[] = [unreachable, refused(401, 'INVALID_API_KEY'), () => new Response('<html>')];
    for (const script of ways) {
      const { client } = clientOf([script], { maxRetries: 0 });
      const error = await outcomeOf(client.health());
      expect(error).toBeInstanceOf(Error);
      for (const shown of [inspect(error, { depth: 9, showHidden: true }), JSON.stringify(error)]) {
        expect(shown).not.toContain('svc_live_');
      }
      expect(inspect(client, { depth: 9, showHidden: true })).not.toContain('svc_live_');
    }
    for (const key of [`${apiKey}\n`, `${apiKey} `, 'svc_live_ł', '']) {
      const { client, sent } = clientOf([answered({})], { apiKey: key });
      const error = await outcomeOf(client.health());
      expect(error.message).toBe('The API key or token must be visible ASCII characters.');
      expect(sent).toEqual([]);
    }
  });

  test('names the resource that was asked for and no other', async () => {
    const { client, sent } = clientOf([answered({ id: 'x' })]);
    await client.getGeneration('a/b?c');
    expect(lines(sent)).toEqual(['GET /generate/a%2Fb%3Fc']);
    for (const requestId of ['', '.', '..']) {
      expect(await outcomeOf(client.getGeneration(requestId))).toMatchObject({ name: 'TypeError' });
    }
    expect(sent).toHaveLength(1);
  });

  test('that nobody answers in time ends, and is tried again', async () => {
    const { client, sent } = clientOf(['silence', answered({ status: 'ok' })], { timeoutMs: 5000 });
    expect(await outcomeOf(client.health())).toEqual({ status: 'ok' });
    expect(sent.map(({ atSeconds }) => atSeconds)).toEqual([0, 6]);
    const silent = clientOf(['silence'], { timeoutMs: 5000, maxRetries: 0 });
    expect(await outcomeOf(silent.client.health())).toMatchObject({
      name: 'TimeoutError',
      message: 'No answer came within 5 seconds.',
    });
  });

  test('ends with the reason of its signal, and leaves no listener on it', async () => {
    const calls: ((client: Client, signal: AbortSignal) => Promise<unknown>)[] = [
      (client, signal) => client.generate(body, { signal }),
      (client, signal) => client.getGeneration('req_1', { signal }),
      (client, signal) => client.listGenerations({}, { signal }),
      (client, signal) => client.allGenerations({}, { signal }).next(),
      (client, signal) => client.listIdentities({ signal }),
      (client, signal) => client.createUpload({ signal }),
      (client, signal) => client.uploadReference(new Uint8Array(3), { signal }),
      (client, signal) => client.health({ signal }),
      (client, signal) => client.request('GET /licenses', { signal }),
    ];
    const reason = new Error('left');
    for (const call of calls) {
      for (const script of ['silence', refused(503, 'SERVICE_UNAVAILABLE')] as Script[]) {
        const { client, sent } = clientOf([script]);
        const aborting = new AbortController();
        const outcome = call(client, aborting.signal).catch((error: unknown) => error);
        await jest.advanceTimersByTimeAsync(500);
        expect(getEventListeners(aborting.signal, 'abort')).toHaveLength(1);
        aborting.abort(reason);
        expect(await outcome).toBe(reason);
        expect(getEventListeners(aborting.signal, 'abort')).toHaveLength(0);
        expect(await call(client, aborting.signal).catch((error: unknown) => error)).toBe(reason);
        expect(sent).toHaveLength(1);
      }
    }
  });
});

describe('what is tried again', () => {
  const faults: [string, Script][] = [
    ['429', refused(429, 'RATE_LIMITED', { retryAfter: 1 })],
    ['503', refused(503, 'SERVICE_UNAVAILABLE')],
    ['500', refused(500, 'INTERNAL_ERROR')],
    ['504', refused(504, 'TIMEOUT')],
    ['a page of a proxy', () => new Response('<html>', { status: 502 })],
    ['no connection', unreachable],
  ];

  test.each(faults)('reading, after %s', async (_what, fault) => {
    const { client, sent } = clientOf([fault, fault, answered({ id: 'req_1' })]);
    expect(await outcomeOf(client.getGeneration('req_1'))).toEqual({ id: 'req_1' });
    expect(sent.map(({ atSeconds }) => atSeconds)).toEqual([0, 1, 3]);
  });

  test.each(faults)(
    'creating something, after %s, only where nothing can have been created',
    async (what, fault) => {
      const { client, sent } = clientOf([fault, answered({ key: 'raw' }, { status: 201 })]);
      const init = { body: { licenseId: 'lic_1', name: 'new' } };
      const outcome = await outcomeOf(client.request('POST /keys', init));
      const isRetried = what === '429' || what === '503';
      expect(sent).toHaveLength(isRetried ? 2 : 1);
      if (isRetried) expect(outcome).toEqual({ key: 'raw' });
      else expect(outcome).toBeInstanceOf(Error);
    },
  );

  test('nothing that was refused, and nothing that the service wants to be left alone with', async () => {
    const lasting: Script[] = [
      refused(400, 'INVALID_PARAMETERS'),
      refused(404, 'REQUEST_NOT_FOUND'),
      refused(429, 'CREDIT_LIMIT_EXCEEDED', { retryAfter: 800_000 }),
      refused(503, 'IDENTITY_UNAVAILABLE', { retryAfter: 300 }),
    ];
    for (const script of lasting) {
      const { client, sent } = clientOf([script]);
      expect(await outcomeOf(client.generate(body))).toMatchObject({ name: 'ApiError' });
      expect(sent).toHaveLength(1);
    }
  });
});

test('all stored requests are walked page by page, and no further than somebody asks', async () => {
  const page = (ids: string[], nextCursor: string | null) =>
    answered({ generations: ids.map((id) => ({ id })), nextCursor });
  const { client, sent } = clientOf([page(['a', 'b'], 'next'), page([], 'last'), page(['c'], null)]);
  const walk = client.allGenerations({ limit: 2, status: 'COMPLETED' });
  expect((await walk.next()).value).toEqual({ id: 'a' });
  expect((await walk.next()).value).toEqual({ id: 'b' });
  expect(sent).toHaveLength(1);
  const rest: unknown[] = [];
  for await (const { id } of walk) rest.push(id);
  expect(rest).toEqual(['c']);
  const query = '/generate?limit=2&status=COMPLETED';
  const cursors = ['', '&cursor=next', '&cursor=last'];
  expect(lines(sent)).toEqual(cursors.map((cursor) => `GET ${query}${cursor}`));
});
