import { beforeAll, describe, expect, test } from '@jest/globals';
import type { UnpaidReason } from '../../../shared/base/errors.ts';
import { newId, newRequestId } from '../../../shared/base/ids.ts';
import { auditStore } from '../../../shared/accounts/audit-store.ts';
import { countInPeriod } from '../../../shared/generations/in-flight.ts';
import type { Generation } from '../../../shared/generations/generation.ts';
import { clearUnpaid } from '../../../shared/generations/unpaid-part.ts';
import { generationStore, type GenerationStore } from '../../../shared/generations/store.ts';
import { periodStore } from '../../../shared/licenses/period-store.ts';
import { sampleGeneration, sampleNowMs as nowMs } from '../../support/unit-samples.ts';
import { hungUp } from './table.ts';
import { useTable } from './use-engines.ts';

const fixture = useTable();
let generations: GenerationStore;

beforeAll(() => void (generations = generationStore(fixture.table)));

const minuteMs = 60_000;
const limits = { creditsLimit: 1000, keyBudget: null, maxInFlight: 100 };
const failure = { status: 'FAILED', errorCode: 'INVALID_PARAMETERS', errorMessage: 'No.' } as const;
const completion = { previews: [], referenceImagesUsed: 0, modelVersion: 'v9' };

/** A license, and what becomes of its requests. */
function license(periodStartMs?: number) {
  const licenseId = newId('license');
  let inPeriodMs = periodStartMs;
  const reserve = async (atMs = nowMs) => {
    const changes = { licenseId, requestId: newRequestId(nowMs), createdAtMs: atMs };
    const record = sampleGeneration({ ...changes, ...(inPeriodMs && { periodStartMs: inPeriodMs }) });
    return { record, reserved: await generations.reserve(record, limits, 'h') };
  };
  const run = async (atMs = nowMs): Promise<Generation> => {
    const { record, reserved } = await reserve(atMs);
    expect(reserved).toEqual({ outcome: 'reserved' });
    expect(await generations.start(record, atMs, 'run-1')).toBe(true);
    return { ...record, startedAtMs: atMs };
  };
  const fail = (record: Generation, unpaid: UnpaidReason | null = 'reference', atMs = nowMs) =>
    generations.release(record, failure, atMs, 'run-1', unpaid);
  const complete = (record: Generation, completedAtMs = nowMs) =>
    generations.settle(record, { ...completion, completedAtMs });
  const unpaid = async () => {
    const startMs = inPeriodMs ?? sampleGeneration().periodStartMs;
    return (await periodStore(fixture.table).get(licenseId, startMs)).unpaidRuns.map(
      ({ atMs }) => atMs - nowMs,
    );
  };
  return {
    licenseId,
    reserve,
    run,
    fail,
    complete,
    unpaid,
    moveTo: (startMs: number) => void (inPeriodMs = startMs),
  };
}

/** Runs of a license that fail for what they asked for, one after the other. */
async function failing(of: ReturnType<typeof license>, count: number, atMs = nowMs): Promise<void> {
  for (let i = 0; i < count; i++) await of.fail(await of.run(atMs), 'reference', atMs);
}

