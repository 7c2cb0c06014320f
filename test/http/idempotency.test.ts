import { expect, test } from '@jest/globals';
import { generationStore } from '../../shared/generations/store.ts';
import { expectError } from '../support/answers.ts';
import { grant, issueKey } from '../support/grants.ts';
import { expectCharged, reserveAbandoned } from '../support/period-totals.ts';
import { small } from '../support/requests.ts';
import { type ApiAnswer } from '../support/service.ts';
import { pause } from '../support/until.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
const { table } = service;

const bodyFor = (identity: string, prompt = 'x') => ({
  identityId: service.ready.identities[identity],
  ...small,
  prompt,
});

function send(key: string, idempotencyKey: string, body: unknown): Promise<ApiAnswer> {
  return service.api({ path: '/generate', key, body, headers: { 'idempotency-key': idempotencyKey } });
}

test('a repeat answers the first result with fresh links, says so and charges nothing', async () => {
  const granted = await grant(table);
  const first = await send(granted.key, 'order-1', bodyFor('aurora'));
  expect(first.headers.get('idempotent-replayed')).toBeNull();
  // Links are signed to the second.
  await pause(1100);
  const again = await send(granted.key, 'order-1', bodyFor('aurora'));
  expect(again.status).toBe(200);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.headers.get('x-request-id')).toBe(first.body.requestId);
  const { outputs: firstLinks, ...firstRest } = first.body;
  const { outputs: links, ...rest } = again.body;
  expect(rest).toEqual(firstRest);
  expect(links).not.toEqual(firstLinks);
  expect((await fetch(links[0])).status).toBe(200);
  await expectCharged(table, granted.license, 1);
});

test('a repeat of a request that still runs is IDEMPOTENCY_IN_PROGRESS and names it', async () => {
  const { key, keyId, license } = await grant(table);
  const identityId = service.ready.identities.aurora!;
  const body = JSON.stringify(bodyFor('aurora'));
  const running = await reserveAbandoned(table, license, {
    identityId,
    keyId,
    idempotency: { key: 'runs', body },
  });
  const answer = await send(key, 'runs', body);
  expectError(answer, 409, 'IDEMPOTENCY_IN_PROGRESS');
  expect(answer.headers.get('x-request-id')).toBe(running.requestId);
});

test('keys belong to the API key that sent them', async () => {
  const granted = await grant(table);
  const other = await issueKey(table, granted.license);
  const first = await send(granted.key, 'shared', bodyFor('aurora'));
  const second = await send(other.key, 'shared', bodyFor('aurora'));
  expect(second.status).toBe(200);
  expect(second.body.requestId).not.toBe(first.body.requestId);
});

test('a request that failed or was refused frees its key', async () => {
  const granted = await grant(table);
  const first = await send(granted.key, 'retry', bodyFor('flint'));
  const second = await send(granted.key, 'retry', bodyFor('flint'));
  expect([first.status, second.status]).toEqual([500, 500]);
  expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
  // A refusal holds nothing, not even the key: another body may use it.
  expect((await send(granted.key, 'refused', { ...bodyFor('aurora'), width: 1 })).status).toBe(400);
  expect((await send(granted.key, 'refused', bodyFor('aurora'))).status).toBe(200);
  await expectCharged(table, granted.license, 1);
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
  await expectCharged(table, granted.license, 1);
  const stored = await generationStore(table).list(granted.license.licenseId, 100, null);
  expect(stored.map(({ requestId }) => requestId)).toEqual([...ids]);
});
