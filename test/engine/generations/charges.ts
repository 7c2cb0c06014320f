import { expect } from '@jest/globals';
import type { Generation } from '../../../shared/generations/generation.ts';
import { newRequestId } from '../../../shared/base/ids.ts';
import { generationStore } from '../../../shared/generations/store.ts';
import type { Table } from '../../../shared/table/table.ts';
import { sampleGeneration, sampleNowMs } from '../../support/unit-samples.ts';

const completion = {
  completedAtMs: sampleNowMs,
  previews: [true],
  referenceImagesUsed: 0,
  modelVersion: 'v',
};

/** Charges for requests of any license in one table, as the service does: reserve, start, settle. */
export function chargesIn(table: Table) {
  const generations = generationStore(table);

  /** A license's request that the model has begun. */
  async function begun(licenseId: string, creditsLimit: number, credits = 1): Promise<Generation> {
    const requestId = newRequestId(sampleNowMs);
    const record = sampleGeneration({ licenseId, requestId, creditsLimit, credits });
    const limits = { creditsLimit, maxInFlight: 1000, keyBudget: null };
    expect(await generations.reserve(record, limits, 'h')).toEqual({ outcome: 'reserved' });
    expect(await generations.start(record, sampleNowMs, 'run')).toBe(true);
    return { ...record, startedAtMs: sampleNowMs };
  }

  const settle = (generation: Generation) => generations.settle(generation, completion);

  return {
    begun,
    settle,
    charge: async (licenseId: string, creditsLimit: number, credits: number) =>
      settle(await begun(licenseId, creditsLimit, credits)),
  };
}
