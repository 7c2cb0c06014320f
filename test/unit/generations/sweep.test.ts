import { describe, expect, test } from '@jest/globals';
import type { Generation, GenerationFailure } from '../../../shared/generations/generation.ts';
import type { GenerationStore } from '../../../shared/generations/store.ts';
import type { GenerationRef } from '../../../shared/generations/queue-contract.ts';
import { leaseIndex } from '../../../shared/table/keys.ts';
import { sweepDeletions } from '../../../shared/generations/delete.ts';
import type { DeletionStore } from '../../../shared/generations/deletion-store.ts';
import { endAbandoned, sweep } from '../../../shared/generations/sweep.ts';
import { namedLinks, queued, standingClock, startMs } from './fixture.ts';

type Ending = (record: Generation) => Promise<Generation>;
const [shard, other] = leaseIndex.shards as [string, string];

/** A store that remembers leases by shard, and lists the first of each that are still held. */
function leases(...held: [shard: string, count: number][]) {
  const records = new Map<string, Generation>();
  const index = new Map<string, GenerationRef[]>();
  for (const [of, count] of held) {
    const refs = Array.from({ length: count }, (_, i) => ({ licenseId: 'lic_1', requestId: `${of}/${i}` }));
    for (const { requestId } of refs) records.set(requestId, queued({ requestId, credits: 3 }));
    index.set(of, refs);
  }
  const state = {
    records,
    asked: [] as [string, number, number][],
    failures: [] as [GenerationFailure, number][],
    end: ((record) => Promise.resolve({ ...record, status: 'TIMEOUT' })) as Ending,
    /** Whether what was ended leaves the index. */
    forgets: true,
  };
  const store = {
    listExpiredLeases(of: string, beforeMs: number, limit: number) {
      state.asked.push([of, beforeMs, limit]);
      return Promise.resolve((index.get(of) ?? []).slice(0, limit));
    },
    get: (_licenseId: string, requestId: string) => Promise.resolve(records.get(requestId) ?? null),
    async release(record: Generation, failure: GenerationFailure, atMs: number) {
      state.failures.push([failure, atMs]);
      const ended = await state.end(record);
      const isLeft = ({ requestId }: GenerationRef) => requestId !== record.requestId;
      if (state.forgets) for (const [of, refs] of index) index.set(of, refs.filter(isLeft));
      return ended;
    },
  } as unknown as GenerationStore;
  const times = (of: string) => state.asked.filter(([asked]) => asked === of).length;
  return { store, state, times };
}

/** What a sweep works with, and what it deletes or could not delete. */
function depsOf(generations: GenerationStore) {
  const deleted: string[] = [];
  const faults: string[] = [];
  const objects = {
    ...namedLinks(),
    async deleteReferences({ requestId }: GenerationRef, count: number) {
      deleted.push(`${requestId}: ${count}`);
      if (requestId.endsWith('/1')) throw new Error('the bucket is away');
    },
  };
  const logFault = (requestId: string, what: string) => void faults.push(`${requestId}: ${what}`);
  return { generations, deletions: null, objects, clock: standingClock(), logFault, deleted, faults };
}

const nothing = { released: 0, creditsReleased: 0, erased: 0, failed: 0 };

