import { TransactWriteItemsCommand, type TransactWriteItemsCommandInput } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Generation } from '../../../shared/generations/generation.ts';
import { newId, newRequestId } from '../../../shared/base/ids.ts';
import { toItem } from '../../../shared/generations/item.ts';
import { generationStore, type GenerationStore } from '../../../shared/generations/store.ts';
import { RunLost } from '../../../shared/generations/record-part.ts';
import { countInPeriod } from '../../../shared/generations/in-flight.ts';
import { hashIdempotencyKey } from '../../../shared/generations/idempotency-store.ts';
import { periodStore } from '../../../shared/licenses/period-store.ts';
import { itemKeys, leaseIndex } from '../../../shared/table/keys.ts';
import { sampleGeneration, sampleNowMs } from '../../support/unit-samples.ts';
import { busy, canceled, hungUp, idempotencyRecordOf, writeConflict } from './table.ts';
import { useTable } from './use-engines.ts';

const fixture = useTable();
let generations: GenerationStore;

beforeAll(() => void (generations = generationStore(fixture.table)));

const nowMs = sampleNowMs;
const dayMs = 24 * 3600 * 1000;
const completion = {
  completedAtMs: nowMs + 9000,
  previews: [true],
  referenceImagesUsed: 1,
  modelVersion: 'v9',
};
const failure = { status: 'FAILED', errorCode: 'GENERATION_FAILED', errorMessage: 'It failed.' } as const;
const timeout = { status: 'TIMEOUT', errorCode: 'TIMEOUT', errorMessage: 'Too late.' } as const;

const newRecord = (changes: Partial<Generation> = {}) =>
  sampleGeneration(
    { requestId: newRequestId(nowMs), licenseId: newId('license'), ...changes },
    { numOutputs: 2 },
  );

/** One whose period counts what is in flight already, so that it is reserved by one transaction. */
async function opened(changes: Partial<Generation> = {}): Promise<Generation> {
  const record = newRecord(changes);
  await countInPeriod(fixture.table, record.licenseId, record.periodStartMs);
  return record;
}

const limits = (creditsLimit: number) => ({ creditsLimit, keyBudget: null, maxInFlight: 100 });

const stored = ({ licenseId, requestId }: Generation) => generations.get(licenseId, requestId);
const periodTotals = ({ licenseId, periodStartMs }: Generation) =>
  periodStore(fixture.table).get(licenseId, periodStartMs);

async function begun(changes: Partial<Generation> = {}): Promise<Generation> {
  const record = newRecord(changes);
  expect(await generations.reserve(record, limits(100), 'h')).toEqual({ outcome: 'reserved' });
  expect(await generations.start(record, nowMs + 500, 'run-1')).toBe(true);
  return { ...record, startedAtMs: nowMs + 500 };
}

/** The next commands of a kind fail before they are sent. @returns the commands seen so far. */
function lose(command: string, times: number, error: Error = hungUp()) {
  const sent: string[] = [];
  fixture.state.before = (name) => {
    if (name !== command) return undefined;
    sent.push(name);
    return sent.length <= times ? error : undefined;
  };
  return sent;
}
const write = 'TransactWriteItemsCommand';
const documents = () => fixture.table.documents;

