import { createServer } from 'node:http';
import { expect, test } from '@jest/globals';
import { listen } from '../../../local/http/server.ts';
import { dateOf, refusalCodes, refusalsEndSeconds, refusedKeeper } from '../../../shared/limits/refusals.ts';
import { newRequestId } from '../../../shared/base/ids.ts';
import { ServiceError, type ErrorCode } from '../../../shared/base/errors.ts';

import { countRefusal } from '../../../shared/http/count-refusal.ts';
import { endpoint } from '../../../shared/http/endpoint.ts';
import { readRequest } from '../../../shared/http/request.ts';
import { routes } from '../../../shared/routes/routes.ts';
import { addRefusal, keepRefused, listRefused, listRefusals } from '../../../shared/limits/refusal-store.ts';
import { newLicense } from '../../support/grants.ts';
import { useTable } from '../generations/use-engines.ts';

const fixture = useTable();
const signal = new AbortController().signal;
const keyId = `key_${'0'.repeat(32)}`;
const mayKeep = refusedKeeper();
const lastMs = Date.parse('2026-11-23T23:59:59.999Z');

const add = (licenseId: string, code: ErrorCode, atMs = lastMs, caller = keyId) =>
  addRefusal(fixture.table, { licenseId, caller }, [code], atMs, signal);

/** Ends a request that was refused with a code. @returns what was logged. */
async function endRefused(
  licenseId: string,
  code: string,
  { timeoutSignal = signal, atMs = lastMs, sentence = '' } = {},
): Promise<object[]> {
  const request = readRequest({ httpMethod: 'GET' } as never, newRequestId(atMs), atMs);
  request.refusalOwner = { licenseId, caller: keyId, keyName: 'CI' };
  request.refusedBecause = sentence;
  request.refusedCategories = [];
  request.logFields.code = code;
  const logged: object[] = [];
  const note = (message: string, fields: object) => void logged.push({ message, ...fields });
  const clock = { timeout: () => timeoutSignal };
  await countRefusal(request, routes.createGeneration, {
    table: () => fixture.table,
    clock,
    log: { info: note, error: note },
    mayKeep,
  });
  return logged;
}

test('of 50 refusals at once each is counted, by its code', async () => {
  const { licenseId } = newLicense();
  const codes = Array.from({ length: 50 }, (_, i) => (i % 5 === 0 ? 'RATE_LIMITED' : 'TIER_LIMIT'));
  await Promise.all(codes.map((code) => add(licenseId, code as ErrorCode)));
  const counted = await listRefusals(fixture.table, licenseId, '2026-11-23');
  const place = { date: '2026-11-23', caller: keyId };
  expect(counted.toSorted((one, other) => one.count - other.count)).toEqual([
    { ...place, code: 'RATE_LIMITED', count: 10 },
    { ...place, code: 'TIER_LIMIT', count: 40 },
  ]);
});

test('a day begins at midnight of UTC, the newest is first, and older days and other licenses are left out', async () => {
  const [{ licenseId }, other] = [newLicense(), newLicense()];
  await add(licenseId, 'TIER_LIMIT', lastMs);
  await add(licenseId, 'TIER_LIMIT', lastMs + 1);
  await add(licenseId, 'NOT_FOUND', lastMs + 1, 'playground');
  await add(other.licenseId, 'TIER_LIMIT', lastMs);
  const of = async (first: string) =>
    (await listRefusals(fixture.table, licenseId, first)).map(({ date, caller }) => `${date} ${caller}`);
  expect(await of('2026-11-24')).toEqual(['2026-11-24 playground', `2026-11-24 ${keyId}`]);
  expect(await of('2026-11-23')).toEqual([...(await of('2026-11-24')), `2026-11-23 ${keyId}`]);
  expect(dateOf(lastMs + 1, 1)).toBe('2026-11-23');
  // Kept whole as long as the day can be asked for.
  expect(refusalsEndSeconds('2026-11-23')).toBe(Date.parse('2026-12-29') / 1000);
});

test('each refusal is counted by its code', async () => {
  const { licenseId } = newLicense();
  for (const code of refusalCodes) expect(await endRefused(licenseId, code)).toEqual([]);
  const counted = await listRefusals(fixture.table, licenseId, '2026-11-23');
  expect(counted.map(({ code, count }) => `${count} ${code}`).sort()).toEqual(
    [...refusalCodes].map((code) => `1 ${code}`).sort(),
  );
});

