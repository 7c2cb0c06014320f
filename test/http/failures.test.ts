import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { demoIdentities } from '../../local/demo-world.ts';
import { newApiKey } from '../../shared/domain/api-key.ts';
import type { Table } from '../../shared/store/table.ts';
import { expectError, expectOk, uuid } from '../support/answers.ts';
import { books, expectCharged, fixedTableOf, reserveAbandoned } from '../support/books.ts';
import { grant, type Granted } from '../support/grants.ts';
import { openImage, pngSize } from '../support/png.ts';
import { generate, newestWith, small, stored } from '../support/requests.ts';
import { removeFolder, startService, type ApiAnswer, type RunningService } from '../support/service.ts';

const deadlineSeconds = 5;

let service: RunningService;
let table: Table;
let identities: Record<string, string>;
/** Accepted two minutes ago by a handler that died: its lease is over, and nobody restarts the service. */
let abandoned: { granted: Granted; requestId: string };

beforeAll(async () => {
  service = await startService({ args: ['--deadline', String(deadlineSeconds)] });
  table = await fixedTableOf(service.dataDir);
  identities = service.ready.identities;
  const granted = await grant(table);
  const { requestId } = await reserveAbandoned(table, granted.license, {
    identityId: identities.aurora!,
    acceptedAtMs: Date.now() - 120_000,
  });
  abandoned = { granted, requestId };
});

afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

