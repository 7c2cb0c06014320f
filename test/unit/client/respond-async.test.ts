import { describe, expect, jest, test } from '@jest/globals';
import type { GenerateOptions, RespondAsyncOptions } from '../../../clients/typescript/src/index.ts';
import { answer, lookedUp, requestId, result, stored as storedBody } from '../../support/generation-run.ts';
import { answered, refused, type Script } from '../../support/scripted-fetch.ts';
import { body, clientOf, logOf, outcomeOf, unreachable, useFakeTimers } from './fixture.ts';

const accepted: Script = answered(
  { requestId, status: 'QUEUED', creditsReserved: 3 },
  { status: 202, headers: { 'preference-applied': 'respond-async', 'retry-after': '2' } },
);

useFakeTimers();

/** The stored request with this status, asked for again after so many seconds. */
const stored = (status: string, retryAfter?: number): Script =>
  answered(
    storedBody(status),
    retryAfter === undefined ? {} : { headers: { 'retry-after': String(retryAfter) } },
  );

describe('a request that is accepted', () => {
  const accept = async (scripts: Script[], options: RespondAsyncOptions = {}) => {
    const { client, sent } = clientOf(scripts);
    return { outcome: await outcomeOf(client.respondAsync(body, options)), sent, log: logOf(sent) };
  };

  test('asks not to wait, with a key of its own, and has what is held', async () => {
    const { outcome, sent } = await accept([accepted]);
    expect(outcome).toMatchObject({ requestId, creditsReserved: 3 });
    const { headers } = sent[0]!;
    expect([headers.get('prefer'), headers.get('accept')]).toEqual(['respond-async', 'application/json']);
    expect(headers.get('idempotency-key')).toMatch(/^[0-9a-f-]{36}$/);
    expect((await accept([accepted])).sent[0]!.headers.get('idempotency-key')).not.toBe(
      headers.get('idempotency-key'),
    );
  });

  test.each<[string, Script]>([
    ['the gateway times out', refused(504, 'TIMEOUT', { requestId: 'of the gateway' })],
  ])('is asked for again with the same key and body when %s', async (_what, fault) => {
    const { outcome, sent, log } = await accept([fault, accepted], { idempotencyKey: 'order-7' });
    expect(outcome).toMatchObject({ requestId, creditsReserved: 3 });
    expect(log).toEqual(['POST /generate 0 s', 'POST /generate 1 s']);
    expect(sent.map(({ headers }) => headers.get('idempotency-key'))).toEqual(['order-7', 'order-7']);
    expect(sent.map((one) => one.body)).toEqual([body, body]);
  });

  test('is found again when the answer was lost: its repeat says that it runs', async () => {
    const running = refused(409, 'IDEMPOTENCY_IN_PROGRESS', { requestId, retryAfter: 2 });
    const { outcome, log } = await accept([unreachable, running]);
    expect(outcome).toMatchObject({ requestId, creditsReserved: null });
    expect(log).toEqual(['POST /generate 0 s', 'POST /generate 1 s']);
  });

  test('may have completed already, or be answered by a service that knows no preferences', async () => {
    expect((await accept([answered(answer)])).outcome).toMatchObject({ requestId, creditsReserved: 1 });
  });

  test('is not made of an answer that is none of the service, nor of a refusal', async () => {
    for (const odd of [answered({}), answered(null), answered({ requestId: 7, creditsReserved: 1 })]) {
      expect((await accept([odd])).outcome).toMatchObject({ code: 'UNEXPECTED_ANSWER' });
    }
    const { outcome, sent } = await accept([refused(400, 'TIER_LIMIT')]);
    expect(outcome).toMatchObject({ name: 'ApiError', code: 'TIER_LIMIT' });
    expect(sent).toHaveLength(1);
  });
});