test.each(['SERVICE_UNAVAILABLE', 'TIMEOUT', 'PK', '__proto__'])(
  '%s is not counted: it is a fault, or no word of ours',
  async (code) => {
    const { licenseId } = newLicense();
    fixture.state.before = () => new Error('nothing may be sent');
    expect(await endRefused(licenseId, code)).toEqual([]);
  },
);

test('a table that is away, or that does not answer in time, is logged and nothing else', async () => {
  const { licenseId } = newLicense();
  fixture.state.before = () => new Error('the table is away');
  expect(await endRefused(licenseId, 'TIER_LIMIT')).toMatchObject([
    { message: 'refusal not counted', requestId: expect.any(String), code: 'TIER_LIMIT' },
  ]);
  fixture.mend();
  expect(await endRefused(licenseId, 'TIER_LIMIT', { timeoutSignal: AbortSignal.abort() })).toHaveLength(1);
  expect(await listRefusals(fixture.table, licenseId, '2026-11-23')).toEqual([]);
});

test('of a flood one request in ten seconds is kept, with its reason but nothing that its caller wrote', async () => {
  const [{ licenseId }, other] = [newLicense(), newLicense()];
  const sentence = 'unknown member "a dog in the rain"; referenceMode "exact_product" needs more.';
  const refuse = (id: string, laterMs: number) =>
    endRefused(id, 'TIER_LIMIT', { atMs: lastMs + laterMs, sentence });
  for (const laterMs of [0, 5000, 9999, 10_000, 10_001]) expect(await refuse(licenseId, laterMs)).toEqual([]);
  await refuse(other.licenseId, 1);
  const kept = await listRefused(fixture.table, licenseId, lastMs);
  expect(kept.map(({ atMs }) => atMs - lastMs)).toEqual([10_000, 0]);
  expect(kept[0]).toEqual({
    requestId: expect.stringMatching(/^01a20ada-530f-7/),
    atMs: lastMs + 10_000,
    route: 'POST /generate',
    status: 400,
    code: 'TIER_LIMIT',
    error: 'unknown member "…"; referenceMode "…" needs more.',
    caller: keyId,
    keyName: 'CI',
  });
  expect(await listRefused(fixture.table, licenseId, lastMs, kept[1]!.requestId)).toEqual([kept[1]]);
  const counts = await listRefusals(fixture.table, licenseId, '2026-11-23');
  expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(5);
});

test('the newest hundred refused requests are listed, and none after 14 days', async () => {
  const { licenseId } = newLicense();
  const refused = Array.from({ length: 102 }, (_, i) => ({
    requestId: newRequestId(lastMs + i),
    atMs: lastMs + i,
    route: 'POST /generate',
    status: 400,
    code: 'TIER_LIMIT' as const,
    error: '',
  }));
  const owner = { licenseId, caller: 'playground', keyName: null };
  await Promise.all(refused.map((one) => keepRefused(fixture.table, owner, one, signal)));
  const listedAt = async (nowMs: number) =>
    (await listRefused(fixture.table, licenseId, nowMs)).map(({ atMs }) => atMs - lastMs);
  expect(await listedAt(lastMs)).toEqual(Array.from({ length: 100 }, (_, i) => 101 - i));
  expect(await listedAt(lastMs + 14 * 24 * 3600 * 1000 + 99)).toEqual([101, 100]);
});

test('a handler ends after its count, because Lambda freezes what is still under way then', async () => {
  const order: string[] = [];
  const table = createServer((_, response) => {
    setTimeout(() => {
      order.push('counted');
      response.setHeader('content-type', 'application/x-amz-json-1.0').end('{}');
    }, 20);
  });
  const { url, close } = await listen(table);
  const before = { ...process.env };
  Object.assign(process.env, { AWS_ENDPOINT_URL_DYNAMODB: url, TABLE_NAME: 'any' });
  try {
    const handler: any = endpoint(routes.getHealth, {
      deps: () => ({}),
      run({ request }) {
        request.refusalOwner = { licenseId: 'lic_any', caller: keyId, keyName: null };
        return Promise.reject(new ServiceError('TIER_LIMIT', 'Too large.'));
      },
    });
    const { statusCode } = await handler({ httpMethod: 'GET', multiValueHeaders: {}, path: '/health' }, {});
    order.push(`answered ${statusCode}`);
  } finally {
    process.env = before;
    await close();
  }
  expect(order).toEqual(['counted', 'counted', 'answered 400']);
});
