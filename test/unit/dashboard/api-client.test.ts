import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError, sessionEnded } from '../../../dashboard/src/api/api-error.ts';
import { createApi, type Api, type TokenSource } from '../../../dashboard/src/api/client.ts';

interface Received {
  line: string;
  headers: IncomingMessage['headers'];
  body: string;
}

type Answer = (res: ServerResponse, received: Received) => void;

const server = createServer((req, res) => {
  const receive = async (): Promise<void> => {
    const body = await text(req);
    const seen = { line: `${req.method} ${req.url}`, headers: req.headers, body };
    received.push(seen);
    answer(res, seen);
  };
  receive().catch(() => res.destroy());
});
let received: Received[];
let answer: Answer;
let baseUrl: string;

async function listen(to: Server): Promise<string> {
  await new Promise<void>((listening) => to.listen(0, '127.0.0.1', listening));
  return `http://127.0.0.1:${(to.address() as AddressInfo).port}/api/v1`;
}

beforeAll(async () => void (baseUrl = await listen(server)));
afterAll(() => {
  server.closeAllConnections();
  return new Promise((closed) => server.close(closed));
});
beforeEach(() => {
  received = [];
  answer = json(200, { fine: true });
});

function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (res) => {
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}

const refused = json(401, { error: 'The session has ended.', code: 'INVALID_SESSION' });
const notFound = json(404, { error: 'It is gone.', code: 'REQUEST_NOT_FOUND' }, { 'x-request-id': 'req_9' });

/** Refuses the old token and answers the new one. */
const renewable: Answer = (res, seen) =>
  (seen.headers.authorization === 'Bearer old' ? refused : json(200, { fine: true }))(res, seen);

/** A session whose token is `old` until it is replaced by `new`; `log` tells what it was asked. */
function session(log: string[] = []): TokenSource {
  return {
    accessToken: async () => 'old',
    replaceToken: async (token) => (log.push(`replace ${token}`), 'new'),
    end: () => void log.push('end'),
  };
}

const api = (tokens: TokenSource = session()): Api => createApi(baseUrl, tokens);

function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error,
  );
}

describe('a request', () => {
  test('goes to the API with the session’s token, asks for JSON and carries no cookies', async () => {
    expect(await api().request('GET /licenses')).toEqual({ fine: true });
    expect(received.map(({ line }) => line)).toEqual(['GET /api/v1/licenses']);
    const [{ headers, body }] = received as [Received];
    expect(headers).toMatchObject({ authorization: 'Bearer old', accept: 'application/json' });
    expect(headers).not.toHaveProperty('content-type');
    expect(headers).not.toHaveProperty('cookie');
    expect(body).toBe('');
  });

  test('sends its body as JSON, and its own headers beside the token, which they can’t replace', async () => {
    const headers = {
      accept: 'text/event-stream',
      'idempotency-key': 'key-1',
      authorization: 'Bearer other',
    };
    const init = { body: { prompt: 'Łódź 🎨' }, headers };
    await api().requester.attempt('POST /playground/generate', init, (response) => response.text());
    expect(received[0]).toMatchObject({
      line: 'POST /api/v1/playground/generate',
      body: '{"prompt":"Łódź 🎨"}',
      headers: {
        authorization: 'Bearer old',
        accept: 'text/event-stream',
        'idempotency-key': 'key-1',
        'content-type': 'application/json',
      },
    });
  });

  test('has a query of what was given, encoded, and none of what was not', async () => {
    const query = { licenseId: 'a&b=c d/ł', limit: 0, cursor: undefined, status: '' as never };
    await api().request('GET /generate', { query });
    await api().request('GET /generate', { query: { cursor: undefined } });
    await api().request('GET /generate', { query: {} });
    const [first, ...others] = received.map(({ line }) => line.replace('GET /api/v1', ''));
    expect(Object.fromEntries(new URL(first!, baseUrl).searchParams)).toEqual({
      licenseId: 'a&b=c d/ł',
      limit: '0',
    });
    expect(others).toEqual(['/generate', '/generate']);
  });

  test('gives the answer itself to those who read a stream', async () => {
    answer = (res) => res.writeHead(200).end('data: 1\n\n');
    const read = (response: Response): Promise<string> => response.text();
    const { requester } = api();
    expect(await requester.attempt('POST /playground/generate', {}, read)).toBe('data: 1\n\n');
  });
});

