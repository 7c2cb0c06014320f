import { beforeAll, describe, expect, test } from '@jest/globals';
import { auditStore } from '../../../shared/accounts/audit-store.ts';
import { newId, newRequestId } from '../../../shared/base/ids.ts';
import type { Generation } from '../../../shared/generations/generation.ts';
import { generationStore, type GenerationStore } from '../../../shared/generations/store.ts';
import {
  addExtraCredits,
  listExtraCredits,
  takeBackExtraCredits,
  type NewExtraCredits,
} from '../../../shared/licenses/extra-credits-store.ts';
import { extraCreditsExpireAtMs } from '../../../shared/licenses/extra-credits.ts';
import { newLicense } from '../../../shared/licenses/new-license.ts';
import { periodStore } from '../../../shared/licenses/period-store.ts';
import { licenseStore } from '../../../shared/licenses/store.ts';
import { sampleGeneration, sampleNowMs as nowMs } from '../../support/unit-samples.ts';
import { useTable } from '../generations/use-engines.ts';

const fixture = useTable();
let generations: GenerationStore;
beforeAll(() => void (generations = generationStore(fixture.table)));

const by = 'billing:evt_1';
const failure = { status: 'FAILED', errorCode: 'GENERATION_FAILED', errorMessage: 'It failed.' } as const;
const completion = { completedAtMs: nowMs, previews: [true], referenceImagesUsed: 0, modelVersion: 'v' };
const in12Months = extraCreditsExpireAtMs(nowMs, 12);

async function grantedLicense(): Promise<string> {
  const license = newLicense({ ownerId: newId('license'), tier: 'pro', creditsLimit: 5 }, nowMs);
  await licenseStore(fixture.table).insert(license);
  return license.licenseId;
}

const payment = () => newId('license').replace('lic', 'pi');

function add(licenseId: string, amount: number, changes: Partial<NewExtraCredits> = {}) {
  const pack = { source: 'pack', paymentId: payment(), reason: null, expiresAtMs: in12Months } as const;
  return addExtraCredits(fixture.table, { licenseId, amount, ...pack, ...changes }, by, nowMs);
}

const refund = (paymentId: string, refunded: number, amount: number) =>
  takeBackExtraCredits(fixture.table, { paymentId, refunded, amount }, by, nowMs);

/** What is left of each, those that expire first first. */
const left = async (licenseId: string) =>
  (await listExtraCredits(fixture.table, licenseId))
    .filter(({ expiresAtMs }) => expiresAtMs > nowMs)
    .map((extra) => extra.left);

/** @returns the request as it is stored; null where it was refused for its credits. */
async function reserve(licenseId: string, credits: number, creditsLimit = 5): Promise<Generation | null> {
  const record = sampleGeneration({ requestId: newRequestId(nowMs), licenseId, credits, createdAtMs: nowMs });
  const limits = { creditsLimit, keyBudget: null, maxInFlight: 1000, mayHaveExtra: true };
  const { outcome } = await generations.reserve(record, limits, 'h');
  if (outcome === 'over_limit') return null;
  expect(outcome).toBe('reserved');
  return generations.get(licenseId, record.requestId);
}

async function totals({ licenseId, periodStartMs }: Generation) {
  const { committed, used, fromExtra } = await periodStore(fixture.table).get(licenseId, periodStartMs);
  return { committed, used, fromExtra };
}

