import { beforeAll, expect, test } from '@jest/globals';
import type { Generation } from '../../../shared/generations/generation.ts';
import { newId, newRequestId } from '../../../shared/base/ids.ts';
import { readKeyUse } from '../../../shared/keys/allowance.ts';
import { generationStore, type GenerationStore } from '../../../shared/generations/store.ts';
import { countInPeriod } from '../../../shared/generations/in-flight.ts';
import { inFlightName } from '../../../shared/licenses/period-store.ts';
import { itemKeys } from '../../../shared/table/keys.ts';
import { getItem } from '../../../shared/table/table.ts';
import { sampleGeneration, sampleNowMs } from '../../support/unit-samples.ts';
import { useTable } from '../generations/use-engines.ts';

const fixture = useTable();
let generations: GenerationStore;
beforeAll(() => void (generations = generationStore(fixture.table)));

const [first, second] = [`key_${'a'.repeat(32)}`, `key_${'b'.repeat(32)}`] as const;
const failure = { status: 'FAILED', errorCode: 'GENERATION_FAILED', errorMessage: 'It failed.' } as const;
const done = { outcome: 'reserved' };
const taken = { outcome: 'too_many_of_key_in_flight' };
const june = Date.UTC(2026, 5, 1);

/** A license's requests, and how they are reserved: those of `first` within its own limit of two. */
function license() {
  const licenseId = newId('license');
  const request = (keyId: string, periodStartMs?: number): Generation =>
    sampleGeneration({
      requestId: newRequestId(sampleNowMs),
      licenseId,
      keyId,
      keyInFlight: keyId === first ? true : null,
      ...(periodStartMs !== undefined && { periodStartMs }),
    });
  const reserve = (one: Generation, keyMaxInFlight = one.keyInFlight && 2) =>
    generations.reserve(one, { creditsLimit: 1000, keyBudget: null, maxInFlight: 30, keyMaxInFlight }, 'h');
  const end = (one: Generation) => generations.release(one, failure, sampleNowMs);
  const counts = async ({ periodStartMs }: Generation) => {
    const item = await getItem(fixture.table, itemKeys.period(licenseId, periodStartMs));
    return [item?.inFlight, item?.[inFlightName(first)]];
  };
  const told = async (keyId: string, startMs: number) => {
    const { counting } = await readKeyUse(
      fixture.table,
      keyId,
      { licenseId, extraUntilMs: null },
      startMs,
      startMs,
    );
    return [counting.inFlight, counting.inFlightByKey[inFlightName(first)]];
  };
  return { request, reserve, end, counts, told };
}

test('of 20 requests at once with one key exactly as many begin as it may have in flight, and others of its license go on', async () => {
  const { request, reserve, end, counts } = license();
  const wanted = Array.from({ length: 20 }, (_, i) => request(i % 2 === 0 ? first : second));
  const answers = await Promise.all(wanted.map((one) => reserve(one)));
  const begun = wanted.filter((_, i) => answers[i]!.outcome === 'reserved');
  expect(begun.map(({ keyId }) => keyId).sort()).toEqual([
    ...Array(2).fill(first),
    ...Array(10).fill(second),
  ]);
  expect(answers.filter(({ outcome }) => outcome === taken.outcome)).toHaveLength(8);
  // An end counts once, also where the limit is away by then.
  await Promise.all([...begun, ...begun].map(end));
  expect(await counts(request(first))).toEqual([0, 0]);
  expect(await reserve(request(first), 1)).toEqual(done);
  expect(await reserve(request(first), 1)).toEqual(taken);
});

test("a key's places move to a new period with what is in flight, also those of a key that begins meanwhile", async () => {
  const { request, reserve, end, counts, told } = license();
  const [old, other, late] = [request(second), request(second), request(first)];
  for (const one of [old, other]) await reserve(one);
  // As many are in flight as the move has read, and one of them is of a key that it has not seen.
  fixture.meanwhile(async () => {
    await end(other);
    expect(await reserve(late)).toEqual(done);
  });
  const before = await told(first, june);
  await countInPeriod(fixture.table, late.licenseId, june);
  expect([before, await told(first, june)]).toEqual([
    [2, undefined],
    [2, 1],
  ]);
  expect([await counts(late), await counts(request(first, june))]).toEqual([
    [undefined, undefined],
    [2, 1],
  ]);
  expect(await reserve(request(first, june))).toEqual(done);
  expect(await reserve(request(first, june))).toEqual(taken);
  await end(late);
  expect(await reserve(request(first, june))).toEqual(done);
});

test('places that a version before left taken are free again in the next period, once nothing is in flight', async () => {
  const { request, reserve, counts } = license();
  const lost = request(first);
  await reserve(lost);
  await generations.release({ ...lost, keyInFlight: null }, failure, sampleNowMs);
  expect(await counts(lost)).toEqual([0, 1]);
  await countInPeriod(fixture.table, lost.licenseId, june);
  expect([await counts(lost), await counts(request(first, june))]).toEqual([
    [undefined, undefined],
    [0, undefined],
  ]);
  expect(await reserve(request(first, june), 1)).toEqual(done);
});
