import { beforeAll, expect, test } from '@jest/globals';
import type { Generation } from '../../../shared/generations/generation.ts';
import { newId, newRequestId } from '../../../shared/base/ids.ts';
import { generationStore, type GenerationStore } from '../../../shared/generations/store.ts';
import { periodStore } from '../../../shared/licenses/period-store.ts';
import { sampleGeneration, sampleNowMs } from '../../support/unit-samples.ts';
import { useTable } from './use-engines.ts';

const fixture = useTable();
let generations: GenerationStore;
beforeAll(() => void (generations = generationStore(fixture.table)));

const may = Date.UTC(2026, 4, 1);
const june = Date.UTC(2026, 5, 1);
const failure = { status: 'FAILED', errorCode: 'GENERATION_FAILED', errorMessage: 'It failed.' } as const;
const completion = {
  completedAtMs: sampleNowMs + 9000,
  previews: [],
  referenceImagesUsed: 0,
  modelVersion: 'v9',
};
const taken = { outcome: 'too_many_in_flight' };
const done = { outcome: 'reserved' };

function requestsOf(licenseId: string) {
  return (periodStartMs = may): Generation =>
    sampleGeneration({ requestId: newRequestId(sampleNowMs), licenseId, periodStartMs });
}

const reserve = (request: Generation, maxInFlight: number, creditsLimit = 1000) =>
  generations.reserve(request, { creditsLimit, keyBudget: null, maxInFlight }, 'h');
const inFlight = async (licenseId: string, startMs: number) =>
  (await periodStore(fixture.table).get(licenseId, startMs)).inFlight;

test('of many requests at once exactly as many begin as may be in flight', async () => {
  const licenseId = newId('license');
  const request = requestsOf(licenseId);
  const answers = await Promise.all(Array.from({ length: 25 }, () => reserve(request(), 10)));
  expect(answers.filter(({ outcome }) => outcome === 'reserved')).toHaveLength(10);
  expect(answers.filter(({ outcome }) => outcome === 'too_many_in_flight')).toHaveLength(15);
  expect(await inFlight(licenseId, may)).toBe(10);
});

test('a request that ends makes room for one, however often it is ended', async () => {
  const licenseId = newId('license');
  const request = requestsOf(licenseId);
  const [first, second] = [request(), request()];
  for (const one of [first, second]) expect(await reserve(one, 2)).toEqual(done);
  expect(await reserve(request(), 2)).toEqual(taken);
  await Promise.all([1, 2, 3].map(() => generations.release(first, failure, sampleNowMs)));
  expect(await inFlight(licenseId, may)).toBe(1);
  await generations.start(second, sampleNowMs, 'run-1');
  await generations.settle(second, completion);
  await generations.settle(second, completion);
  expect(await inFlight(licenseId, may)).toBe(0);
});

test('what is in flight counts on in a new period, and ends where it is counted', async () => {
  const licenseId = newId('license');
  const request = requestsOf(licenseId);
  const [old, late] = [request(), request()];
  for (const one of [old, late]) expect(await reserve(one, 2)).toEqual(done);
  expect(await reserve(request(june), 2)).toEqual(taken);
  await generations.release(old, failure, sampleNowMs);
  expect(await reserve(request(june), 2)).toEqual(done);
  expect([await inFlight(licenseId, may), await inFlight(licenseId, june)]).toEqual([0, 2]);
  await generations.start(late, sampleNowMs, 'run-1');
  expect(await generations.settle(late, completion)).toMatchObject({ status: 'COMPLETED' });
  expect(await inFlight(licenseId, june)).toBe(1);
  const totals = await periodStore(fixture.table).get(licenseId, may);
  expect(totals).toMatchObject({ used: 1, committed: 1, byType: { text_to_image: { requests: 1 } } });
});

test('of a request whose deadline has come no credits are held, not even by a further attempt', async () => {
  const licenseId = newId('license');
  const request = requestsOf(licenseId)();
  let asked = 0;
  // The first attempt in a period is always refused.
  const isLate = () => ++asked > 1;
  const limits = { creditsLimit: 1000, keyBudget: null, maxInFlight: 10 };
  await expect(generations.reserve(request, limits, 'h', isLate)).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
  });
  expect(asked).toBe(2);
  expect(await generations.get(licenseId, request.requestId)).toBeNull();
  expect(await periodStore(fixture.table).get(licenseId, may)).toMatchObject({ committed: 0, inFlight: 0 });
});

test('requests of two periods at once share the places', async () => {
  const licenseId = newId('license');
  const request = requestsOf(licenseId);
  const wanted = Array.from({ length: 16 }, (_, i) => request(i % 2 === 0 ? may : june));
  const answers = await Promise.all(wanted.map((one) => reserve(one, 5).catch((error) => error)));
  const begun = wanted.filter((_, i) => answers[i].outcome === 'reserved');
  expect(begun.length).toBeLessThanOrEqual(5);
  await Promise.all(begun.map((one) => generations.release(one, failure, sampleNowMs)));
  expect([await inFlight(licenseId, may), await inFlight(licenseId, june)]).toEqual([0, 0]);
  for (let i = 0; i < 5; i++) expect(await reserve(request(june), 5)).toEqual(done);
  expect(await reserve(request(june), 5)).toEqual(taken);
});
