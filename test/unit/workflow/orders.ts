import type { ModelEvent } from '../../../shared/contracts/model-server.ts';
import type { Generation, GenerationFailure } from '../../../shared/domain/generation.ts';
import { recordingMeter } from '../../../shared/http/meter.ts';
import type { Completion, GenerationStore, Reservation } from '../../../shared/store/generation-store.ts';
import { periodFromItem, type PeriodStore } from '../../../shared/store/period-store.ts';
import type { GenerationDeps, GenerationOrder } from '../../../shared/workflow/create-generation.ts';
import { sampleLicense } from '../../support/unit-samples.ts';
import { completed, identity, linkTeller, output, saying, scriptedModel, standingClock } from './world.ts';

export const license = { ...sampleLicense, creditsLimit: 100, periodAnchorMs: Date.UTC(2026, 0, 31, 8) };
export const done = completed(output(11, 512, 512), output(12, 512, 512));

export function orderOf(changes: Partial<GenerationOrder> = {}): GenerationOrder {
  return {
    requestId: 'r1',
    keyId: 'key_1',
    license,
    body: { identityId: 'idn_1', prompt: 'a lighthouse', width: 512, height: 512, numOutputs: 2, seed: 5 },
    bodyHash: 'hash',
    identity,
    onceId: null,
    once: null,
    problems: [],
    ...changes,
  };
}

/**
 * Everything that a generation needs but the SDK: a store that only remembers, a model that says what it is told to, and
 * a clock that stands still. Tests change a single member to see what then happens.
 */
export function ordersWorld(...events: ModelEvent[]) {
  const records = new Map<string, Generation>();
  const calls: unknown[][] = [];
  const faults: unknown[][] = [];
  const put = (record: Generation) => {
    records.set(record.requestId, record);
    return Promise.resolve(record);
  };
  const store = {
    get: (licenseId: string, requestId: string) => {
      const record = records.get(requestId);
      return Promise.resolve(record?.licenseId === licenseId ? record : null);
    },
    async reserve(record: Generation, ...rest: unknown[]): Promise<Reservation> {
      calls.push(['reserve', record, ...rest]);
      await put(record);
      return { outcome: 'reserved' };
    },
    start(record: Generation, startedAtMs: number) {
      calls.push(['start', record.requestId, startedAtMs]);
      return Promise.resolve(true);
    },
    settle(record: Generation, completion: Completion) {
      calls.push(['settle', record.requestId, completion]);
      return put({ ...record, ...completion, status: 'COMPLETED' });
    },
    release(record: Generation, failure: GenerationFailure, atMs: number) {
      calls.push(['release', record.requestId, failure, atMs]);
      return put({ ...record, ...failure, completedAtMs: atMs });
    },
  };
  const clock = standingClock();
  const meter = recordingMeter();
  const books = { committed: 98, used: 60 };
  const { asked, model } = scriptedModel(saying(...(events.length > 0 ? events : [done])));
  const deps: GenerationDeps = {
    generations: store as unknown as GenerationStore,
    periods: { get: () => Promise.resolve(periodFromItem(books)) } as unknown as PeriodStore,
    objects: linkTeller([11, 12]),
    model,
    references: { fetch: () => Promise.resolve([]) } as GenerationDeps['references'],
    clock,
    stopping: new AbortController().signal,
    deadlineSeconds: 120,
    retentionDays: 90,
    meter,
    logFault: (...fault) => void faults.push(fault),
  };
  return { deps, store, records, calls, faults, clock, meter, books, asked };
}
