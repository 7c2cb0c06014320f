import { describe, expect, test } from '@jest/globals';
import { ApiError, sessionEnded } from '../../../dashboard/src/api/api-error.ts';
import { allowance, createApi, noteAllowance, type TokenSource } from '../../../dashboard/src/api/client.ts';
import { answered, refused, scriptedFetch, type Script } from '../../support/scripted-fetch.ts';

const baseUrl = 'https://api.test/api/v1';
const fine = answered({ fine: true });
const invalidSession = refused(401, 'INVALID_SESSION');

/** An API whose session has the token `old` until it is replaced by `new`; `log` has what the session was asked. */
function apiOf(scripts: Script[], tokens: Partial<TokenSource> = {}) {
  const log: string[] = [];
  const session: TokenSource = {
    accessToken: async () => 'old',
    replaceToken: async (token) => (log.push(`replace ${token}`), 'new'),
    end: () => void log.push('end'),
    ...tokens,
  };
  const { fetch, sent } = scriptedFetch(...scripts);
  return { api: createApi(baseUrl, session, fetch), sent, log };
}

/** The error that GET /licenses ends with. */
async function failureOf(scripts: Script[], tokens?: Partial<TokenSource>, signal?: AbortSignal) {
  const { api, sent, log } = apiOf(scripts, tokens);
  const error: unknown = await api.request('GET /licenses', { signal }).catch((thrown: unknown) => thrown);
  return { error, sent, log };
}

test('a request sends its body as JSON and its own headers, which can’t replace the token', async () => {
  const { api, sent } = apiOf([fine]);
  const headers = { 'idempotency-key': 'key-1', authorization: 'Bearer other' };
  const body = { prompt: 'Łódź 🎨' };
  await api.request('POST /playground/generate', { body, headers } as never);
  expect(sent).toMatchObject([{ line: `POST ${baseUrl}/playground/generate`, body }]);
  const own = { 'idempotency-key': 'key-1', authorization: 'Bearer old' };
  expect(Object.fromEntries(sent[0]!.headers)).toMatchObject({ ...own, 'content-type': 'application/json' });
});

test('a request encodes its query and leaves out what is undefined or empty', async () => {
  const { api, sent } = apiOf([fine]);
  const query = { licenseId: 'a&b=c d/ł', limit: 0, cursor: undefined, status: '' as never };
  await api.request('GET /generate', { query });
  await api.request('GET /generate', { query: { cursor: undefined } });
  const [first, second] = sent.map(({ line }) => line.replace('GET ', ''));
  expect(Object.fromEntries(new URL(first!).searchParams)).toEqual({ licenseId: 'a&b=c d/ł', limit: '0' });
  expect(second).toBe(`${baseUrl}/generate`);
});

describe('a session that the API refuses', () => {
  test('is renewed once, and the request repeated as it was', async () => {
    const { api, sent, log } = apiOf([invalidSession, fine]);
    const init = { body: { a: 1 }, headers: { 'idempotency-key': 'key-1' }, query: { b: 2 } };
    expect(await api.request('POST /keys', init as never)).toEqual({ fine: true });
    expect(log).toEqual(['replace old']);
    const [first, second] = sent.map(({ line, headers, body }) => ({
      line,
      body,
      ...Object.fromEntries(headers),
    }));
    expect(sent).toHaveLength(2);
    expect(second).toEqual({ ...first, authorization: 'Bearer new' });
  });

  const ended = sessionEnded();
  const noToken = (): Promise<never> => Promise.reject(ended);
  test.each<[string, Script[], Partial<TokenSource>, object, string[], number]>([
    [
      'again with a new token is over',
      [invalidSession],
      {},
      { code: 'INVALID_SESSION' },
      ['replace old', 'end'],
      2,
    ],
    [
      'and then for another reason goes on',
      [invalidSession, refused(404, 'X')],
      {},
      { code: 'X' },
      ['replace old'],
      2,
    ],
    ['and can’t be renewed has ended', [invalidSession], { replaceToken: noToken }, ended, [], 1],
    ['after it has ended sends nothing', [fine], { accessToken: noToken }, ended, [], 0],
    ['for its API key is not renewed', [refused(401, 'INVALID_API_KEY')], {}, { status: 401 }, [], 1],
  ])('%s', async (_what, scripts, tokens, expected, logged, requests) => {
    const { error, sent, log } = await failureOf(scripts, tokens);
    expect(error).toMatchObject(expected);
    expect(log).toEqual(logged);
    expect(sent).toHaveLength(requests);
  });

  test('throws the signal’s reason when it is aborted during the repeat', async () => {
    const aborting = new AbortController();
    const reason = new Error('nobody waits for it');
    const replaceToken = async (): Promise<string> => {
      setTimeout(() => aborting.abort(reason));
      return 'new';
    };
    const { error } = await failureOf([invalidSession, 'silence'], { replaceToken }, aborting.signal);
    expect(error).toBe(reason);
  });
});

