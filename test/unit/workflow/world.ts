import type { ModelServer } from '../../../shared/adapters/model-server.ts';
import type { ObjectStore } from '../../../shared/adapters/object-store.ts';
import type { ModelEvent, ModelRequest } from '../../../shared/contracts/model-server.ts';
import { newGeneration, type Generation } from '../../../shared/domain/generation.ts';
import type { Identity, IdentityModel } from '../../../shared/domain/identity.ts';
import { sampleBody, sampleIdentity } from '../../support/unit-samples.ts';

export const startMs = Date.UTC(2026, 4, 17, 11, 23, 45, 678);
export const identity = sampleIdentity as Identity & { model: IdentityModel };

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

/** Links that tell what they are of, and files of these sizes. */
export function linkTeller(sizes: (number | null)[] = []) {
  const of = (generation: { requestId: string }, i: number) => `${generation.requestId}/${i}`;
  return {
    outputLink: async (one: Generation, i: number) => `get ${of(one, i)}`,
    outputPutLink: async (one: Generation, i: number, seconds: number) => `put ${of(one, i)} for ${seconds}`,
    referenceLink: async (one: Generation, i: number, seconds: number) => `see ${of(one, i)} for ${seconds}`,
    adapterLink: async (key: string, seconds: number) => `load ${key} for ${seconds}`,
    outputSize: async (_one: Generation, i: number) => sizes[i] ?? null,
  } as unknown as ObjectStore;
}

/** A model that says what a test has it say, and remembers what it was asked. */
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

export const output = (bytes: number, width = 1024, height = 1024) => ({
  bytes,
  sha256: 'a'.repeat(64),
  width,
  height,
});

export const completed = (...outputs: ReturnType<typeof output>[]): ModelEvent => ({
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
      keyId: 'key_1',
      identity: sampleIdentity,
      body: { ...sampleBody, seed: 5, numOutputs: 2 },
      periodStartMs: 4711,
      nowMs: startMs,
      deadlineSeconds: 120,
      retentionDays: 90,
      onceId: null,
    }),
    ...changes,
  };
}
