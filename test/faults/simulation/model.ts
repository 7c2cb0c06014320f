import { crc32 } from 'node:zlib';
import { modelStreamError, payloadPart } from '../../../local/sagemaker/frames.ts';
import type { ModelOutput, ModelRequest } from '../../../shared/model/contract.ts';
import { keyOf, type Bucket } from './bucket.ts';
import { socketError, type ByteStream } from './answers.ts';
import type { SleepProfile, ModelBehavior } from './faults.ts';
import type { Random } from './random.ts';
import type { Counts, History } from './history.ts';

export type Sleep = ReturnType<typeof createSleep>;

/** A model that has no capacity while it sleeps and while it wakes. A call wakes it; idleness lets it sleep. */
export function createSleep(
  drawn: SleepProfile | null,
  { now, counts, history }: { now: () => number; counts: Counts; history: History },
) {
  let profile = drawn;
  /** When it woke, or will wake; null while it sleeps. */
  let awakeFromMs = profile?.isAsleep === true ? null : now();
  let usedUntilMs = now();

  function tell(what: string): void {
    counts.add(`sleep: ${what}`);
    history.note('the model', what);
  }

  function fallAsleepOfIdleness(idleMs: number): void {
    if (awakeFromMs === null || Math.max(awakeFromMs, usedUntilMs) + idleMs >= now()) return;
    awakeFromMs = null;
    tell('fell asleep');
  }

  return {
    /** Somebody calls, which wakes it. @returns whether it has no capacity yet. */
    refuses(): boolean {
      if (profile === null) return false;
      fallAsleepOfIdleness(profile.idleMs);
      if (awakeFromMs === null) {
        awakeFromMs = now() + profile.wakingMs;
        tell('was woken');
      }
      if (awakeFromMs > now()) return true;
      this.usedUntil(now());
      return false;
    },
    /** It paints until then. */
    usedUntil: (atMs: number) => void (usedUntilMs = Math.max(usedUntilMs, atMs)),
    /** Since when it could paint; null while it can't. */
    awakeSinceMs: (): number | null => (awakeFromMs !== null && awakeFromMs <= now() ? awakeFromMs : null),
    /** From now on it never sleeps. */
    stayAwake(): void {
      profile = null;
      awakeFromMs = Math.min(awakeFromMs ?? now(), now());
    },
  };
}

export interface ModelPlay {
  behavior: ModelBehavior;
  request: ModelRequest;
  random: Random;
  nowMs: number;
  /** The container's own doing, at a time from now. */
  later(delayMs: number, action: () => void): void;
  /** What reaches the caller, at a time from now. */
  answer(delayMs: number, action: (stream: ByteStream) => void): void;
  bucket: Bucket;
  /** It paints until then. */
  busyUntil(atMs: number): void;
}

interface Painting {
  /** When the last image is there. */
  doneMs: number;
  outputs: ModelOutput[];
}

const queued = { event: 'queued', position: 2, etaSeconds: 9 };
const started = { event: 'started' };
const progress = { event: 'progress', step: 10, steps: 30 };

/** A model container, well-behaved or not: it begins, paints into the bucket, and says so. */
export function playModel(play: ModelPlay): void {
  const { behavior, random } = play;
  if (behavior === 'never begins') return;
  const waits = random.chance(0.2) ? random.int(1, 9000) : 0;
  for (let atMs = 0; atMs < waits; atMs += 3000) say(play, atMs + 1, queued);
  const begins = waits + random.int(1, 400);
  if (behavior === 'waits for ever') return waitForEver(play);
  const startsNever = ['completes without start', 'busy', 'fails before it begins'].includes(behavior);
  if (!startsNever) say(play, begins, started);
  if (behavior === 'starts twice') say(play, begins + 1, started);
  if (behavior === 'waits after starting') say(play, begins + 1, queued);
  const spoils = endings[behavior];
  if (spoils !== undefined) return spoils(play, begins + random.int(1, 4000));
  complete(play, begins, paint(play, begins));
}

/** Ways to end without a word about images. */
const endings: Partial<Record<ModelBehavior, (play: ModelPlay, atMs: number) => void>> = {
  busy: (play, atMs) => fail(play, atMs, 'busy'),
  fails: (play, atMs) =>
    fail(play, atMs, play.random.pick(['model_error', 'upload_failed', 'reference_unreadable', '?'])),
  // Where there is no reference image, nobody may be told that it is wrong.
  'fails before it begins': (play, atMs) => fail(play, atMs, 'reference_invalid', { reference: 0 }),
  'says deadline': (play, atMs) => fail(play, atMs, 'deadline'),
  'dies in mid-stream': (play, atMs) => play.answer(atMs, (stream) => stream.fail(socketError('ECONNRESET'))),
  'stream error': (play, atMs) =>
    play.answer(atMs, (stream) => {
      stream.send(modelStreamError('StreamBroken'));
      stream.end();
    }),
  'ends early': (play, atMs) => play.answer(atMs, (stream) => stream.end()),
  'half an event': (play, atMs) => sayRaw(play, atMs, '{"event":"compl', true),
  'not JSON': (play, atMs) => sayRaw(play, atMs, 'Traceback (most recent call last):\n', false),
  'not UTF-8': (play, atMs) => sayRaw(play, atMs, Buffer.from([0xff, 0xfe, 0x0a]), false),
  'waits nowhere': (play, atMs) => say(play, atMs, { ...queued, position: 0 }),
  'unknown event': (play, atMs) => say(play, atMs, { event: 'dreaming' }),
  'too long an event': (play, atMs) => sayRaw(play, atMs, 'x'.repeat(70_000), false),
  floods: (play, atMs) => {
    const much = `${JSON.stringify(progress)}\n`.repeat(1500);
    for (let i = 0; i < 20; i++) sayRaw(play, atMs + i, much, false);
  },
};