describe('extra credits', () => {
  test('are used after the period’s own, those that expire first first, and each goes back where it came from', async () => {
    const licenseId = await grantedLicense();
    await add(licenseId, 4);
    await add(licenseId, 3, { expiresAtMs: nowMs + 5000 });
    await add(licenseId, 9, { expiresAtMs: nowMs });
    const own = (await reserve(licenseId, 4))!;
    expect([own.fromExtra, await left(licenseId)]).toEqual([null, [3, 4]]);
    // 1 of the period's own, 3 and 1 of the others.
    const mixed = (await reserve(licenseId, 5))!;
    expect(Object.values(mixed.fromExtra!).sort()).toEqual([1, 3]);
    expect(await left(licenseId)).toEqual([0, 3]);
    expect(await totals(mixed)).toEqual({ committed: 9, used: 0, fromExtra: 4 });
    expect(await reserve(licenseId, 4)).toBeNull();
    await generations.release(mixed, failure, nowMs);
    await generations.release(mixed, failure, nowMs);
    expect([await left(licenseId), await totals(own)]).toEqual([
      [3, 4],
      { committed: 4, used: 0, fromExtra: 0 },
    ]);
    const all = (await reserve(licenseId, 8))!;
    await generations.start(all, nowMs, 'run');
    await generations.settle(all, completion);
    await generations.settle(all, completion);
    expect([await left(licenseId), await totals(all)]).toEqual([
      [0, 0],
      { committed: 12, used: 8, fromExtra: 7 },
    ]);
  });

  test('are exact: of many requests at once exactly as many begin as all credits pay for', async () => {
    const licenseId = await grantedLicense();
    await add(licenseId, 7);
    await add(licenseId, 6, { expiresAtMs: nowMs + 1000 });
    const made = await Promise.all(Array.from({ length: 24 }, () => reserve(licenseId, 1)));
    const held = made.filter((generation) => generation !== null);
    expect([held.length, await left(licenseId)]).toEqual([18, [0, 0]]);
    expect(await totals(held[0]!)).toEqual({ committed: 18, used: 0, fromExtra: 13 });
    // A raised limit has room for the period's own again, though more is committed.
    expect((await reserve(licenseId, 2, 7))!.fromExtra).toBeNull();
    expect(await reserve(licenseId, 1, 7)).toBeNull();
  });

  test('are added once for a payment, however many events come at once, and for another not', async () => {
    const licenseId = await grantedLicense();
    const paymentId = payment();
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => add(licenseId, 10, { paymentId })));
    expect(outcomes.sort()).toEqual(['added', ...Array(4).fill('added_before')]);
    expect(await left(licenseId)).toEqual([10]);
    await expect(add(await grantedLicense(), 10, { paymentId })).rejects.toThrow('already');
    for (const wrong of ['', 'a#b', '__proto__', 'x'.repeat(65)]) {
      await expect(add(licenseId, 1, { paymentId: wrong })).rejects.toThrow('id of a payment');
      expect(await add(wrong, 1)).toBe('unknown_license');
    }
    const { entries } = await auditStore(fixture.table).listPage({ licenseId }, 10, null);
    const added = entries.find((entry) => entry.by === by);
    expect(added).toMatchObject({ changes: [{ member: 'extraCreditsAdded', from: null, to: 10 }] });
    expect(entries).toHaveLength(2);
  });

  test('go by the part that was refunded, unused ones only, in whatever order the events come', async () => {
    const licenseId = await grantedLicense();
    const paymentId = payment();
    const refunds = [333, 1000, 333, 500] as const;
    expect(await refund(paymentId, 333, 1000)).toBe(0);
    await add(licenseId, 10, { paymentId });
    expect(await left(licenseId)).toEqual([7]);
    const held = (await reserve(licenseId, 5 + 6))!;
    expect(await Promise.all(refunds.map((part) => refund(paymentId, part, 1000)))).toContain(1);
    expect(await left(licenseId)).toEqual([0]);
    // What was held when all was refunded is refunded too.
    await generations.release(held, failure, nowMs);
    expect([await left(licenseId), await reserve(licenseId, 6)]).toEqual([[0], null]);
    await expect(refund(paymentId, 2, 1)).rejects.toThrow('refunded');
  });

  /** Does something just before a transaction is sent, after so many others. */
  function before(others: number, act: () => Promise<unknown>): void {
    fixture.state.before = async (name) => {
      if (name !== 'TransactWriteItemsCommand') return undefined;
      others -= 1;
      if (others >= 0) return undefined;
      fixture.mend();
      await act();
      return undefined;
    };
  }

  test('are not counted on once another has given them back: the period would hold more of its own than its limit', async () => {
    const licenseId = await grantedLicense();
    await add(licenseId, 4);
    await reserve(licenseId, 5);
    const failing = (await reserve(licenseId, 3))!;
    before(1, async () => {
      await generations.release(failing, failure, nowMs);
      expect((await reserve(licenseId, 2, 7))!.fromExtra).toBeNull();
    });
    const late = (await reserve(licenseId, 2, 7))!;
    expect([await totals(late), await left(licenseId)]).toEqual([
      { committed: 9, used: 0, fromExtra: 2 },
      [2],
    ]);
  });

  test('are not forgotten while they come back', async () => {
    const licenseId = await grantedLicense();
    await add(licenseId, 2);
    const failing = (await reserve(licenseId, 7))!;
    before(0, () => generations.release(failing, failure, nowMs));
    await add(licenseId, 1);
    expect((await left(licenseId)).sort()).toEqual([1, 2]);
  });

  test('are found by a release after they were used up and forgotten', async () => {
    const licenseId = await grantedLicense();
    await add(licenseId, 2);
    const held = (await reserve(licenseId, 7))!;
    await add(licenseId, 1);
    expect(await left(licenseId)).toEqual([1]);
    await generations.release(held, failure, nowMs);
    expect((await left(licenseId)).sort()).toEqual([1, 2]);
  });

  test('are no period of their license', async () => {
    const licenseId = await grantedLicense();
    await add(licenseId, 2);
    const { periodStartMs } = (await reserve(licenseId, 1))!;
    const periods = await periodStore(fixture.table).list(licenseId);
    expect(periods.map(({ startMs }) => startMs)).toEqual([periodStartMs]);
  });
});
