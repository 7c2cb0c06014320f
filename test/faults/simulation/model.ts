import { crc32 } from 'node:zlib';
import { modelError, noCapacity, type Failure } from '../../../local/sagemaker/failures.ts';
import { modelStreamError, payloadPart } from '../../../local/sagemaker/frames.ts';
import type { ModelOutput, ModelRequest } from '../../../shared/model/contract.ts';
import { byteStream, jsonAnswer, socketError, type HttpAnswer } from './answers.ts';
import { keyOfLink, type Bucket } from './bucket.ts';
import type { Random } from './random.ts';
import type { Run } from './runs.ts';
import type { Scheduler } from './process.ts';

export type Capacity = ReturnType<typeof createCapacity>;

/** A model that has no capacity while it is scaled to zero, and during its cold start. A call starts it; idleness ends it. */
export function createCapacity(
  scaling: { beginsAtZero: boolean; coldStartMs: number; idleMs: number } | null,
  { now, note }: { now: () => number; note: (what: string) => void },
) {
  let profile = scaling;
  /** Since when it is there, or will be; null while it is scaled to zero. */
  let sinceMs = profile?.beginsAtZero === true ? null : now();
  let usedUntilMs = now();
  return {
    /** Somebody calls, which starts it. @returns whether it has no capacity yet. */
    refuses(): boolean {
      if (profile === null) return false;
      if (sinceMs !== null && Math.max(sinceMs, usedUntilMs) + profile.idleMs < now()) {
        sinceMs = null;
        note('scaled to zero');
      }
      if (sinceMs === null) {
        sinceMs = now() + profile.coldStartMs;
        note('starts');
      }
      if (sinceMs > now()) return true;
      this.usedUntil(now());
      return false;
    },
    usedUntil: (atMs: number) => void (usedUntilMs = Math.max(usedUntilMs, atMs)),
    /** Since when it could generate; null while it can't. */
    sinceMs: (): number | null => (sinceMs !== null && sinceMs <= now() ? sinceMs : null),
    /** From now on it is always there. */
    keep(): void {
      profile = null;
      sinceMs = Math.min(sinceMs ?? now(), now());
    },
  };
}

/** A run's call of the model that is answered with a stream. */
interface ModelCall {
  behavior: ModelBehavior;
  request: ModelRequest;
  run: Run;
  signal: AbortSignal | undefined;
}

/** Where the model's container stands. */
interface Surroundings {
  random: Random;
  scheduler: Scheduler;
  bucket: Bucket;
  capacity: Capacity;
  watch: { touched(requestId: string): void };
  profile: { hasCancellations: boolean };
}

/** What a container says, at times from now. An Error breaks its stream; null ends it. */
type Say = (atMs: number, ...parts: (object | string | Uint8Array | Error | null)[]) => void;

interface Behavior {
  /** What is answered in place of a stream; null for nothing. */
  refuses?: () => HttpAnswer | null;
  /** It never says that it starts. */
  neverStarts?: true;
  /** What it says once more as soon as it has started. */
  again?: object;
  /** How it ends without a word about images. */
  ends?: (say: Say, atMs: number, random: Random) => void;
  /** What it says of its images that is not true. */
  spoils?: (outputs: ModelOutput[]) => ModelOutput[];
}

const queued = { event: 'queued', position: 2, etaSeconds: 9 };
const started = { event: 'started' };
const progress = { event: 'progress', step: 10, steps: 30 };
const failing = (say: Say, atMs: number, reason: string, more = {}) => {
  say(atMs, { event: 'failed', reason, message: 'It could not be done', ...more });
  say(atMs + 1, null);
};
const anyReason = ['model_error', 'upload_failed', 'reference_unreadable', '?'];

