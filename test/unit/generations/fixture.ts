import type { ModelServer } from '../../../shared/model/client.ts';
import type { ObjectStore } from '../../../shared/images/object-store.ts';
import type {
  ModelCompleted,
  ModelEvent,
  ModelOutput,
  ModelRequest,
} from '../../../shared/model/contract.ts';
import {
  newGeneration,
  type Generation,
  type GenerationFailure,
} from '../../../shared/generations/generation.ts';
import type { IdentityVersion } from '../../../shared/identities/version.ts';
import type { Identity } from '../../../shared/identities/identity.ts';
import { recordingMeter } from '../../../shared/base/meter.ts';
import type { Reserved } from '../../../shared/generations/reserve.ts';
import type { Completion, GenerationStore } from '../../../shared/generations/store.ts';
import { periodFromItem, type PeriodStore } from '../../../shared/licenses/period-store.ts';
import type { RateLogStore, StoredRateLog } from '../../../shared/limits/rate-log-store.ts';
import { acceptGeneration, type GenerationDeps } from '../../../shared/generations/create.ts';
import type { GenerationCommand } from '../../../shared/generations/decide.ts';
import { sampleBody, sampleIdentity, sampleKeyId, sampleLicense } from '../../support/unit-samples.ts';

export const startMs = Date.UTC(2026, 4, 17, 11, 23, 45, 678);
export const identity = sampleIdentity as Identity & { model: IdentityVersion };

/** A clock that stands, and whose deadlines a test passes by hand. */
export function standingClock() {
  const deadline = new AbortController();
  return {
    nowMs: startMs,
    waitedMs: 0,
    deadline,
    now() {
      return this.nowMs;
    },
    timeout(ms: number) {
      this.waitedMs = ms;
      return deadline.signal;
    },
  };
}

/** Links that name what they are of, and files of these sizes. */
export function namedLinks(sizes: (number | null)[] = [], previewSizes: (number | null)[] = []) {
  const of = (generation: { requestId: string }, i: number) => `${generation.requestId}/${i}`;
  return {
    outputLink: async (one: Generation, i: number) => `get ${of(one, i)}`,
    outputPutLink: async (one: Generation, i: number, seconds: number) => `put ${of(one, i)} for ${seconds}`,
    previewLink: async (one: Generation, i: number) => `preview ${of(one, i)}`,
    previewPutLink: async (one: Generation, i: number, seconds: number) =>
      `put preview ${of(one, i)} for ${seconds}`,
    previewSize: async (_one: Generation, i: number) => previewSizes[i] ?? null,
    referenceLink: async (one: Generation, i: number, seconds: number) => `see ${of(one, i)} for ${seconds}`,
    cancelledLink: async ({ requestId }: Generation, seconds: number) => `ask ${requestId} for ${seconds}`,
    adapterLink: async (key: string, seconds: number) => `load ${key} for ${seconds}`,
    outputSize: async (_one: Generation, i: number) => sizes[i] ?? null,
    referencePutLink: async (one: Generation, i: number) => `copy ${of(one, i)}`,
    uploadLink: async ({ uploadId }: { uploadId: string }) => `upload ${uploadId}`,
    deleteReferences: async () => {},
  } as unknown as ObjectStore;
}

/** A store that keeps rate logs in memory, by caller and limit. */
export function rateLogsInMemory() {
  const logs = new Map<string, StoredRateLog>();
  const rateLogs: RateLogStore = {
    get: (callerId, name) => Promise.resolve(logs.get(`${callerId} ${name}`) ?? { log: [], version: 0 }),
    put(callerId, name, log, readVersion) {
      const stored = logs.get(`${callerId} ${name}`) ?? { log: [], version: 0 };
      if (stored.version !== readVersion) return Promise.resolve(stored);
      logs.set(`${callerId} ${name}`, { log, version: readVersion + 1 });
      return Promise.resolve(null);
    },
  };
  return { logs, rateLogs };
}

/** A model that says what a test makes it say, and remembers what it was asked. */
export function scriptedModel(say: (signal: AbortSignal) => AsyncIterable<ModelEvent>) {
  const asked: ModelRequest[] = [];
  const model = {
    refusal: () => Promise.resolve(null),
    generate(request: ModelRequest, signal: AbortSignal) {
      asked.push(request);
      return say(signal);
    },
  } as unknown as ModelServer;
  return { asked, model };
}

export const saying = (...events: ModelEvent[]) =>
  async function* () {
    await Promise.resolve();
    yield* events;
  };

export const output = (bytes: number, width = 1024, height = 1024): ModelOutput => ({
  bytes,
  sha256: 'a'.repeat(64),
  width,
  height,
});

