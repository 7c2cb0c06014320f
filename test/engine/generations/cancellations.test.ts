import { beforeAll, describe, expect, test } from '@jest/globals';
import { newId, newRequestId } from '../../../shared/base/ids.ts';
import { cancelGeneration } from '../../../shared/generations/cancel.ts';
import { generationStore, type GenerationStore } from '../../../shared/generations/store.ts';
import { allRights } from '../../../shared/keys/rights.ts';
import { periodStore } from '../../../shared/licenses/period-store.ts';
import { sampleGeneration, sampleNowMs as nowMs } from '../../support/unit-samples.ts';
import { useTable } from './use-engines.ts';

const fixture = useTable();
let generations: GenerationStore;

beforeAll(() => void (generations = generationStore(fixture.table)));

async function reserved() {
  const record = sampleGeneration({ requestId: newRequestId(nowMs), licenseId: newId('license') });
  await generations.reserve(record, { creditsLimit: 100, keyBudget: null, maxInFlight: 9 }, 'h');
  return record;
}

const totals = ({ licenseId, periodStartMs }: { licenseId: string; periodStartMs: number }) =>
  periodStore(fixture.table).get(licenseId, periodStartMs);

function depsWith(putCancelled: () => Promise<void>) {
  const logged: string[] = [];
  const deps = {
    generations,
    objects: { putCancelled, deleteReferences: async () => {} },
    clock: { now: () => nowMs, timeout: AbortSignal.timeout },
    logFault: (_id: string, what: string) => void logged.push(what),
  };
  return { deps, logged };
}

describe('a cancellation', () => {
  test('of what begins while it is cancelled counts it, and of what has ended meanwhile leaves it', async () => {
    const { deps } = depsWith(async () => {});
    const begun = await reserved();
    await generations.start(begun, nowMs, 'run-1');
    // As it was read before.
    expect((await cancelGeneration(begun, allRights, deps)).errorCode).toBe('CANCELLED');
    const { unpaidRuns, committed } = await totals(begun);
    expect([unpaidRuns, committed]).toEqual([[{ atMs: nowMs, reason: 'cancelled' }], 0]);

    const done = await reserved();
    await generations.start(done, nowMs, 'run-1');
    const completion = { completedAtMs: nowMs, previews: [], referenceImagesUsed: 0, modelVersion: 'v9' };
    await generations.settle(done, completion);
    const refusal = { code: 'REQUEST_FINAL', message: expect.stringContaining('COMPLETED') };
    await expect(cancelGeneration(done, allRights, deps)).rejects.toMatchObject(refusal);
    expect(await totals(done)).toMatchObject({ used: done.credits, committed: done.credits });
  });

  test('is stored before the model is told, and is one where it can not be told', async () => {
    const record = await reserved();
    const { licenseId, requestId } = record;
    let atFlag: string | null = null;
    const { deps, logged } = depsWith(async () => {
      atFlag = (await generations.get(licenseId, requestId))!.errorCode;
      throw new Error('the bucket is away');
    });
    expect((await cancelGeneration(record, allRights, deps)).errorCode).toBe('CANCELLED');
    expect([atFlag, logged]).toEqual(['CANCELLED', ['the model was not told of a cancellation']]);
  });
});