/** What the model may do with a request. The first two are good. */
const behaviors = {
  good: {},
  'good but slow': {},
  refused: {},
  throttled: {
    refuses: () =>
      failed({ name: 'ThrottlingException', status: 400, members: { Message: 'Rate exceeded' } }),
  },
  'no capacity': { refuses: () => failed(noCapacity) },
  'scaled to zero': { refuses: () => failed(noCapacity) },
  'answers 500': { refuses: () => failed(modelError('model', 500, '')) },
  'answers 400': { refuses: () => failed(modelError('model', 400, '')) },
  'never answers': { refuses: () => null },
  'never begins': {},
  late: {},
  busy: { neverStarts: true, ends: (say, atMs) => failing(say, atMs, 'busy') },
  fails: { ends: (say, atMs, random) => failing(say, atMs, random.pick(anyReason)) },
  'fails before it begins': {
    neverStarts: true,
    // Where there is no reference image, nobody may hear that it is wrong.
    ends: (say, atMs) => failing(say, atMs, 'reference_invalid', { reference: 0 }),
  },
  'refuses the content': {
    ends: (say, atMs) => failing(say, atMs, 'content_refused', { categories: ['violence'] }),
  },
  'says deadline': { ends: (say, atMs) => failing(say, atMs, 'deadline') },
  'dies in mid-stream': { ends: (say, atMs) => say(atMs, socketError('ECONNRESET')) },
  'stream error': { ends: (say, atMs) => say(atMs, modelStreamError('StreamBroken'), null) },
  'ends early': { ends: (say, atMs) => say(atMs, null) },
  'half an event': { ends: (say, atMs) => say(atMs, '{"event":"compl', null) },
  'not JSON': { ends: (say, atMs) => say(atMs, 'Traceback (most recent call last):\n') },
  'not UTF-8': { ends: (say, atMs) => say(atMs, payloadPart(Buffer.from([0xff, 0xfe, 0x0a]))) },
  'unknown event': { ends: (say, atMs) => say(atMs, { event: 'dreaming' }) },
  'too long an event': { ends: (say, atMs) => say(atMs, 'x'.repeat(70_000)) },
  floods: {
    ends: (say, atMs) => {
      const much = `${JSON.stringify(progress)}\n`.repeat(1500);
      for (let i = 0; i < 20; i++) say(atMs + i, much);
    },
  },
  'too many images': { spoils: (outputs) => [...outputs, outputs[0]!] },
  'too few images': { spoils: (outputs) => outputs.slice(0, -1) },
  'no images': { spoils: () => [] },
  'wrong size': { spoils: (outputs) => outputs.map((output) => ({ ...output, width: output.width + 1 })) },
  'wrong bytes': { spoils: (outputs) => outputs.map((output) => ({ ...output, bytes: output.bytes + 1 })) },
  'image not stored': {},
  'image stored late': {},
  'completes without start': { neverStarts: true },
  'starts twice': { again: started },
  'completes twice': {},
  'hangs after completing': {},
  'waits for ever': {},
  'waits after starting': { again: queued },
  'waits nowhere': { ends: (say, atMs) => say(atMs, { ...queued, position: 0 }) },
} satisfies Record<string, Behavior>;

export type ModelBehavior = keyof typeof behaviors;
export const modelBehaviors = Object.keys(behaviors) as ModelBehavior[];

function failed({ name, status, members }: Failure): HttpAnswer {
  return jsonAnswer(status, members, { 'x-amzn-errortype': name });
}

/** What answers in place of the container; undefined when it answers with a stream. */
export function modelRefusal(behavior: ModelBehavior): HttpAnswer | null | undefined {
  return (behaviors[behavior] as Behavior).refuses?.();
}

/** A container that can answer at all says that it is there. */
export function probeAnswer(): HttpAnswer {
  const stream = byteStream();
  stream.push(payloadPart(Buffer.from('{"event":"ready","modelVersion":"simulated"}\n')));
  stream.push(null);
  return { statusCode: 200, headers: {}, body: stream.read };
}

