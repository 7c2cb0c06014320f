import { beforeAll, expect, test } from '@jest/globals';
import { newAccount, type Account } from '../support/accounts.ts';
import { expectError } from '../support/answers.ts';
import { lastEvent } from '../support/events.ts';
import { expectCharged } from '../support/period-totals.ts';
import { generate, small, stored } from '../support/requests.ts';
import type { ApiAnswer } from '../support/service.ts';
import { useService } from '../support/use-service.ts';

// Glacier never finishes: each of its requests ends at the deadline.

const deadlineSeconds = 5;
const service = useService({ args: ['--deadline', String(deadlineSeconds)], quickContainer: true });
let account: Account;
let byKey: ApiAnswer;
let byEvents: ApiAnswer;
let inPlayground: ApiAnswer;

beforeAll(async () => {
  account = await newAccount(service);
  const { key, license, bySession } = account;
  const body = { identityId: service.ready.identities.glacier, seed: 9 };
  const { licenseId } = license;
  [byKey, byEvents, inPlayground] = await Promise.all([
    generate(service, key, body),
    generate(service, key, body, { accept: 'text/event-stream' }),
    bySession('/playground/generate', { body: { ...small, ...body, licenseId } }),
  ]);
});

test('is 504 TIMEOUT, by key and in the playground, and a last event for who follows events', () => {
  for (const answer of [byKey, inPlayground]) {
    expectError(answer, 504, 'TIMEOUT');
    expect(answer.body.error).toContain(`${deadlineSeconds} seconds`);
  }
  expect(lastEvent(byEvents.body)).toMatchObject({
    event: 'failed',
    data: { code: 'TIMEOUT', status: 504, error: byKey.body.error },
  });
});

test('is stored as TIMEOUT with its message under the X-Request-Id of the answer', async () => {
  const requestId = byKey.headers.get('x-request-id')!;
  const record = await stored(service, account.key, requestId);
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
  expect(byKey.body.error).toContain(record.errorMessage);
  for (const at of [record.createdAt, record.completedAt]) {
    expect(new Date(at).toISOString()).toBe(at);
  }
  const acceptedForMs = Date.parse(record.completedAt) - Date.parse(record.createdAt);
  expect(acceptedForMs).toBeGreaterThanOrEqual(deadlineSeconds * 1000 - 50);
});

test('costs nothing, holds nothing any more, and counts in the history but in no statistic', async () => {
  await expectCharged(service.table, account.license, 0);
  const { body } = await account.bySession(`/usage?licenseId=${account.license.licenseId}`);
  expect(body.stats.current).toBe(0);
  expect(body.history.map(({ status }: { status: string }) => status)).toEqual(Array(3).fill('TIMEOUT'));
  expect(body.aggregates.byIdentity).toEqual({});
});