describe('with a deadline of three seconds', () => {
  describe('glacier, which never finishes', () => {
    let granted: Granted;
    let answer: ApiAnswer;
    let whileItRan: { used: number; committed: number };
    let tookMs: number;

    beforeAll(async () => {
      granted = await grant(table);
      const startedMs = performance.now();
      const running = generate(service, granted.key, { identityId: identities.glacier, seed: 9 });
      await newestWith(service, granted.key, ['PROCESSING']);
      whileItRan = await books(table, granted.license);
      answer = await running;
      tookMs = performance.now() - startedMs;
    });

    test('is 504 TIMEOUT within a second of the deadline', () => {
      expectError(answer, 504, 'TIMEOUT');
      expect(tookMs).toBeGreaterThanOrEqual(deadlineSeconds * 1000 - 50);
      expect(tookMs).toBeLessThan(deadlineSeconds * 1000 + 1000);
    });

    test('is stored as TIMEOUT with its message under the X-Request-Id of the answer', async () => {
      const requestId = answer.headers.get('x-request-id')!;
      const record = await stored(service, granted.key, requestId);
      expect(record).toMatchObject({
        id: requestId,
        status: 'TIMEOUT',
        seed: 9,
        errorMessage: expect.stringContaining(`${deadlineSeconds} seconds`),
        outputUrl: null,
        outputs: [],
        creditsCharged: 0,
        modelVersion: null,
      });
      expect(answer.body.error).toContain(record.errorMessage);
      for (const at of [record.createdAt, record.startedAt, record.completedAt]) {
        expect(new Date(at).toISOString()).toBe(at);
      }
    });

    test('held its credit while it ran, and then neither holds nor costs anything', async () => {
      expect(whileItRan).toEqual({ used: 0, committed: 1 });
      await expectCharged(table, granted.license, 0);
    });
  });

  describe('flint, which fails in the model', () => {
    let granted: Granted;
    let answer: ApiAnswer;

    beforeAll(async () => {
      granted = await grant(table);
      answer = await generate(service, granted.key, { identityId: identities.flint });
    });

    test('is 500 GENERATION_FAILED', () => {
      expectError(answer, 500, 'GENERATION_FAILED');
    });

    test("is stored as FAILED with the model's message under the X-Request-Id of the answer", async () => {
      const requestId = answer.headers.get('x-request-id')!;
      const { failWith } = demoIdentities.flint!.painter!;
      const record = await stored(service, granted.key, requestId);
      expect(record).toMatchObject({ id: requestId, status: 'FAILED', errorMessage: failWith });
      expect(record).toMatchObject({ outputUrl: null, outputs: [], creditsCharged: 0 });
      expect(answer.body.error).toContain(failWith);
    });

    test('costs and holds nothing', async () => {
      await expectCharged(table, granted.license, 0);
    });

    test('frees its Idempotency-Key: the same again runs again, and another body may take the key', async () => {
      const headers = { 'idempotency-key': 'try-until-it-works' };
      const flint = { identityId: identities.flint };
      const first = await generate(service, granted.key, flint, headers);
      const second = await generate(service, granted.key, flint, headers);
      for (const failed of [first, second]) expectError(failed, 500, 'GENERATION_FAILED');
      const ids = [first, second].map((failed) => failed.headers.get('x-request-id')!);
      expect(new Set(ids).size).toBe(2);
      for (const id of ids) expect((await stored(service, granted.key, id)).status).toBe('FAILED');
      const other = await generate(service, granted.key, { identityId: identities.aurora }, headers);
      expectOk(other);
      expect(other.headers.get('idempotent-replayed')).toBeNull();
    });
  });

  describe('ember, which has no active model', () => {
    test('is 503 IDENTITY_UNAVAILABLE, stores nothing and holds nothing', async () => {
      const { key, license } = await grant(table);
      expectError(
        await generate(service, key, { identityId: identities.ember }),
        503,
        'IDENTITY_UNAVAILABLE',
      );
      await expectCharged(table, license, 0);
      expect((await service.api({ path: '/generate', key })).body.generations).toEqual([]);
    });

    test('is 429 CREDIT_LIMIT_EXCEEDED for those whose credits are used up', async () => {
      const { key, license } = await grant(table, { creditsLimit: 5, used: 5 });
      expectError(
        await generate(service, key, { identityId: identities.ember }),
        429,
        'CREDIT_LIMIT_EXCEEDED',
      );
      await expectCharged(table, license, 5);
    });
  });

  test('every answer, 200 and each error, has X-Request-Id, JSON and, for an error, exactly error and code', async () => {
    const { key } = await grant(table);
    const { aurora, ember, glacier } = identities;
    const spent = await grant(table, { creditsLimit: 5, used: 5 });
    const headers = { 'idempotency-key': 'one' };
    const first = generate(service, key, { identityId: glacier }, headers);
    await newestWith(service, key, ['PROCESSING']);
    const health = await service.api({ path: '/health' });
    expectOk(health);
    const replayed = await grant(table);
    for (let i = 0; i < 2; i++)
      expectOk(await generate(service, replayed.key, { identityId: aurora }, headers));
    const inProgress = await generate(service, key, { identityId: glacier }, headers);
    expectError(inProgress, 409, 'IDEMPOTENCY_IN_PROGRESS');
    const limited = await grant(table);
    for (let i = 0; i < 10; i++) await service.api({ path: '/generate', key: limited.key, body: '{' });
    const post = (body: unknown, sentKey = key) => service.api({ path: '/generate', key: sentKey, body });
    const errors: [Promise<ApiAnswer>, number, string][] = [
      [post({}, newApiKey()), 401, 'INVALID_API_KEY'],
      [post('{'), 400, 'INVALID_BODY'],
      [post({}), 400, 'MISSING_IDENTITY'],
      [post({ identityId: 'x' }), 404, 'IDENTITY_NOT_FOUND'],
      [post({ identityId: identities.drift }), 401, 'IDENTITY_MISMATCH'],
      [post({ identityId: aurora }), 400, 'INVALID_PARAMETERS'],
      [post({ identityId: aurora, prompt: 'x', numOutputs: 5 }), 400, 'TIER_LIMIT'],
      [post({ identityId: aurora, prompt: 'x' }, spent.key), 429, 'CREDIT_LIMIT_EXCEEDED'],
      [post({ identityId: ember, prompt: 'x' }), 503, 'IDENTITY_UNAVAILABLE'],
      [post({}, limited.key), 429, 'RATE_LIMITED'],
      [post(' '.repeat(1024 * 1024 + 1), spent.key), 413, 'PAYLOAD_TOO_LARGE'],
      [
        generate(service, replayed.key, { identityId: aurora, seed: 2 }, headers),
        422,
        'IDEMPOTENCY_MISMATCH',
      ],
      [service.api({ path: '/generate/x', key }), 404, 'REQUEST_NOT_FOUND'],
      [service.api({ path: '/nowhere', key }), 404, 'NOT_FOUND'],
      [first, 504, 'TIMEOUT'],
    ];
    for (const [sent, status, code] of errors) expectError(await sent, status, code);
    expect(inProgress.headers.get('x-request-id')).toBe((await first).headers.get('x-request-id'));
  });
});

