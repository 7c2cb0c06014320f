import { beforeAll, expect, test } from '@jest/globals';
import { expectError, expectOk } from '../support/answers.ts';
import { grant, type Granted } from '../support/grants.ts';
import { expectCharged } from '../support/period-totals.ts';
import { generate, stored } from '../support/requests.ts';
import { until } from '../support/until.ts';
import { useService } from '../support/use-service.ts';

/** Longer than health remembers what it saw, so that it sees each state. */
const idleSeconds = 12;
const coldStartSeconds = 20;
const args = ['--sleep', String(idleSeconds), '--wake', String(coldStartSeconds)];
const service = useService({ args, quickContainer: true });
let granted: Granted;

beforeAll(async () => void (granted = await grant(service.table)));

const health = async () => (await service.api({ path: '/health' })).body;
const isAsleep = async () => (await health()).model === 'asleep';
const send = (headers: Record<string, string> = {}) =>
  generate(service, granted.key, { identityId: service.ready.identities.aurora }, headers);
const retryAfterOf = ({ headers }: { headers: Headers }) => Number(headers.get('retry-after'));

test('a model is scaled to zero, is started by a request that is refused, and generates for one that waits', async () => {
  expect(await health()).toMatchObject({ status: 'ok', model: 'ready', modelReadyInSeconds: null });
  await until('it is scaled to zero', isAsleep, 60_000, 500);
  expect(await health()).toMatchObject({ status: 'ok', inference: 'up', model: 'asleep' });

  const refusedAtMs = Date.now();
  const refused = await send();
  expectError(refused, 503, 'SERVICE_UNAVAILABLE');
  expect(retryAfterOf(refused)).toBe(300);
  expect(refused.body.error).toMatch(
    /^The model was asleep and is starting\. Try again in about 5 minutes\./,
  );
  await expectCharged(service.table, granted.license, 0);

  const accepted = await send({ prefer: 'respond-async' });
  expect(accepted.status).toBe(202);
  const id = accepted.body.requestId;
  // It is starting: the answer says about when it is ready.
  expect(retryAfterOf(accepted)).toBeGreaterThan(2);
  expect(retryAfterOf(accepted)).toBeLessThanOrEqual(300);

  const states: string[] = [];
  let seconds: number | null = null;
  let record: any;
  const isDone = async () => {
    const { model, modelReadyInSeconds } = await health();
    if (states.at(-1) !== model) states.push(model);
    seconds ??= modelReadyInSeconds;
    if (record?.status !== 'COMPLETED') record = await stored(service, granted.key, id);
    return record.status === 'COMPLETED' && states.includes('ready');
  };
  await until('it woke, generated, and health said so', isDone, 120_000, 1500);
  const tookSeconds = (Date.now() - refusedAtMs) / 1000;
  expect(states).toEqual(['asleep', 'waking', 'ready']);
  expect(seconds).toBeGreaterThanOrEqual(5);
  expect(Date.parse(record.startedAt) - refusedAtMs).toBeGreaterThanOrEqual(coldStartSeconds * 1000);
  await expectCharged(service.table, granted.license, 1);

  await until('it is scaled to zero again', isAsleep, 60_000, 500);
  const next = await send();
  expectError(next, 503, 'SERVICE_UNAVAILABLE');
  // What the cold start took, as far as callers saw it, in the place of 300.
  expect(retryAfterOf(next)).toBeGreaterThanOrEqual(coldStartSeconds);
  expect(retryAfterOf(next)).toBeLessThanOrEqual(Math.ceil(tookSeconds));

  const waitSeconds = retryAfterOf(next);
  await new Promise((resolve) => setTimeout(resolve, waitSeconds * 1000));
  expectOk(await send());
  await expectCharged(service.table, granted.license, 2);
}, 300_000);