describe('a reservation', () => {
  test('stores the record and holds its credits, up to the limit and no further', async () => {
    const record = newRecord();
    expect(await generations.reserve(record, limits(5), 'h')).toEqual({ outcome: 'reserved' });
    expect(await stored(record)).toEqual(record);
    expect(await periodTotals(record)).toMatchObject({ committed: 2, used: 0 });
    const next = () => newRecord({ licenseId: record.licenseId });
    expect(await generations.reserve(next(), limits(4), 'h')).toEqual({ outcome: 'reserved' });
    const refused = next();
    expect(await generations.reserve(refused, limits(5), 'h')).toEqual({ outcome: 'over_limit' });
    expect(await stored(refused)).toBeNull();
    expect(await periodTotals(record)).toMatchObject({ committed: 4, used: 0 });
  });

  test('of more than the whole limit is refused, and one of all of it is not', async () => {
    const sent = lose(write, 0);
    expect(await generations.reserve(newRecord(), limits(1), 'h')).toEqual({ outcome: 'over_limit' });
    expect(sent).toEqual([]);
    expect(await generations.reserve(newRecord(), limits(2), 'h')).toEqual({ outcome: 'reserved' });
  });

  test('that was made although a conflict was answered, and is tried again, is one', async () => {
    const record = await opened({ idempotencyKeyHash: hashIdempotencyKey(newId('license')) });
    let conflicts = 2;
    const conflict = canceled('TransactionConflict');
    fixture.state.after = (name) => (name === write && conflicts-- > 0 ? conflict : undefined);
    expect(await generations.reserve(record, limits(2), 'h')).toEqual({ outcome: 'reserved' });
    expect(conflicts).toBe(-1);
    expect(await stored(record)).toEqual(record);
    expect(await periodTotals(record)).toMatchObject({ committed: 2 });
  });

  test('never takes the id of another request', async () => {
    const record = newRecord();
    await generations.reserve(record, limits(100), 'h');
    const twin = { ...record, prompt: 'another' };
    await expect(generations.reserve(twin, limits(100), 'h')).rejects.toMatchObject({
      ...busy,
      cause: expect.objectContaining({ name: 'IdempotentParameterMismatchException' }),
    });
    expect(await stored(record)).toEqual(record);
    expect(await periodTotals(record)).toMatchObject({ committed: 2 });
  });

  test('of an id that is taken, but whose token is forgotten, is refused all the same', async () => {
    const record = await opened();
    await documents().send(new PutCommand({ TableName: fixture.table.name, Item: toItem(record) }));
    const twin = { ...record, prompt: 'another' };
    await expect(generations.reserve(twin, limits(100), 'h')).rejects.toMatchObject({
      ...busy,
      cause: expect.objectContaining({ message: 'the request id is taken' }),
    });
  });

  test('that was refused and arrives again, late, brings back nothing that was deleted since', async () => {
    const record = newRecord();
    const sent: TransactWriteItemsCommandInput[] = [];
    fixture.state.before = (name, input) => {
      const holdsRecord = JSON.stringify(input).includes(record.requestId);
      if (name === write && holdsRecord) sent.push(structuredClone(input));
      return undefined;
    };
    // The period does not count yet what is in flight, so the first attempt is refused.
    expect(await generations.reserve(record, limits(100), 'h')).toEqual({ outcome: 'reserved' });
    expect(sent).toHaveLength(2);
    fixture.mend();
    const Key = itemKeys.generation(record.licenseId, record.requestId);
    await documents().send(new DeleteCommand({ TableName: fixture.table.name, Key }));
    for (const late of sent) await fixture.table.client.send(new TransactWriteItemsCommand(late));
    expect(await stored(record)).toBeNull();
    expect(await periodTotals(record)).toMatchObject({ committed: 2 });
  });

  test('takes an idempotency key for 24 hours, to the millisecond', async () => {
    const first = newRecord({ idempotencyKeyHash: hashIdempotencyKey(newId('license')) });
    await generations.reserve(first, limits(100), 'h1');
    const idempotencyRecord = { requestId: first.requestId, bodyHash: 'h1', expiresAtMs: nowMs + dayMs };
    expect(await idempotencyRecordOf(fixture, first)).toEqual(idempotencyRecord);
    const later = (createdAtMs: number) =>
      newRecord({ idempotencyKeyHash: first.idempotencyKeyHash, createdAtMs });
    const early = later(nowMs + dayMs - 1);
    expect(await generations.reserve(early, limits(100), 'h2')).toEqual({
      outcome: 'repeated',
      idempotencyRecord,
    });
    expect([await stored(early), (await periodTotals(early)).committed]).toEqual([null, 0]);
    const next = later(nowMs + dayMs);
    expect(await generations.reserve(next, limits(100), 'h2')).toEqual({ outcome: 'reserved' });
    expect(await idempotencyRecordOf(fixture, first)).toMatchObject({
      requestId: next.requestId,
      bodyHash: 'h2',
    });
  });

  test('whose answer is lost was made if the record is there, and was not if it is not', async () => {
    const [made, lost] = [await opened(), await opened()];
    fixture.state.after = (name) => (name === write ? hungUp() : undefined);
    expect(await generations.reserve(made, limits(100), 'h')).toEqual({ outcome: 'reserved' });
    fixture.mend();
    lose(write, 1);
    await expect(generations.reserve(lost, limits(100), 'h')).rejects.toMatchObject(busy);
    fixture.state.before = () => new Error('away');
    await expect(generations.reserve(lost, limits(100), 'h')).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
  });
});