describe('when the service dies or its client goes', () => {
  let mortal: RunningService;
  let mortalTable: Table;

  beforeAll(async () => {
    mortal = await startService();
    mortalTable = await fixedTableOf(mortal.dataDir);
  });

  afterAll(async () => {
    await mortal.end();
    removeFolder(mortal.dataDir);
  });

  test('a client that hangs up does not lose its image, and pays for it once', async () => {
    const { key, license } = await grant(mortalTable);
    const client = new AbortController();
    const { baseUrl, identities: ids } = mortal.ready;
    const sent = fetch(`${baseUrl}/generate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ ...small, identityId: ids.harbor }),
      signal: client.signal,
    });
    const id = await newestWith(mortal, key, ['PROCESSING']);
    client.abort();
    await expect(sent).rejects.toThrow('abort');
    expect(await newestWith(mortal, key, ['COMPLETED'])).toBe(id);
    const record = await stored(mortal, key, id);
    expect(record.creditsCharged).toBe(1);
    expect(pngSize(await openImage(record.outputUrl))).toEqual({ width: 512, height: 512 });
    await expectCharged(mortalTable, license, 1);
  });

  test('after kill -9, what was PROCESSING or QUEUED is ended by the next start, and nothing is held', async () => {
    const running = await grant(mortalTable);
    const waiting = await grant(mortalTable);
    const { harbor, aurora } = mortal.ready.identities;
    const headers = { 'idempotency-key': 'order-7' };
    const done = await generate(mortal, running.key, { identityId: aurora });
    const sent = generate(mortal, running.key, { identityId: harbor }, headers);
    const lost = sent.then(
      () => 'answered',
      () => 'broken off',
    );
    const processing = await newestWith(mortal, running.key, ['PROCESSING']);
    const queued = await reserveAbandoned(mortalTable, waiting.license, { identityId: aurora! });
    expect((await stored(mortal, waiting.key, queued.requestId)).status).toBe('QUEUED');
    expect(await books(mortalTable, running.license)).toEqual({ used: 1, committed: 2 });
    expect(await books(mortalTable, waiting.license)).toEqual({ used: 0, committed: 1 });

    await mortal.end('SIGKILL');
    expect(await lost).toBe('broken off');
    const startedMs = Date.now();
    mortal = await startService({ dataDir: mortal.dataDir });
    mortalTable = await fixedTableOf(mortal.dataDir);
    for (const [granted, id] of [
      [running, processing],
      [waiting, queued.requestId],
    ] as const) {
      expect(await newestWith(mortal, granted.key, ['TIMEOUT', 'FAILED'])).toBe(id);
      const record = await stored(mortal, granted.key, id);
      expect(record).toMatchObject({ outputUrl: null, creditsCharged: 0 });
      expect(record.errorMessage).toMatch(/^\S.*\.$/);
    }
    expect(Date.now() - startedMs).toBeLessThan(30_000);
    await expectCharged(mortalTable, running.license, 1);
    await expectCharged(mortalTable, waiting.license, 0);
    expect(await stored(mortal, running.key, done.body.requestId)).toMatchObject({ status: 'COMPLETED' });

    const again = await generate(mortal, running.key, { identityId: harbor }, headers);
    expectOk(again);
    expect(again.body.requestId).toMatch(uuid);
    expect(again.body.requestId).not.toBe(processing);
    await expectCharged(mortalTable, running.license, 2);
  });
});

test('what a dead handler still holds is given back within two minutes, without a restart', async () => {
  const { granted, requestId } = abandoned;
  expect(await newestWith(service, granted.key, ['TIMEOUT', 'FAILED'], 75_000)).toBe(requestId);
  await expectCharged(table, granted.license, 0);
}, 90_000);
