import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import { describe, expect, jest, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createClient, type Client } from '../../../clients/typescript/src/index.ts';
import { retryDelayMs } from '../../../clients/typescript/src/retry.ts';
import { answered, refused, scriptedFetch, type Script, type Sent } from '../../support/scripted-fetch.ts';
import { apiKey, baseUrl, body, broken, clientOf, outcomeOf, unreachable, useFakeTimers } from './fixture.ts';

useFakeTimers();

const lines = (sent: Sent[]): string[] => sent.map(({ line }) => line.replace(baseUrl, ''));
const seconds = (sent: Sent[]): number[] => sent.map(({ atSeconds }) => atSeconds);

describe('every call', () => {
  test('never shows the key: not in its errors, and not in the client itself', async () => {
    const faults: Script[] = [unreachable, refused(401, 'INVALID_API_KEY'), () => new Response('<html>')];
    for (const script of faults) {
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
      const message = 'apiKey (IMAGE_API_KEY) must be visible ASCII characters, without a line break.';
      expect(await outcomeOf(client.health())).toMatchObject({ message });
      expect(sent).toEqual([]);
    }
  });

  test('carries the key, takes what it was not given from the environment, and says what is missing', async () => {
    const { IMAGE_API_KEY, IMAGE_BASE_URL } = process.env;
    try {
      Object.assign(process.env, { IMAGE_API_KEY: apiKey, IMAGE_BASE_URL: `${baseUrl}/` });
      const { fetch, sent } = scriptedFetch(answered({ identities: [{ id: 'idn_1' }] }));
      expect(await createClient({ fetch }).listIdentities()).toEqual([{ id: 'idn_1' }]);
      await createClient({ fetch, apiKey: 'svc_live_other', baseUrl: 'https://other.test' }).health();
      const sentWith = sent.map(({ line, headers }) => `${line} ${headers.get('authorization')}`);
      const other = 'GET https://other.test/health Bearer svc_live_other';
      expect(sentWith).toEqual([`GET ${baseUrl}/identities Bearer ${apiKey}`, other]);
      delete process.env.IMAGE_API_KEY;
      expect(() => createClient({ baseUrl })).toThrow('apiKey is missing: give it, or set IMAGE_API_KEY.');
      process.env.IMAGE_BASE_URL = '';
      expect(() => createClient({ apiKey })).toThrow('baseUrl is missing: give it, or set IMAGE_BASE_URL.');
    } finally {
      Object.assign(process.env, { IMAGE_API_KEY, IMAGE_BASE_URL });
      if (IMAGE_API_KEY === undefined) delete process.env.IMAGE_API_KEY;
      if (IMAGE_BASE_URL === undefined) delete process.env.IMAGE_BASE_URL;
    }
  });

  test('encodes the resource in its path', async () => {
    const { client, sent } = clientOf([answered({ id: 'x', outputs: [] })]);
    await client.getGeneration('a/b?c');
    expect(lines(sent)).toEqual(['GET /generate/a%2Fb%3Fc']);
    for (const requestId of ['', '.', '..']) {
      expect(await outcomeOf(client.getGeneration(requestId))).toMatchObject({ name: 'TypeError' });
    }
    expect(sent).toHaveLength(1);
  });

  test('times out without an answer, and is tried again', async () => {
    const { client, sent } = clientOf(['silence', answered({ status: 'ok' })], { timeoutMs: 5000 });
    expect(await outcomeOf(client.health())).toEqual({ status: 'ok' });
    expect(seconds(sent)).toEqual([0, 6]);
    const silent = clientOf(['silence'], { timeoutMs: 5000, maxRetries: 0 });
    const message = 'No answer came within 5 seconds.';
    expect(await outcomeOf(silent.client.health())).toMatchObject({ name: 'TimeoutError', message });
  });

  test('ends with the reason of its signal, and leaves no listener on it', async () => {
    const calls: ((client: Client, signal: AbortSignal) => Promise<unknown>)[] = [
      (client, signal) => client.generate(body, { signal }),
      (client, signal) => client.getGeneration('req_1', { signal }),
      (client, signal) => client.deleteGeneration('req_1', { signal }),
      (client, signal) => client.listGenerations({}, { signal }),
      (client, signal) => client.allGenerations({}, { signal }).next(),
      (client, signal) => client.listIdentities({ signal }),
      (client, signal) => client.getIdentity('aurora', { signal }),
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

describe('the wait before a retry', () => {
  test('doubles from one second to sixty, and is up to a quarter longer', () => {
    const waits = (random: number) =>
      [1, 2, 3, 4, 5, 6, 7, 8].map((failures) => retryDelayMs(failures, undefined, random)! / 1000);
    expect(waits(0)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    expect(waits(1)).toEqual([1.25, 2.5, 5, 10, 20, 40, 60, 60]);
  });

  test('is at least what the service asks for, at most a minute, and grows; there is none above a minute', () => {
    const random = fc.double({ min: 0, max: 1, noNaN: true });
    const retryAfter = fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined });
    const tooLong = fc.integer({ min: 61, max: 999_999_999 });
    const property = fc.property(
      fc.tuple(fc.integer({ min: 1, max: 1100 }), retryAfter, random, random, tooLong),
      ([failures, asked, one, other, unreasonable]) => {
        const waitMs = retryDelayMs(failures, asked, one)!;
        expect(waitMs).toBeGreaterThanOrEqual(1000 * Math.max(1, asked ?? 0));
        expect(waitMs).toBeLessThanOrEqual(60_000);
        expect(retryDelayMs(failures + 1, asked, one)).toBeGreaterThanOrEqual(waitMs);
        expect(retryDelayMs(failures, Math.min(60, (asked ?? 0) + 1), one)).toBeGreaterThanOrEqual(waitMs);
        expect(retryDelayMs(failures, asked, Math.max(one, other))).toBeGreaterThanOrEqual(waitMs);
        expect(retryDelayMs(failures, unreasonable, one)).toBeNull();
      },
    );
    fc.assert(property);
  });
});

describe('what is tried again', () => {
  /** Whether the service surely did nothing, so that even POST may be repeated. */
  const faults: [fault: string, script: Script, isBusy: boolean][] = [
    ['429', refused(429, 'RATE_LIMITED', { retryAfter: 1 }), true],
    ['503', refused(503, 'SERVICE_UNAVAILABLE'), true],
    ['409 for the first of two equal requests', refused(409, 'IDEMPOTENCY_IN_PROGRESS'), true],
    ['500', refused(500, 'INTERNAL_ERROR'), false],
    ['504', refused(504, 'TIMEOUT'), false],
    ['a page of a proxy', () => new Response('<html>', { status: 502 }), false],
    ['no connection', unreachable, false],
  ];

  test.each(faults)(
    'after %s: reading, and creating if nothing was created',
    async (_fault, fault, isBusy) => {
      const reading = clientOf([fault, fault, answered({ id: 'req_1', outputs: [] })]);
      const found = await outcomeOf(reading.client.getGeneration('req_1'));
      expect(found).toEqual({ id: 'req_1', outputs: [], previews: [] });
      expect(seconds(reading.sent)).toEqual([0, 1, 3]);

      const creating = clientOf([fault, answered({ key: 'raw' }, { status: 201 })]);
      const init = { body: { licenseId: 'lic_1', name: 'new' } };
      const outcome = await outcomeOf(creating.client.request('POST /keys', init));
      expect(seconds(creating.sent)).toEqual(isBusy ? [0, 1] : [0]);
      if (isBusy) expect(outcome).toEqual({ key: 'raw' });
      else expect(outcome).toBeInstanceOf(Error);
    },
  );

  test('when the service asks for it, at most `maxRetries` times, with no listener left', async () => {
    const { signal } = new AbortController();
    const busy = refused(503, 'SERVICE_UNAVAILABLE', { retryAfter: 30 });
    const { client, sent } = clientOf([busy, refused(503, 'SERVICE_UNAVAILABLE')], { maxRetries: 2 });
    expect(await outcomeOf(client.health({ signal }))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(seconds(sent)).toEqual([0, 30, 32]);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  test('after a refusal that broke off, since nobody knows which it was; 429 and 5xx are known by their status', async () => {
    for (const status of [400, 409, 429, 500]) {
      const { client, sent } = clientOf([broken({ status }), refused(400, 'TIER_LIMIT')]);
      expect(await outcomeOf(client.generate(body))).toMatchObject({ code: 'TIER_LIMIT' });
      expect(sent).toHaveLength(2);
      const last = await outcomeOf(clientOf([broken({ status })], { maxRetries: 0 }).client.health());
      const isKnown = status === 429 || status >= 500;
      expect(last).toMatchObject(isKnown ? { status } : { name: 'ConnectionError', answerBegan: true });
    }
  });

  test('no refusal, and nothing after a long Retry-After', async () => {
    const refusals: Script[] = [
      refused(400, 'INVALID_PARAMETERS'),
      refused(409, 'KEY_LIMIT_REACHED'),
      refused(429, 'CREDIT_LIMIT_EXCEEDED', { retryAfter: 800_000 }),
      refused(503, 'IDENTITY_UNAVAILABLE', { retryAfter: 300 }),
    ];
    for (const script of refusals) {
      const { client, sent } = clientOf([script]);
      expect(await outcomeOf(client.generate(body))).toMatchObject({ name: 'ApiError' });
      expect(sent).toHaveLength(1);
    }
  });
});

test('all stored requests are fetched page by page, and no page before it is needed', async () => {
  const page = (ids: string[], nextCursor: string | null) =>
    answered({ generations: ids.map((id) => ({ id, outputs: [] })), nextCursor });
  const { client, sent } = clientOf([page(['a', 'b'], 'next'), page([], 'last'), page(['c'], null)]);
  const walk = client.allGenerations({ limit: 2, status: 'COMPLETED' });
  expect((await walk.next()).value).toMatchObject({ id: 'a' });
  expect((await walk.next()).value).toMatchObject({ id: 'b' });
  expect(sent).toHaveLength(1);
  const rest: unknown[] = [];
  for await (const { id } of walk) rest.push(id);
  expect(rest).toEqual(['c']);
  const query = '/generate?limit=2&status=COMPLETED';
  const cursors = ['', '&cursor=next', '&cursor=last'];
  expect(lines(sent)).toEqual(cursors.map((cursor) => `GET ${query}${cursor}`));
});

const deleted = { requestId: 'req_1', deleted: true };
const gone = refused(404, 'REQUEST_NOT_FOUND');
const missing = { name: 'ApiError', code: 'REQUEST_NOT_FOUND' };
const running = { name: 'ApiError', code: 'REQUEST_IN_PROGRESS' };

test.each<[string, Script[], object]>([
  ['whose answer was lost is done when its repeat finds nothing', [unreachable, gone], deleted],
  ['that failed halfway is done then too', [refused(503, 'SERVICE_UNAVAILABLE'), gone], deleted],
  ['of what is not there is refused', [gone], missing],
  ['of what is not there is refused after the limit was met', [refused(429, 'RATE_LIMITED'), gone], missing],
  ['of what runs is refused at once', [refused(409, 'REQUEST_IN_PROGRESS')], running],
])('a deletion %s', async (_what, scripts, expected) => {
  const tries = scripts.length;
  const { client, sent } = clientOf(scripts);
  expect(await outcomeOf(client.deleteGeneration('req_1'))).toMatchObject(expected);
  expect(lines(sent)).toEqual(Array.from({ length: tries }, () => 'DELETE /generate/req_1'));
});

/** A call throws this at once, after so many requests. */
async function expectMistake(call: (client: Client) => unknown, message: string, options = {}, init = {}) {
  const { client, sent } = clientOf([answered({}, init)], options);
  await expect((async () => call(client))()).rejects.toMatchObject({ name: 'TypeError', message });
  expect(sent).toHaveLength('status' in init ? 1 : 0);
}

test.each<[string, (client: Client) => unknown]>([
  ['seed is NaN', (client) => client.generate({ ...body, seed: NaN })],
  ['from is Invalid Date', (client) => client.listGenerations({ from: new Date('x') } as object)],
  ['seed is NaN', (client) => client.generate({ ...body, seed: { toJSON: () => NaN } } as never)],
  ['a.1.b.0 is NaN', (client) => client.generate({ ...body, a: [0, { b: [NaN] }] } as typeof body)],
  [
    'name is Invalid Date',
    (client) => client.request('PATCH /account', { body: { name: new Date(NaN) } as never }),
  ],
])('%s: it is refused by name before anything is sent', async (what, call) => {
  await expectMistake(call, `${what}: give a finite number or a valid date.`);
});

test.each([
  ['maxRetries is NaN', { maxRetries: NaN }],
  ['timeoutMs is NaN', { timeoutMs: NaN }],
  ['timeoutMs must be more than 0', { timeoutMs: 0 }],
])('an option that is no number is refused by name: %s', (message, options) => {
  expect(() => clientOf([], options)).toThrow(message);
});

test.each([
  '127.0.0.1:4600/api/v1',
  'ftp://api.test/api/v1',
  'https://user:secret@api.test/api/v1',
  'https://api.test/api/v1?key=secret',
  'https://api.test/api/v1\n',
])('a base address that can be none is refused at once, and not quoted: %j', async (wrong) => {
  const message = 'baseUrl (IMAGE_BASE_URL) must be like https://images.example.com/api/v1.';
  await expectMistake((client) => client.listIdentities(), message, { baseUrl: wrong });
  await expectMistake((client) => client.generate(body), message, { baseUrl: wrong });
});

test.each([
  [{ code: 'ERR_SSL_WRONG_VERSION_NUMBER' }, 'ERR_SSL_WRONG_VERSION_NUMBER'],
  [{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  [new Error('bad port'), 'bad port'],
])('a connection that no other try would make is refused at once: %j', async (cause, why) => {
  const { client, sent } = clientOf([new TypeError('fetch failed', { cause })]);
  const message = `baseUrl (IMAGE_BASE_URL) takes no such connection: ${why}.`;
  expect(await outcomeOf(client.listIdentities())).toMatchObject({ message });
  expect(sent).toHaveLength(1);
});

test.each([301, 308])('a redirect is refused at once, and not followed: %d', async (status) => {
  const message = 'baseUrl (IMAGE_BASE_URL) redirects: give the address that it leads to.';
  const init = { status, headers: { location: 'https://other.test/' } };
  await expectMistake((client) => client.listIdentities(), message, {}, init);
  await expectMistake((client) => client.generate(body), message, {}, init);
});