describe('a start', () => {
  test('makes a queued request one that is processed, once', async () => {
    const record = newRecord();
    await generations.reserve(record, limits(100), 'h');
    expect(await generations.start(record, nowMs + 7, 'run-1')).toBe(true);
    expect(await stored(record)).toEqual({ ...record, status: 'PROCESSING', startedAtMs: nowMs + 7 });
    // The SDK sends a write again whose answer was lost. The second finds the first one's result.
    expect(await generations.start(record, nowMs + 9, 'run-1')).toBe(true);
    expect((await stored(record))!.startedAtMs).toBe(nowMs + 7);
  });

  test('comes too late for what has ended, or is not there', async () => {
    const record = newRecord();
    await generations.reserve(record, limits(100), 'h');
    await generations.release(record, timeout, nowMs + 1);
    expect(await generations.start(record, nowMs + 7, 'run-1')).toBe(false);
    expect(await stored(record)).toMatchObject({ status: 'TIMEOUT', startedAtMs: null });
    expect(await generations.start(newRecord(), nowMs, 'run-1')).toBe(false);
    const run = await begun();
    await generations.release(run, timeout, nowMs + 1, 'run-1');
    expect(await generations.start(run, nowMs + 8, 'run-1')).toBe(false);
  });

  test('waits for a transaction that it meets, and any other fault is thrown', async () => {
    const record = newRecord();
    await generations.reserve(record, limits(100), 'h');
    lose('UpdateItemCommand', 1);
    await expect(generations.start(record, nowMs, 'run-1')).rejects.toThrow('socket hang up');
    const sent = lose('UpdateItemCommand', 2, writeConflict());
    expect(await generations.start(record, nowMs, 'run-1')).toBe(true);
    expect(sent).toHaveLength(3);
  });
});

describe('a charge', () => {
  test('completes the record and counts its credits as used, by type, identity, day and key, once', async () => {
    const record = await begun();
    const ended = { ...record, ...completion, status: 'COMPLETED', leaseUntilMs: 0 };
    for (const _ of [1, 2]) {
      expect(await generations.settle(record, completion)).toEqual(ended);
      expect(await stored(record)).toEqual(ended);
      const tally = { requests: 1, credits: 2 };
      const { byIdentity, ...rest } = await periodTotals(record);
      expect(rest).toEqual({
        committed: 2,
        fromExtra: 0,
        used: 2,
        imported: 0,
        inFlight: 0,
        inFlightByKey: {},
        unpaidRuns: [],
        notified: 0,
        byType: { text_to_image: tally },
        byDay: { '0517': tally },
        byKey: { [record.keyId]: { ...tally, committed: 2 } },
      });
      expect(Object.entries(byIdentity)).toEqual([['idn_1', tally]]);
    }
  });

  test('answers what another hand made of the record, and then changes nothing', async () => {
    const record = await begun();
    const released = await generations.release(record, timeout, nowMs + 1);
    const sent = lose(write, 0);
    expect(await generations.settle(record, completion)).toEqual(released);
    expect(sent).toHaveLength(1);
    expect(await periodTotals(record)).toMatchObject({ committed: 0, used: 0 });
  });

  test('of what has not begun is a fault, and of what is not there any more one that a run may leave alone', async () => {
    const record = newRecord();
    const sent = lose(write, 0);
    const settled = expect(generations.settle(record, completion)).rejects;
    await settled.toThrow(RunLost);
    expect(sent.splice(0)).toHaveLength(1);
    await generations.reserve(record, limits(100), 'h');
    sent.splice(0);
    const early = expect(generations.settle(record, completion)).rejects;
    await early.toThrow("generation is QUEUED: it can't be ended so");
    expect(sent).toHaveLength(1);
    expect(await periodTotals(record)).toMatchObject({ committed: 2, used: 0 });
  });

  test('is tried four times in all, and counts once where its answers are lost', async () => {
    const record = await begun();
    const sent = lose(write, 3);
    expect((await generations.settle(record, completion)).status).toBe('COMPLETED');
    expect(sent).toHaveLength(4);
    const other = await begun();
    const lost = lose(write, 4);
    await expect(generations.settle(other, completion)).rejects.toThrow('socket hang up');
    expect(lost).toHaveLength(4);
    fixture.mend();
    fixture.fail('after', hungUp());
    expect((await generations.settle(other, completion)).status).toBe('COMPLETED');
    expect(await periodTotals(other)).toMatchObject({ committed: 2, used: 2 });
  });
});