export const completed = (...outputs: ModelOutput[]): ModelCompleted => ({
  event: 'completed',
  outputs,
  referenceImagesUsed: 1,
  modelVersion: 'v9',
});

export function queued(changes: Partial<Generation> = {}): Generation {
  return {
    ...newGeneration({
      requestId: 'r1',
      licenseId: 'lic_1',
      keyId: sampleKeyId,
      keyInFlight: null,
      identity: sampleIdentity,
      body: { ...sampleBody, seed: 5, numOutputs: 2 },
      periodStartMs: 4711,
      creditsLimit: 100,
      nowMs: startMs,
      deadlineSeconds: 120,
      retentionDays: 90,
      idempotencyKeyHash: null,
      moderation: null,
    }),
    ...changes,
  };
}

export const license = { ...sampleLicense, creditsLimit: 100, periodAnchorMs: Date.UTC(2026, 0, 31, 8) };
export const done = completed(output(11, 512, 512), output(12, 512, 512));

export function commandOf(changes: Partial<GenerationCommand> = {}): GenerationCommand {
  return {
    requestId: 'r1',
    keyId: sampleKeyId,
    keyBudget: null,
    keyMaxInFlight: null,
    license,
    body: { identityId: 'idn_1', prompt: 'a lighthouse', width: 512, height: 512, numOutputs: 2, seed: 5 },
    bodyHash: 'hash',
    identity,
    pinned: null,
    idempotencyKeyHash: null,
    idempotencyRecord: null,
    query: new Map(),
    idempotencyKeys: undefined,
    respondAsync: false,
    ...changes,
  };
}

/**
 * Everything that a generation needs but the SDK: a store that only remembers, a model that says what it should, and a clock
 * that stands still. Tests change a single member to see what then happens.
 */
export function commandsFixture(...events: ModelEvent[]) {
  const records = new Map<string, Generation>();
  const calls: unknown[][] = [];
  const faults: unknown[][] = [];
  /** Why what failed counts for its license; null for what does not. */
  const reasons: unknown[] = [];
  const put = (record: Generation) => {
    records.set(record.requestId, record);
    return Promise.resolve(record);
  };
  const store = {
    get: (licenseId: string, requestId: string) => {
      const record = records.get(requestId);
      return Promise.resolve(record?.licenseId === licenseId ? record : null);
    },
    async reserve(record: Generation, ...rest: unknown[]): Promise<Reserved> {
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
    release(record: Generation, failure: GenerationFailure, atMs: number, _runId: unknown, unpaid: unknown) {
      calls.push(['release', record.requestId, failure, atMs]);
      reasons.push(unpaid);
      return put({ ...record, ...failure, completedAtMs: atMs });
    },
  };
  const clock = standingClock();
  const meter = recordingMeter();
  const totals: Record<string, any> = { committed: 98, used: 60, inFlight: 0 };
  const looks = { atCredits: 0 };
  const { logs, rateLogs } = rateLogsInMemory();
  const deleted: unknown[] = [];
  const objects: ObjectStore = {
    ...namedLinks([11, 12]),
    deleteReferences: async ({ licenseId, requestId }, count) =>
      void deleted.push([licenseId, requestId, count]),
  };
  const periods = {
    get() {
      looks.atCredits += 1;
      return Promise.resolve(periodFromItem(totals));
    },
    extraLeft: () => Promise.resolve(null),
  };
  const { asked, model } = scriptedModel(saying(...(events.length > 0 ? events : [done])));
  const deps: GenerationDeps = {
    generations: store as unknown as GenerationStore,
    periods: periods as unknown as PeriodStore,
    objects,
    rateLogs,
    model,
    references: { fetch: () => Promise.reject(new Error('nothing is to be fetched')) },
    clock,
    stopping: new AbortController().signal,
    deadlineSeconds: 120,
    asyncDeadlineSeconds: 600,
    retentionDays: 90,
    embedParameters: false,
    promptCheck: null,
    meter,
    logFault: (...fault) => void faults.push(fault),
  };
  return { deps, store, records, calls, faults, reasons, clock, meter, totals, asked, looks, logs, deleted };
}

export type Fixture = ReturnType<typeof commandsFixture>;

export const accept = (fixture: Fixture, changes: Partial<GenerationCommand> = {}) =>
  acceptGeneration(commandOf(changes), fixture.deps);

/** What a call is rejected with; else what it resolves to. */
export const outcomeOf = (call: Promise<unknown>): Promise<any> => call.catch((error: unknown) => error);