/** A model container, well-behaved or not: it begins, generates into the bucket, and says so. */
export function modelAnswer(
  { random, scheduler, bucket, capacity, watch, profile }: Surroundings,
  { behavior, request, run, signal }: ModelCall,
): HttpAnswer {
  const stream = byteStream();
  // Whoever hangs up closes the socket, also while the SDK waits for the first event.
  signal?.addEventListener('abort', () => stream.push(socketError('ECONNRESET')), { once: true });
  let isStopped = false;
  const say: Say = (atMs, ...parts) =>
    void scheduler.after(atMs, () => isStopped || parts.forEach((part) => stream.push(toBytes(part))), run);
  const stopsAfterMs = crc32(request.requestId) % 2000;
  // Every second one looks for the flag, and says within two seconds that it has stopped.
  if (stopsAfterMs % 2 === 0)
    bucket.whenCancelled(request.requestId, () => {
      failing(say, stopsAfterMs, 'cancelled');
      scheduler.after(stopsAfterMs + 1, () => (isStopped = true));
    });
  const sayQueuedUntil = (endMs: number) => {
    for (let atMs = 0; atMs < endMs; atMs += 3000) say(atMs + 1, queued);
  };

  function generate(beginsMs: number): void {
    const { spoils }: Behavior = behaviors[behavior];
    const untilDeadlineMs = Date.parse(request.deadline) - scheduler.now();
    // In time also for a function whose clock is ahead and whose look at the image is slow.
    const slowMs = Math.max(2000, untilDeadlineMs - beginsMs - random.int(8000, 20_000));
    const lateMs = Math.max(1, untilDeadlineMs + random.int(-200, 40_000));
    const usualMs = () => (random.chance(0.2) ? random.int(1, 60) : random.int(500, 15_000));
    const takesMs = behavior === 'good but slow' ? slowMs : behavior === 'late' ? lateMs : usualMs();
    const doneMs = beginsMs + takesMs;
    capacity.usedUntil(scheduler.now() + doneMs);
    // Quick ones have no progress to report.
    if (takesMs > 100) say((beginsMs + doneMs) / 2, progress);
    const outputs = request.outputs.map((_, i) => storeOutput(i, doneMs));
    const said = spoils?.(outputs) ?? outputs;
    const completed = {
      event: 'completed',
      outputs: said,
      referenceImagesUsed: 0,
      modelVersion: 'simulated',
    };
    say(doneMs + 1, completed);
    if (behavior === 'completes twice') say(doneMs + 2, completed);
    if (behavior !== 'hangs after completing') say(doneMs + 3, null);
  }

  /** Most previews are stored and named; some are not stored, or late, or too large. No request may suffer by it. */
  function storeOutput(i: number, doneMs: number): ModelOutput {
    const { requestId, width, height, outputs } = request;
    const { putUrl, previewPutUrl } = outputs[i]!;
    const isLast = i === outputs.length - 1;
    const put = (link: string, bytes: number, isLate: boolean) =>
      scheduler.after(doneMs - 1 + (isLate ? 30_000 : 0), () => bucket.put(keyOfLink(link), bytes));
    // The same for everybody who generates it, as a seed's image is.
    const bytes = 1000 + (crc32(`${requestId}/${i}`) % 3_000_000);
    const isStored = behavior !== 'image not stored' || !isLast;
    if (isStored) put(putUrl, bytes, behavior === 'image stored late' && isLast);
    const digest = crc32(`${requestId}/${i}/preview`);
    const fate = (['not named', 'missing', 'late', 'too large'] as const)[digest % 12];
    const previewBytes = fate === 'too large' ? 60_001 : 1000 + (digest % 59_000);
    if (fate !== 'not named' && fate !== 'missing') put(previewPutUrl, previewBytes, fate === 'late');
    const named = fate === 'not named' ? null : previewBytes;
    return { bytes, sha256: 'a'.repeat(64), width, height, previewBytes: named };
  }

  function begin(): void {
    const { neverStarts, again, ends }: Behavior = behaviors[behavior];
    if (behavior === 'never begins') return;
    const waitsMs = random.chance(0.2) ? random.int(1, 9000) : 0;
    sayQueuedUntil(waitsMs);
    const beginsMs = waitsMs + random.int(1, 400);
    if (behavior === 'waits for ever') return sayQueuedUntil(200_000);
    // Earlier, by as much as a cancellation needs to read who asks.
    if (profile.hasCancellations)
      scheduler.after(Math.max(0, beginsMs - 45), () => watch.touched(request.requestId));
    if (!neverStarts) say(beginsMs, started);
    if (again !== undefined) say(beginsMs + 1, again);
    if (ends !== undefined) ends(say, beginsMs + random.int(1, 4000), random);
    else generate(beginsMs);
  }

  begin();
  return { statusCode: 200, headers: {}, body: stream.read };
}

function toBytes(part: object | string | Uint8Array | Error | null): Uint8Array | Error | null {
  if (part === null || part instanceof Error || part instanceof Uint8Array) return part;
  return payloadPart(Buffer.from(typeof part === 'string' ? part : `${JSON.stringify(part)}\n`));
}