describe('a failure', () => {
  test('has the API’s sentence, code, status and request, and is not tried again', async () => {
    const refusal = refused(429, 'RATE_LIMITED', { retryAfter: 7, requestId: 'req_9' });
    const { error, sent } = await failureOf([refusal]);
    expect(error).toBeInstanceOf(ApiError);
    const known = { code: 'RATE_LIMITED', status: 429, requestId: 'req_9', retryAfterSeconds: 7 };
    expect(error).toMatchObject({ message: 'Refused as RATE_LIMITED.', ...known });
    expect(sent).toHaveLength(1);
  });

  test.each([
    ['0', 0],
    [' 5 ', 5],
    // RFC 9110, 5.6.7: the three forms of a date. This answer is of a quarter to.
    ['Sat, 21 Nov 2026 12:00:00 GMT', 900],
    ['Saturday, 21-Nov-26 11:45:07 GMT', 7],
    ['Sat Nov 21 11:46:00 2026', 60],
    ['Fri, 20 Nov 2026 12:00:00 GMT', 0],
    ['Sat, 99 Nov 2026 12:00:00 GMT', undefined],
    ['2026-11-21T12:00:00Z', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['99999999999', undefined],
    ['', undefined],
  ])('with Retry-After %j says to wait %j seconds', async (header, seconds) => {
    const headers = { 'retry-after': header, date: 'Sat, 21 Nov 2026 11:45:00 GMT' };
    const init = { status: 429, headers };
    const { error } = await failureOf([answered({ error: 'No.', code: 'X' }, init)]);
    expect(error).toMatchObject({ code: 'X', retryAfterSeconds: seconds });
  });

  const notOurs = ['<html>', '', 'null', '{"error":1,"code":2}'];
  test.each([...notOurs.map((body): [number, string] => [502, body]), [200, '<html>']])(
    'whose body is not the API’s still has a sentence: %d %s',
    async (status, body) => {
      const init = { status, headers: { 'x-request-id': 'req_9' } };
      const { error } = await failureOf([() => new Response(body, init)]);
      expect(error).toBeInstanceOf(ApiError);
      const message = expect.stringMatching(/^The service .* Try again/);
      expect(error).toMatchObject({ status, code: 'UNEXPECTED_ANSWER', requestId: 'req_9', message });
    },
  );

  const broken = new ReadableStream({ start: (stream) => stream.error(new TypeError('terminated')) });
  test.each<[string, Script]>([
    ['to reach the service', new TypeError('fetch failed')],
    ['in the middle of an answer', () => new Response(broken)],
  ])('%s says so', async (_what, script) => {
    const { error } = await failureOf([script]);
    expect(error).toBeInstanceOf(ApiError);
    const message = "The service can't be reached. Check your connection and try again.";
    expect(error).toMatchObject({ status: 0, code: 'NETWORK', message });
  });
});

test('what a playground’s answer says is left is known, and that of no other limit', () => {
  noteAllowance('"playground";r=7;t=42', 1000);
  noteAllowance('"list";r=3;t=9', 2000);
  noteAllowance(null, 3000);
  expect(allowance.get()).toEqual({ left: 7, untilMs: 43_000 });
});