describe('a release', () => {
  test.each([failure, timeout])(
    'as $status gives back the credits and the idempotency key, once',
    async (reason) => {
      const record = await begun({ idempotencyKeyHash: hashIdempotencyKey(newId('license')) });
      const ended = { ...record, ...reason, completedAtMs: nowMs + 3, leaseUntilMs: 0 };
      expect(await idempotencyRecordOf(fixture, record)).not.toBeNull();
      for (const _ of [1, 2]) {
        expect(await generations.release(record, reason, nowMs + 3)).toEqual(ended);
        expect(await stored(record)).toEqual(ended);
        expect(await periodTotals(record)).toMatchObject({ committed: 0, used: 0 });
        expect(await idempotencyRecordOf(fixture, record)).toBeNull();
      }
    },
  );

  test('leaves alone an idempotency key that a newer request took over', async () => {
    const record = await begun({ idempotencyKeyHash: hashIdempotencyKey(newId('license')) });
    const newer = newRecord({ idempotencyKeyHash: record.idempotencyKeyHash, createdAtMs: nowMs + dayMs });
    await generations.reserve(newer, limits(100), 'h');
    expect(await generations.release(record, failure, nowMs + 3)).toMatchObject({ status: 'FAILED' });
    expect(await idempotencyRecordOf(fixture, record)).toMatchObject({ requestId: newer.requestId });
    expect(await periodTotals(record)).toMatchObject({ committed: 0 });
  });

  test('of what another run has begun is refused, and of what nobody has begun is not', async () => {
    const record = await begun();
    expect(await generations.start(record, nowMs + 9, 'run-2')).toBe(false);
    await expect(generations.release(record, failure, nowMs, 'run-2')).rejects.toThrow(RunLost);
    expect(await stored(record)).toEqual({ ...record, status: 'PROCESSING' });
    expect(await generations.release(record, failure, nowMs + 3, 'run-1')).toMatchObject(failure);
    // Whoever asks gets what has ended.
    const again = await generations.release(record, timeout, nowMs + 9, 'run-2');
    expect(again).toMatchObject({ ...failure, completedAtMs: nowMs + 3 });
    expect(await periodTotals(record)).toMatchObject({ used: 0, committed: 0, inFlight: 0 });
    const waiting = newRecord();
    await generations.reserve(waiting, limits(100), 'h');
    expect(await generations.release(waiting, failure, nowMs, 'run-2')).toMatchObject(failure);
  });

  test('after the charge answers the completed record, and gives nothing back', async () => {
    const record = await begun();
    const settled = await generations.settle(record, completion);
    expect(await generations.release(record, failure, nowMs + 10)).toEqual(settled);
    expect(await periodTotals(record)).toMatchObject({ committed: 2, used: 2 });
  });
});

test('leases are listed by shard, those that end before a time, the oldest first and so many', async () => {
  const shardOf = ({ requestId }: Generation) => leaseIndex.shardOf(requestId);
  const one = newRecord({ leaseUntilMs: 10 });
  const records = [one];
  while (records.length < 4) {
    const next = newRecord({ leaseUntilMs: 10 - records.length });
    if (shardOf(next) === shardOf(one)) records.push(next);
  }
  for (const record of records) await generations.reserve(record, limits(100), 'h');
  const list = async (beforeMs: number, limit = 50) =>
    (await generations.listExpiredLeases(shardOf(one), beforeMs, limit)).map(({ requestId }) => requestId);
  const oldestFirst = records.map(({ requestId }) => requestId).toReversed();
  expect(await list(11)).toEqual(oldestFirst);
  expect(await list(10)).toEqual(oldestFirst.slice(0, 3));
  expect(await list(11, 2)).toEqual(oldestFirst.slice(0, 2));
  await generations.release(records[3]!, timeout, nowMs);
  expect(await list(11)).toEqual(oldestFirst.slice(1));
  expect(await generations.listExpiredLeases(shardOf(one), 10, 1)).toEqual([
    { licenseId: records[2]!.licenseId, requestId: records[2]!.requestId },
  ]);
});

