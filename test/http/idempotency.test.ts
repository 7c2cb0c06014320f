import { expect, test } from '@jest/globals';
import { generationStore } from '../../shared/generations/store.ts';
import { newAccount } from '../support/accounts.ts';
import { grant, issueKey } from '../support/grants.ts';
import { expectCharged } from '../support/period-totals.ts';
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

test('an idempotency key belongs to who sent it: an API key, or an account in the playground', async () => {
  const { key, license, bySession } = await newAccount(service);
  const other = await issueKey(table, license);
  const body = { ...bodyFor('aurora'), licenseId: license.licenseId };
  const headers = { 'idempotency-key': 'shared' };
  const answers = [
    await send(key, 'shared', bodyFor('aurora')),
    await send(other.key, 'shared', bodyFor('aurora')),
    await bySession('/playground/generate', { body, headers }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(new Set(answers.map(({ body: { requestId } }) => requestId)).size).toBe(3);
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
