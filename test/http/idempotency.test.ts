import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { billingPeriod } from '../../shared/domain/billing-period.ts';
import { generationStore } from '../../shared/store/generation-store.ts';
import { periodStore } from '../../shared/store/period-store.ts';
import type { Table } from '../../shared/store/table.ts';
import { grant, issueKey, tableOf, type Granted } from '../support/grants.ts';
import { removeFolder, startService, type ApiAnswer, type RunningService } from '../support/service.ts';

let service: RunningService;
let table: Table;

beforeAll(async () => {
  service = await startService();
  table = tableOf(service.dataDir);
});

afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

const small = { width: 512, height: 512, numInferenceSteps: 20 };
const bodyFor = (identity: string, prompt = 'x') => ({
  identityId: service.ready.identities[identity],
  prompt,
  ...small,
});

function send(key: string, idempotencyKey: string, body: unknown): Promise<ApiAnswer> {
  return service.api({ path: '/generate', key, body, headers: { 'idempotency-key': idempotencyKey } });
}

async function books({ license }: Granted) {
  const { startMs } = billingPeriod(license.periodAnchorMs, Date.now());
  return periodStore(table).get(license.licenseId, startMs);
}

test('a repeat answers the first result with fresh links, says so and charges nothing', async () => {
  const granted = await grant(table);
  const first = await send(granted.key, 'order-1', bodyFor('aurora'));
  expect(first.headers.get('idempotent-replayed')).toBeNull();
  // Links are signed to the second.
  await new Promise((resolve) => setTimeout(resolve, 1100));
  const again = await send(granted.key, 'order-1', bodyFor('aurora'));
  expect(again.status).toBe(200);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.headers.get('x-request-id')).toBe(first.body.requestId);
  const { outputs: firstLinks, ...firstRest } = first.body;
  const { outputs: links, ...rest } = again.body;
  expect(rest).toEqual(firstRest);
  expect(links).not.toEqual(firstLinks);
  expect((await fetch(links[0])).status).toBe(200);
  expect(await books(granted)).toMatchObject({ used: 1, committed: 1 });
});

test('the quoted form of a key is the same key', async () => {
  const { key } = await grant(table);
  const first = await send(key, 'quoted', bodyFor('aurora'));
  const again = await send(key, '"quoted"', bodyFor('aurora'));
  expect(again.body.requestId).toBe(first.body.requestId);
});

test('the same key with another body is IDEMPOTENCY_MISMATCH', async () => {
  const { key } = await grant(table);
  await send(key, 'k', bodyFor('aurora'));
  const answer = await send(key, 'k', bodyFor('aurora', 'another'));
  expect([answer.status, answer.body.code]).toEqual([422, 'IDEMPOTENCY_MISMATCH']);
});

test('keys belong to the API key that sent them', async () => {
  const granted = await grant(table);
  const other = await issueKey(table, granted.license);
  const first = await send(granted.key, 'shared', bodyFor('aurora'));
  const second = await send(other.key, 'shared', bodyFor('aurora'));
  expect(second.status).toBe(200);
  expect(second.body.requestId).not.toBe(first.body.requestId);
});

test('while the first runs, a repeat is IDEMPOTENCY_IN_PROGRESS and names it', async () => {
  const { key } = await grant(table);
  const running = send(key, 'slow', bodyFor('harbor'));
  await new Promise((resolve) => setTimeout(resolve, 700));
  const answer = await send(key, 'slow', bodyFor('harbor'));
  expect([answer.status, answer.body.code]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  const first = await running;
  expect(answer.headers.get('x-request-id')).toBe(first.body.requestId);
});

test('a request that failed frees its key, so that a retry really retries', async () => {
  const granted = await grant(table);
  const first = await send(granted.key, 'retry', bodyFor('flint'));
  const second = await send(granted.key, 'retry', bodyFor('flint'));
  expect([first.status, second.status]).toEqual([500, 500]);
  expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
  // A refusal holds nothing, not even the key: another body may use it.
  expect((await send(granted.key, 'refused', { ...bodyFor('aurora'), width: 1 })).status).toBe(400);
  expect((await send(granted.key, 'refused', bodyFor('aurora'))).status).toBe(200);
  expect(await books(granted)).toMatchObject({ used: 1, committed: 1 });
});

test('a completed request answers again when the credits are spent meanwhile', async () => {
  const { key } = await grant(table, { creditsLimit: 1 });
  const first = await send(key, 'last', bodyFor('aurora'));
  expect((await send(key, 'next', bodyFor('aurora'))).body.code).toBe('CREDIT_LIMIT_EXCEEDED');
  const again = await send(key, 'last', bodyFor('aurora'));
  expect([again.status, again.body.requestId]).toEqual([200, first.body.requestId]);
});

test('20 parallel requests with one key give one generation and one charge', async () => {
  const granted = await grant(table);
  // Two API keys would not share it; one API key lets ten of the twenty through its rate limit.
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => send(granted.key, 'parallel', bodyFor('aurora'))),
  );
  const codes = answers.map(({ status, body }) => body.code ?? status);
  const allowed = [200, 'IDEMPOTENCY_IN_PROGRESS', 'RATE_LIMITED'];
  expect(codes.filter((code) => !allowed.includes(code))).toEqual([]);
  const ids = new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body.requestId));
  expect(ids.size).toBe(1);
  expect(codes.filter((code) => code === 'RATE_LIMITED')).toHaveLength(10);
  expect(await books(granted)).toMatchObject({ used: 1, committed: 1 });
  const stored = await generationStore(table).list(granted.license.licenseId, 100, null);
  expect(stored.map(({ requestId }) => requestId)).toEqual([...ids]);
});

test.each(['', 'two words', 'é', 'x'.repeat(256), '""'])('the key %j is refused', async (idempotencyKey) => {
  const { key } = await grant(table);
  const encoded = Buffer.from(idempotencyKey).toString('latin1');
  const answer = await send(key, encoded, bodyFor('ember'));
  expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_PARAMETERS']);
  expect(answer.body.error).toContain('Idempotency-Key');
});

test('a key of 255 characters is taken', async () => {
  const { key } = await grant(table);
  expect((await send(key, '~'.repeat(255), bodyFor('ember'))).body.code).toBe('IDENTITY_UNAVAILABLE');
});