describe('requests in flight', () => {
  const may = Date.UTC(2026, 4, 1);
  const june = Date.UTC(2026, 5, 1);
  const taken = { outcome: 'too_many_in_flight' };
  const done = { outcome: 'reserved' };
  const requestsOf =
    (licenseId: string) =>
    (periodStartMs = may) =>
      newRecord({ licenseId, periodStartMs });
  const reserve = (request: Generation, maxInFlight: number) =>
    generations.reserve(request, { ...limits(1000), maxInFlight }, 'h');
  const inFlight = async (licenseId: string, startMs: number) =>
    (await periodStore(fixture.table).get(licenseId, startMs)).inFlight;

  test('of many at once exactly as many begin as may be in flight', async () => {
    const licenseId = newId('license');
    const request = requestsOf(licenseId);
    const answers = await Promise.all(Array.from({ length: 25 }, () => reserve(request(), 10)));
    expect(answers.filter(({ outcome }) => outcome === 'reserved')).toHaveLength(10);
    expect(answers.filter(({ outcome }) => outcome === 'too_many_in_flight')).toHaveLength(15);
    expect(await inFlight(licenseId, may)).toBe(10);
  });

  test('make room for one each when they end, however often they are ended', async () => {
    const licenseId = newId('license');
    const request = requestsOf(licenseId);
    const [first, second] = [request(), request()];
    for (const one of [first, second]) expect(await reserve(one, 2)).toEqual(done);
    expect(await reserve(request(), 2)).toEqual(taken);
    await Promise.all([1, 2, 3].map(() => generations.release(first, failure, nowMs)));
    expect(await inFlight(licenseId, may)).toBe(1);
    await generations.start(second, nowMs, 'run-1');
    await generations.settle(second, completion);
    await generations.settle(second, completion);
    expect(await inFlight(licenseId, may)).toBe(0);
  });

  test('count on in a new period, and end where they are counted', async () => {
    const licenseId = newId('license');
    const request = requestsOf(licenseId);
    const [old, late] = [request(), request()];
    for (const one of [old, late]) expect(await reserve(one, 2)).toEqual(done);
    expect(await reserve(request(june), 2)).toEqual(taken);
    await generations.release(old, failure, nowMs);
    expect(await reserve(request(june), 2)).toEqual(done);
    expect([await inFlight(licenseId, may), await inFlight(licenseId, june)]).toEqual([0, 2]);
    await generations.start(late, nowMs, 'run-1');
    expect(await generations.settle(late, completion)).toMatchObject({ status: 'COMPLETED' });
    expect(await inFlight(licenseId, june)).toBe(1);
    const totals = await periodStore(fixture.table).get(licenseId, may);
    expect(totals).toMatchObject({ used: 2, committed: 2, byType: { text_to_image: { requests: 1 } } });
  });

  test('whose deadline has come hold no credits, not even by a further attempt', async () => {
    const licenseId = newId('license');
    const request = requestsOf(licenseId)();
    let asked = 0;
    // The first attempt in a period is always refused.
    const isLate = () => ++asked > 1;
    await expect(generations.reserve(request, limits(1000), 'h', isLate)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
    expect(asked).toBe(2);
    expect(await generations.get(licenseId, request.requestId)).toBeNull();
    expect(await periodStore(fixture.table).get(licenseId, may)).toMatchObject({ committed: 0, inFlight: 0 });
  });

  test('of two periods at once share the places', async () => {
    const licenseId = newId('license');
    const request = requestsOf(licenseId);
    const wanted = Array.from({ length: 16 }, (_, i) => request(i % 2 === 0 ? may : june));
    const answers = await Promise.all(wanted.map((one) => reserve(one, 5).catch((error) => error)));
    const going = wanted.filter((_, i) => answers[i].outcome === 'reserved');
    expect(going.length).toBeLessThanOrEqual(5);
    await Promise.all(going.map((one) => generations.release(one, failure, nowMs)));
    expect([await inFlight(licenseId, may), await inFlight(licenseId, june)]).toEqual([0, 0]);
    for (let i = 0; i < 5; i++) expect(await reserve(request(june), 5)).toEqual(done);
    expect(await reserve(request(june), 5)).toEqual(taken);
  });
});