function waitForEver(play: ModelPlay): void {
  for (let atMs = 0; atMs < 200_000; atMs += 3000) say(play, atMs + 1, queued);
}

function paint(play: ModelPlay, begins: number): Painting {
  const { behavior, request, random, bucket } = play;
  const untilDeadlineMs = Date.parse(request.deadline) - play.nowMs;
  const takesMs = {
    // In time also for a function whose clock is ahead and whose look at the image is slow.
    'good but slow': Math.max(2000, untilDeadlineMs - begins - random.int(8000, 20_000)),
    late: untilDeadlineMs + random.int(-200, 40_000),
  }[behavior as string];
  const doneMs =
    begins + Math.max(1, takesMs ?? (random.chance(0.2) ? random.int(1, 60) : random.int(500, 15_000)));
  play.busyUntil(play.nowMs + doneMs);
  // Quick ones have no progress to tell of.
  if (doneMs - begins > 100) say(play, (begins + doneMs) / 2, progress);
  const outputs = request.outputs.map(({ putUrl, previewPutUrl }, i) => {
    // The same for everybody who paints it, as a seed's image is.
    const bytes = 1000 + (crc32(`${request.requestId}/${i}`) % 3_000_000);
    const isLast = i === request.outputs.length - 1;
    const missing = behavior === 'image not stored' && isLast;
    const lateMs = behavior === 'image stored late' && isLast ? 30_000 : 0;
    if (!missing) play.later(doneMs - 1 + lateMs, () => bucket.put(keyOf(new URL(putUrl).pathname), bytes));
    const previewBytes = paintPreview(play, doneMs, { request, previewPutUrl, i });
    return { bytes, sha256: 'a'.repeat(64), width: request.width, height: request.height, previewBytes };
  });
  return { doneMs, outputs };
}

/** Most previews are put and told; some are not put, or late, or too large. No request may suffer by it. */
function paintPreview(
  { later, bucket }: ModelPlay,
  doneMs: number,
  { request, previewPutUrl, i }: { request: ModelRequest; previewPutUrl: string; i: number },
): number | null {
  const digest = crc32(`${request.requestId}/${i}/preview`);
  const fate = (['untold', 'missing', 'late', 'too large'] as const)[digest % 12];
  if (fate === 'untold') return null;
  const bytes = fate === 'too large' ? 60_001 : 1000 + (digest % 59_000);
  const put = (): void => bucket.put(keyOf(new URL(previewPutUrl).pathname), bytes);
  if (fate !== 'missing') later(doneMs - 1 + (fate === 'late' ? 30_000 : 0), put);
  return bytes;
}

function complete(play: ModelPlay, begins: number, { doneMs, outputs }: Painting): void {
  const { behavior } = play;
  const said = outputs.map((output) => ({
    ...output,
    ...(behavior === 'wrong size' ? { width: output.width + 1 } : {}),
    ...(behavior === 'wrong bytes' ? { bytes: output.bytes + 1 } : {}),
  }));
  if (behavior === 'too many images') said.push(said[0]!);
  if (behavior === 'too few images') said.pop();
  if (behavior === 'no images') said.length = 0;
  const completed = { event: 'completed', outputs: said, referenceImagesUsed: 0, modelVersion: 'simulated' };
  const atMs = Math.max(begins + 1, doneMs + 1);
  say(play, atMs, completed);
  if (behavior === 'completes twice') say(play, atMs + 1, completed);
  if (behavior !== 'hangs after completing') play.answer(atMs + 2, (stream) => stream.end());
}

function fail(play: ModelPlay, atMs: number, reason: string, about = {}): void {
  say(play, atMs, { event: 'failed', reason, message: 'It could not be done', ...about });
  play.answer(atMs + 1, (stream) => stream.end());
}

function say(play: ModelPlay, atMs: number, event: unknown): void {
  sayRaw(play, atMs, `${JSON.stringify(event)}\n`, false);
}

function sayRaw(play: ModelPlay, atMs: number, text: string | Uint8Array, andEnd: boolean): void {
  play.answer(atMs, (stream) => {
    stream.send(payloadPart(typeof text === 'string' ? Buffer.from(text) : text));
    if (andEnd) stream.end();
  });
}