describe('an image that is waited for', () => {
  const generate = async (scripts: Script[], options: GenerateOptions = {}) => {
    const { client, sent } = clientOf(scripts);
    return {
      outcome: await outcomeOf(client.generate(body, { wait: 20, ...options })),
      sent,
      log: logOf(sent),
    };
  };

  test('is asked for by one request, whose answer has it', async () => {
    const { outcome, sent } = await generate([answered(answer)], { idempotencyKey: 'order-7' });
    expect(outcome).toEqual(result);
    const { headers } = sent[0]!;
    const of = ['prefer', 'accept', 'idempotency-key'].map((name) => headers.get(name));
    expect(of).toEqual(['wait=20', 'application/json', 'order-7']);
  });

  test('is polled once it was waited for long enough', async () => {
    const heard: unknown[] = [];
    const onAccepted = (so: unknown): void => void heard.push(so);
    const onDisconnected = onAccepted;
    const scripts = [accepted, stored('PROCESSING', 5), stored('COMPLETED')];
    const { outcome, log } = await generate(scripts, { onAccepted, onDisconnected });
    expect(outcome).toEqual(lookedUp);
    expect(log).toEqual(['POST /generate 0 s', 'GET /generate/req_1 0 s', 'GET /generate/req_1 5 s']);
    expect(heard).toEqual([{ requestId, creditsReserved: 3 }]);
  });

  test('has as much longer for its answer, and one that is lost is asked for with the same key', async () => {
    const running = refused(409, 'IDEMPOTENCY_IN_PROGRESS', { requestId });
    const { outcome, sent, log } = await generate(['silence', running, stored('COMPLETED')]);
    expect(outcome).toEqual(lookedUp);
    expect(log).toEqual(['POST /generate 0 s', 'POST /generate 81 s', 'GET /generate/req_1 81 s']);
    expect(new Set(sent.slice(0, 2).map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1);
  });

  test('is not tried again when it was cancelled, and seconds that the service would ignore are refused', async () => {
    const { outcome, sent } = await generate([refused(400, 'CANCELLED', { requestId })]);
    expect(outcome).toMatchObject({ code: 'CANCELLED', requestId });
    expect(sent).toHaveLength(1);
    for (const wait of [0, 61, 1.5, NaN]) {
      const refusal = await generate([answered(answer)], { wait });
      expect([refusal.outcome.name, refusal.sent]).toEqual(['TypeError', []]);
    }
  });
});

test('a cancellation whose answer was lost is sent again, and a request that has ended is not cancelled', async () => {
  const { client, sent } = clientOf([unreachable, stored('FAILED')]);
  expect(await outcomeOf(client.cancel(requestId))).toMatchObject({ id: requestId, status: 'FAILED' });
  expect(logOf(sent)).toEqual(['POST /generate/req_1/cancel 0 s', 'POST /generate/req_1/cancel 1 s']);
  const late = clientOf([refused(409, 'REQUEST_FINAL', { requestId })]);
  expect(await outcomeOf(late.client.cancel(requestId))).toMatchObject({ code: 'REQUEST_FINAL' });
  expect(late.sent).toHaveLength(1);
});

describe('waiting for a request', () => {
  const wait = async (scripts: Script[]) => {
    const { client, sent } = clientOf(scripts);
    const seen: string[] = [];
    const onStatus = ({ status }: { status: string }): void => void seen.push(status);
    const outcome = await outcomeOf(client.waitForGeneration(requestId, { onStatus }));
    return { outcome, seen, log: logOf(sent).map((line) => line.replace('GET /generate/req_1 ', '')) };
  };

  test('looks as often as the service asks for, a second at least, and ends with the images', async () => {
    const { outcome, seen, log } = await wait([
      stored('QUEUED', 3),
      stored('QUEUED', 0),
      stored('PROCESSING', 15),
      stored('PROCESSING'),
      stored('COMPLETED'),
    ]);
    expect(outcome).toEqual(lookedUp);
    expect(seen).toEqual(['QUEUED', 'QUEUED', 'PROCESSING', 'PROCESSING', 'COMPLETED']);
    expect(log).toEqual(['0 s', '3 s', '5 s', '20 s', '22 s']);
  });

  test('waits up to a quarter longer, so that many programs do not look at the same time', async () => {
    jest.mocked(Math.random).mockReturnValue(1);
    expect((await wait([stored('QUEUED', 8), stored('COMPLETED')])).log).toEqual(['0 s', '10 s']);
  });

  test('survives a network that is away, and a service that is busy', async () => {
    const faults = [
      unreachable,
      refused(503, 'SERVICE_UNAVAILABLE'),
      refused(429, 'RATE_LIMITED', { retryAfter: 20 }),
      refused(503, 'SERVICE_UNAVAILABLE', { retryAfter: 1 }),
      () => new Response('<html>', { status: 502 }),
    ];
    const { outcome, seen, log } = await wait([...faults, stored('COMPLETED')]);
    expect(outcome).toEqual(lookedUp);
    expect(seen).toEqual(['COMPLETED']);
    expect(log).toEqual(['0 s', '4 s', '8 s', '28 s', '30 s', '34 s']);
  });

  test.each([
    ['FAILED', 500, 'GENERATION_FAILED'],
    ['TIMEOUT', 504, 'TIMEOUT'],
    ['FAILED', 503, 'SERVICE_UNAVAILABLE'],
    ['FAILED', 400, 'INVALID_PARAMETERS'],
    ['FAILED', 400, 'CANCELLED'],
    ['FAILED', 400, 'CONTENT_REFUSED'],
  ])('throws the error of a request that ended as %s: %d %s', async (as, status, code) => {
    const { outcome, log } = await wait([stored('QUEUED', 1), answered(storedBody(as, 'It broke.', code))]);
    const message = 'It broke. Nothing was charged.';
    expect(outcome).toMatchObject({ name: 'ApiError', status, code, requestId, message });
    expect(log).toHaveLength(2);
  });

  test('throws what no waiting helps against', async () => {
    const { outcome, log } = await wait([refused(404, 'REQUEST_NOT_FOUND')]);
    expect(outcome).toMatchObject({ name: 'ApiError', code: 'REQUEST_NOT_FOUND' });
    expect(log).toHaveLength(1);
  });

  test('gives up after half an hour, and names the request', async () => {
    const { outcome } = await wait([stored('QUEUED', 15)]);
    expect(outcome).toMatchObject({ name: 'TimeoutError', requestId });
  });

  test('ends with the reason of its signal, while it looks and while it waits', async () => {
    const reason = new Error('left');
    for (const script of ['silence', stored('QUEUED', 9)] as Script[]) {
      const { client, sent } = clientOf([accepted, script]);
      const request = await client.respondAsync(body);
      const aborting = new AbortController();
      const outcome = request.wait({ signal: aborting.signal }).catch((error: unknown) => error);
      await jest.advanceTimersByTimeAsync(1000);
      aborting.abort(reason);
      expect(await outcome).toBe(reason);
      expect(sent).toHaveLength(2);
    }
  });
});