describe('runs that nobody pays for', () => {
  test('refuse the sixth in 15 minutes, what is in flight runs on, and 15 minutes after the first another may', async () => {
    const one = license();
    const inFlight = await one.run();
    await failing(one, 1, nowMs - minuteMs);
    await failing(one, 4);
    const { reserved, record } = await one.reserve();
    expect(reserved).toMatchObject({
      outcome: 'too_many_unpaid',
      refusal: { minutes: 15, untilMs: nowMs + 14 * minuteMs },
    });
    expect(await generations.get(one.licenseId, record.requestId)).toBeNull();
    await one.fail(inFlight);
    expect(await one.unpaid()).toEqual([0, 0, 0, 0, 0, -minuteMs]);
    expect((await one.reserve(nowMs + 15 * minuteMs - 1)).reserved.outcome).toBe('too_many_unpaid');
    expect((await one.reserve(nowMs + 15 * minuteMs)).reserved.outcome).toBe('reserved');
    expect((await license().reserve()).reserved.outcome).toBe('reserved');
  });

  test('are those that their caller is the cause of, and no others', async () => {
    const one = license();
    for (let i = 0; i < 6; i++) await one.fail(await one.run(), null);
    expect(await one.unpaid()).toEqual([]);
    await one.complete(await one.run());
  });

  test('are counted once, also where the answer to a release is lost', async () => {
    const one = license();
    const run = await one.run();
    fixture.fail('after', hungUp());
    await one.fail(run);
    await one.fail(run);
    expect(await one.unpaid()).toEqual([0]);
  });

  test('are one less with each that is paid, the oldest first, by one attempt where there are none', async () => {
    const one = license();
    const runs = [await one.run(), await one.run(), await one.run(), await one.run()];
    await failing(one, 1, nowMs - 2);
    await failing(one, 1, nowMs - 1);
    for (const left of [[-1], [], []]) {
      const writes = fixture.count('TransactWriteItemsCommand');
      await one.complete(runs.pop()!);
      expect(await one.unpaid()).toEqual(left);
      expect(writes.times).toBe(runs.length === 1 ? 1 : 2);
    }
  });

  test('that end at once, paid or not, are all counted', async () => {
    const one = license();
    const runs: Generation[] = [];
    for (let i = 0; i < 24; i++) runs.push(await one.run());
    await Promise.all(runs.slice(0, 16).map((run) => one.fail(run)));
    expect(await one.unpaid()).toHaveLength(16);
    await Promise.all(runs.slice(16).map((run) => one.complete(run)));
    expect(await one.unpaid()).toHaveLength(8);
  });

  test('refuse the 21st in 24 hours, and those of the day before take no charge from those of today', async () => {
    const one = license();
    const runs = [await one.run(), await one.run()];
    const hourMs = 60 * minuteMs;
    await failing(one, 3, nowMs - 30 * hourMs);
    for (let i = 19; i >= 0; i--) await failing(one, 1, nowMs - i * hourMs);
    const { reserved } = await one.reserve(nowMs + minuteMs);
    expect(reserved).toMatchObject({
      outcome: 'too_many_unpaid',
      refusal: { minutes: 1440, untilMs: nowMs + 5 * hourMs },
    });
    expect(await one.unpaid()).toHaveLength(23);
    await one.complete(runs[0]!, nowMs + minuteMs);
    expect(await one.unpaid()).toEqual(Array.from({ length: 19 }, (_, i) => 0 - i * hourMs));
    expect((await one.reserve(nowMs + minuteMs)).reserved.outcome).toBe('reserved');
  });

  test('hold up no charge: where many are charged at once, some take none away', async () => {
    const one = license();
    const runs: Generation[] = [];
    for (let i = 0; i < 40; i++) runs.push(await one.run());
    await Promise.all(runs.slice(0, 20).map((run) => one.fail(run)));
    const writes = fixture.count('TransactWriteItemsCommand');
    const charged = await Promise.all(runs.slice(20).map((run) => one.complete(run)));
    expect(charged.map(({ status }) => status)).toEqual(Array(20).fill('COMPLETED'));
    expect(writes.times).toBeLessThanOrEqual(20 * 15);
    expect((await one.unpaid()).length).toBeLessThan(20);
  });

  test('are forgotten at an operator’s word, once, and its license’s audit log says who it was', async () => {
    const one = license();
    expect(await clearUnpaid(fixture.table, one.licenseId, 'operator:ada', nowMs)).toEqual([]);
    await failing(one, 5);
    const forgotten = await clearUnpaid(fixture.table, one.licenseId, 'operator:ada', nowMs);
    expect(forgotten).toEqual(Array.from({ length: 5 }, () => ({ atMs: nowMs, reason: 'reference' })));
    expect(await clearUnpaid(fixture.table, one.licenseId, 'operator:ada', nowMs)).toEqual([]);
    expect((await one.reserve()).reserved.outcome).toBe('reserved');
    const { entries } = await auditStore(fixture.table).listPage({ licenseId: one.licenseId }, 9, null);
    expect(entries).toMatchObject([
      { by: 'operator:ada', changes: [{ member: 'unpaidRuns', from: 5, to: 0 }] },
    ]);
  });

  test('that end while a new period takes them over are all counted in it', async () => {
    const one = license(nowMs - 1000);
    const runs: Generation[] = [];
    for (let i = 0; i < 8; i++) runs.push(await one.run());
    one.moveTo(nowMs);
    const moves = Array.from({ length: 3 }, () => countInPeriod(fixture.table, one.licenseId, nowMs));
    await Promise.all([...runs.map((run) => one.fail(run)), ...moves]);
    expect(await one.unpaid()).toHaveLength(8);
    const { inFlight } = await periodStore(fixture.table).get(one.licenseId, nowMs);
    expect(inFlight).toBe(0);
  });

  test('go with what is in flight into a new period', async () => {
    const one = license(nowMs - 1000);
    const runs = [await one.run(), await one.run()];
    await failing(one, 3);
    one.moveTo(nowMs);
    await failing(one, 2);
    expect(await one.unpaid()).toHaveLength(5);
    expect((await one.reserve()).reserved.outcome).toBe('too_many_unpaid');
    await one.complete(runs[0]!);
    await one.fail(runs[1]!);
    expect(await one.unpaid()).toHaveLength(5);
    one.moveTo(nowMs - 1000);
    expect(await one.unpaid()).toEqual([]);
  });

  test('are forgotten from the 51st on', async () => {
    const one = license();
    await countInPeriod(fixture.table, one.licenseId, sampleGeneration().periodStartMs);
    const day = 24 * 60 * minuteMs;
    for (let i = 0; i < 53; i++) await failing(one, 1, nowMs + i * day);
    const unpaid = await one.unpaid();
    expect([unpaid.length, unpaid[0], unpaid.at(-1)]).toEqual([50, 52 * day, 3 * day]);
  });
});