describe('a sweep', () => {
  test('looks at every shard, for leases that end before now or before the time that it is given', async () => {
    const { store, state } = leases();
    expect(await sweep(depsOf(store))).toEqual(nothing);
    expect(state.asked).toEqual(leaseIndex.shards.map((one) => [one, startMs, 50]));
    state.asked = [];
    await sweep(depsOf(store), 4711);
    expect(state.asked.every(([, beforeMs]) => beforeMs === 4711)).toBe(true);
  });

  test('ends what it finds as a TIMEOUT of ours, and counts it with its credits', async () => {
    const { store, state } = leases([shard, 2], [other, 1]);
    expect(await sweep(depsOf(store))).toEqual({ ...nothing, released: 3, creditsReleased: 9 });
    const failure = {
      status: 'TIMEOUT',
      errorCode: 'TIMEOUT',
      errorMessage: 'The image was not finished in time because of a fault of ours.',
    };
    expect(state.failures).toEqual([1, 2, 3].map(() => [failure, startMs]));
  });

  test('deletes the references of what it ends, and ends it also where that fails', async () => {
    const { store, state } = leases([shard, 3]);
    for (const [i, record] of [...state.records.values()].entries()) record.referenceImages = i;
    const deps = depsOf(store);
    expect(await sweep(deps)).toEqual({ ...nothing, released: 3, creditsReleased: 9 });
    expect(deps.deleted).toEqual([`${shard}/1: 1`, `${shard}/2: 2`]);
    expect(deps.faults).toEqual([`${shard}/1: references not deleted`]);
  });

  test('reads a shard again after each full page', async () => {
    for (const [count, times] of [
      [49, 1],
      [50, 2],
      [101, 3],
    ] as const) {
      const fixture = leases([shard, count]);
      expect(await sweep(depsOf(fixture.store))).toMatchObject({ released: count });
      expect([fixture.times(shard), fixture.times(other)]).toEqual([times, 1]);
    }
  });

  test('does not count what another hand ended, or what is gone', async () => {
    const { store, state } = leases([shard, 4]);
    state.end = (record) => Promise.resolve({ ...record, status: 'COMPLETED' });
    state.records.delete(`${shard}/0`);
    expect(await sweep(depsOf(store))).toEqual(nothing);
    expect(state.failures).toHaveLength(3);
  });

  test('counts what it could not end, and goes on', async () => {
    const { store, state } = leases([shard, 3], [other, 1]);
    const { end } = state;
    state.end = (record) =>
      record.requestId === `${shard}/1` ? Promise.reject(new Error('away')) : end(record);
    const deps = depsOf(store);
    expect(await sweep(deps)).toEqual({ ...nothing, released: 3, creditsReleased: 9, failed: 1 });
    expect(deps.faults).toEqual([`${shard}/1: a request was not ended`]);
  });

  test('gives up a full page of which it could end nothing: the index only lags, or the next sweep may', async () => {
    const fixture = leases([shard, 60]);
    fixture.state.forgets = false;
    fixture.state.end = (record) => Promise.resolve({ ...record, status: 'COMPLETED' });
    expect(await sweep(depsOf(fixture.store))).toEqual(nothing);
    expect(fixture.times(shard)).toBe(1);
  });
});

describe('the references of a request whose run is gone', () => {
  const away = () => Promise.reject(new Error('away'));

  test.each<[string, Generation['status'], Ending | null, boolean, number]>([
    ['stay until it can be ended, for a run that may go on', 'PROCESSING', away, true, 0],
    ['are deleted also where it can not be ended, when no run can go on', 'PROCESSING', away, false, 1],
    ['are deleted after it was ended by the run itself, which may have failed then', 'FAILED', null, true, 1],
    ['were deleted by whoever ended it', 'FAILED', null, false, 0],
  ])('%s', async (_what, status, end, leavesBegun, deleted) => {
    const { store, state } = leases([shard, 1]);
    const [ref] = state.records.keys();
    Object.assign(state.records.get(ref!)!, { status, referenceImages: 1 });
    if (end !== null) state.end = end;
    const deps = depsOf(store);
    const ended = endAbandoned({ licenseId: 'lic_1', requestId: ref! }, deps, { leavesBegun });
    expect(await ended.catch((error: Error) => error.message)).toBe(end === null ? null : 'away');
    expect(deps.deleted).toHaveLength(deleted);
  });
});

test.each([
  ['49 deletions that are due, and ends', 49, startMs, [50], 49],
  ['50, after which it looks for more', 50, startMs, [50, 50], 50],
  ['50 that must wait for their last links, and ends', 50, startMs + 1, [50], 0],
  ['50 that are gone meanwhile, and ends', 50, null, [50], 0],
])('the sweep finds %s', async (_what, due, imagesUntilMs, listed, erased) => {
  const refs = Array.from({ length: due }, (_, i) => ({ licenseId: 'lic_1', requestId: `r${i}` }));
  const asked: number[] = [];
  const deletions = {
    listDue: (_beforeMs: number, limit: number) => Promise.resolve(asked.push(limit) === 1 ? refs : []),
    get: (ref: GenerationRef) => Promise.resolve(imagesUntilMs === null ? null : { ...ref, imagesUntilMs }),
    remove: async () => {},
    noteErased: async () => {},
  } as unknown as DeletionStore;
  const objects = { deleteImages: async () => {} };
  const result = { erased: 0, failed: 0 };
  await sweepDeletions(startMs, { ...depsOf(leases().store), deletions, objects }, result);
  expect([result, asked]).toEqual([{ erased, failed: 0 }, listed]);
});