describe('a refused session', () => {
  test('is renewed once, and the request repeated as it was', async () => {
    answer = renewable;
    const log: string[] = [];
    const init = { body: { a: 1 }, headers: { 'idempotency-key': 'key-1' }, query: { b: 2 } };
    expect(await api(session(log)).request('POST /keys', init as never)).toEqual({ fine: true });
    expect(log).toEqual(['replace old']);
    const [first, second] = received as [Received, Received];
    expect(second.headers.authorization).toBe('Bearer new');
    expect({ ...second, headers: { ...second.headers, authorization: 'Bearer old' } }).toEqual(first);
    expect(received).toHaveLength(2);
  });

  test('that is refused again with a new token is over, and nothing is tried a third time', async () => {
    answer = refused;
    const log: string[] = [];
    expect(await failure(api(session(log)).request('GET /licenses'))).toMatchObject({
      code: 'INVALID_SESSION',
    });
    expect(log).toEqual(['replace old', 'end']);
    expect(received).toHaveLength(2);
  });

  test('whose repeat is refused for another reason goes on', async () => {
    answer = (res, seen) => (received.length === 1 ? refused : notFound)(res, seen);
    const log: string[] = [];
    expect(await failure(api(session(log)).request('GET /licenses'))).toMatchObject({
      code: 'REQUEST_NOT_FOUND',
    });
    expect(log).toEqual(['replace old']);
  });

  test('of many requests at once is asked about once by each, and each succeeds', async () => {
    answer = renewable;
    const log: string[] = [];
    const client = api(session(log));
    const ids = Array.from({ length: 8 }, (_, i) => `req_${i}`);
    await Promise.all(
      ids.map((requestId) => client.request('GET /generate/{requestId}', { path: { requestId } })),
    );
    expect(log).toEqual(ids.map(() => 'replace old'));
    for (const requestId of ids) {
      const tokens = received
        .filter(({ line }) => line === `GET /api/v1/generate/${requestId}`)
        .map(({ headers }) => headers.authorization);
      expect(tokens).toEqual(['Bearer old', 'Bearer new']);
    }
  });

  test('that can’t be renewed says so, without a second request', async () => {
    answer = refused;
    const ended = sessionEnded();
    const tokens = { ...session(), replaceToken: () => Promise.reject(ended) };
    expect(await failure(api(tokens).request('GET /licenses'))).toBe(ended);
    expect(received).toHaveLength(1);
  });

  test('that has ended before sends nothing', async () => {
    const ended = sessionEnded();
    const tokens = { ...session(), accessToken: () => Promise.reject(ended) };
    expect(await failure(api(tokens).request('GET /licenses'))).toBe(ended);
    expect(ended).toMatchObject({ code: 'SESSION_ENDED', status: 401 });
    expect(received).toHaveLength(0);
  });

  test.each(['INVALID_API_KEY', 'UNAUTHORIZED'])(
    'is not what %s means: it is thrown at once',
    async (code) => {
      answer = json(401, { error: 'A sentence.', code });
      const log: string[] = [];
      expect(await failure(api(session(log)).request('GET /licenses'))).toMatchObject({ status: 401, code });
      expect(log).toEqual([]);
      expect(received).toHaveLength(1);
    },
  );
});

describe('a failure', () => {
  test('has the API’s sentence, code, status and request', async () => {
    answer = notFound;
    const facts = { message: 'It is gone.', code: 'REQUEST_NOT_FOUND', status: 404, requestId: 'req_9' };
    const error = await failure(api().request('GET /generate/{requestId}', { path: { requestId: 'req_9' } }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ ...facts, retryAfterSeconds: undefined });
  });

  test.each([
    ['7', 7],
    ['0', 0],
    ['86400', 86_400],
    [' 5 ', 5],
    ['Sat, 21 Nov 2026 12:00:00 GMT', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['7 s', undefined],
    ['99999999999', undefined],
    ['', undefined],
  ])('with Retry-After %j says to wait %j seconds', async (header, seconds) => {
    answer = json(429, { error: 'Slow down.', code: 'RATE_LIMITED' }, { 'retry-after': header });
    const error = await failure(api().request('GET /licenses'));
    expect(error).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: seconds });
    expect(received).toHaveLength(1);
  });

  test.each(['<html>502 Bad Gateway</html>', '', '{"error"', 'null', '"code"', '{"error":1,"code":2}', '[]'])(
    'whose body is not the API’s is still a sentence, with its status: %s',
    async (body) => {
      answer = (res) => res.writeHead(502, { 'x-request-id': 'req_9', 'retry-after': '3' }).end(body);
      const error = await failure(api().request('GET /licenses'));
      expect(error).toBeInstanceOf(ApiError);
      const facts = { status: 502, code: 'UNEXPECTED_ANSWER', requestId: 'req_9', retryAfterSeconds: 3 };
      expect(error).toMatchObject({ ...facts, message: expect.stringMatching(/^The service .* Try again/) });
    },
  );

  test('of an answer that is no JSON is a sentence, too', async () => {
    answer = (res) => res.writeHead(200, { 'x-request-id': 'req_9' }).end('<html>');
    const error = await failure(api().request('GET /licenses'));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 200, code: 'UNEXPECTED_ANSWER', requestId: 'req_9' });
  });

  test('to reach the service says so', async () => {
    const gone = createServer();
    const nobody = createApi(await listen(gone), session());
    await new Promise((closed) => gone.close(closed));
    answer = (res) => res.destroy();
    const message = "The service can't be reached. Check your connection and try again.";
    for (const client of [nobody, api()]) {
      const error = await failure(client.request('GET /licenses'));
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ status: 0, code: 'NETWORK', message });
    }
  });

  test('in the middle of an answer says so, too', async () => {
    answer = (res) => {
      res.writeHead(200, { 'content-length': '100' });
      res.write('{"fine":', () => res.destroy());
    };
    expect(await failure(api().request('GET /licenses'))).toMatchObject({ status: 0, code: 'NETWORK' });
  });
});

describe('an aborted request throws the reason of its signal', () => {
  const reason = new Error('nobody waits for it');
  let aborting: AbortController;
  beforeEach(() => void (aborting = new AbortController()));
  const asked = (): Promise<unknown> => failure(api().request('GET /licenses', { signal: aborting.signal }));

  test('before it is sent', async () => {
    aborting.abort(reason);
    expect(await asked()).toBe(reason);
    expect(received).toHaveLength(0);
  });

  test('while it waits for its answer', async () => {
    answer = () => aborting.abort(reason);
    expect(await asked()).toBe(reason);
  });

  test('while its answer is read', async () => {
    answer = (res) => {
      res.writeHead(200).write('{"fine":', () => setTimeout(() => aborting.abort(reason), 20));
    };
    expect(await asked()).toBe(reason);
  });

  test('while its repeat waits', async () => {
    answer = (res, seen) => (received.length === 1 ? refused(res, seen) : aborting.abort(reason));
    expect(await asked()).toBe(reason);
  });
});
