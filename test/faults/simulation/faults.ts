import type { Random } from './random.ts';

/** What may happen to a call on its way to DynamoDB and back, S3 or the reader of references. */
export const callFaults = [
  'slow',
  'reset before',
  'reset after',
  '500 before',
  '500 after',
  'throttled',
  'conflict',
  'timeout before',
  'timeout after',
  'applied late',
  'unprocessed keys',
  'stale index',
  'object missing',
  'killed before',
  'killed after',
  'stalled',
] as const;
export type CallFault = (typeof callFaults)[number];

/** What the model may do with a request. The first two are good. */
export const modelBehaviors = [
  'good',
  'good but slow',
  'refused',
  'throttled',
  'no capacity',
  'asleep',
  'answers 500',
  'answers 400',
  'never answers',
  'never begins',
  'late',
  'busy',
  'fails',
  'fails before it begins',
  'says deadline',
  'dies in mid-stream',
  'stream error',
  'ends early',
  'half an event',
  'not JSON',
  'not UTF-8',
  'unknown event',
  'too long an event',
  'floods',
  'too many images',
  'too few images',
  'no images',
  'wrong size',
  'wrong bytes',
  'image not stored',
  'image stored late',
  'completes without start',
  'starts twice',
  'completes twice',
  'hangs after completing',
  'waits for ever',
  'waits after starting',
  'waits nowhere',
] as const;
export type ModelBehavior = (typeof modelBehaviors)[number];

/** How much goes wrong in one seed's world. Probabilities are per call, per answer or per minute. */
export interface Profile {
  calls: Record<CallFault, number>;
  /** Where the weather is worst: a fault that meets calls of one purpose often. */
  focus: { purpose: string; fault: CallFault; chance: number }[];
  /** Share of generations that the model spoils. */
  model: number;
  /** How the spoiled ones are spoiled, by weight. */
  modelKinds: Partial<Record<ModelBehavior, number>>;
  lostAnswer: number;
  maxSkewMs: number;
  /** Whether the sweep meets faults too. */
  sweeperFails: boolean;
  /** Share of requests that prefer not to wait. */
  async: number;
  /** Share of requests with reference images. */
  references: number;
  asyncDeadlineSeconds: number;
  events: EventFaults;
  sleep: SleepProfile | null;
  /** Whether the functions know that the model may sleep, and note how long it takes to wake. */
  notesWaking: boolean;
  /** How likely a fault meets a read or a write of such a note, beside the weather. */
  notesFail: number;
}

/** What may happen to the events of Lambda's own queue, and to the machines that they come to. */
export interface EventFaults {
  lost: number;
  /** Lambda takes it, and its caller hears nothing and tells it again. */
  takenTwice: number;
  late: number;
  twice: number;
  /** The machine dies, or stands still, at any moment of its run. */
  dies: number;
  freezes: number;
}

/** A model that sleeps when nobody paints. */
export interface SleepProfile {
  isAsleep: boolean;
  wakingMs: number;
  idleMs: number;
}

const purposes = [
  'reserve',
  'start',
  'settle',
  'release',
  'look at',
  'call the model',
  'put rate',
  'read',
  'count in',
  'hand over',
  'read gen',
];

/** Each world has its own weather: most kinds of faults are absent from it, some rare, a few common. */
export function drawProfile(random: Random): Profile {
  const calm = random.chance(0.05);
  const strength = () => (calm ? 0 : random.pick([0, 0, 0, 0.002, 0.01, 0.03, 0.08]));
  const bad = modelBehaviors.filter((name) => !name.startsWith('good') && name !== 'asleep');
  const kinds = random.chance(0.3) ? [random.pick(bad), random.pick(bad)] : bad;
  return {
    calls: {
      ...(Object.fromEntries(callFaults.map((name) => [name, strength()])) as Profile['calls']),
      slow: random.pick([0, 0.01, 0.05, 0.2]),
    },
    focus: calm
      ? []
      : Array.from({ length: random.int(0, 3) }, () => ({
          purpose: random.pick(purposes),
          // Machines that stand still and writes that come late are what the rarest orders of events are made of.
          fault: random.pick([...callFaults, 'stalled', 'applied late', 'stalled', 'applied late']),
          chance: 0.3,
        })),
    model: calm ? 0 : random.pick([0, 0.05, 0.2, 0.4, 0.9]),
    modelKinds: Object.fromEntries(kinds.map((name) => [name, 1])),
    lostAnswer: strength(),
    maxSkewMs: random.pick([0, 0, 50, 2000]),
    sweeperFails: random.chance(0.4),
    async: random.pick([0, 0.2, 0.5, 0.5, 0.9]),
    references: random.pick([0.1, 0.1, 0.6]),
    asyncDeadlineSeconds: random.pick([60, 60, 60, 120, 120, 300, 600]),
    events: drawEventFaults(random, calm),
    sleep: random.chance(calm ? 0.3 : 0.65) ? null : drawSleep(random),
    notesWaking: random.chance(0.6),
    notesFail: calm ? 0 : random.pick([0, 0.3, 0.9]),
  };
}

function drawEventFaults(random: Random, calm: boolean): EventFaults {
  const strength = () => (calm ? 0 : random.pick([0, 0, 0.03, 0.2]));
  return {
    lost: strength(),
    takenTwice: calm ? 0 : random.pick([0, 0.1, 0.5]),
    late: strength(),
    twice: calm ? 0 : random.pick([0, 0.1, 0.7]),
    dies: strength(),
    freezes: strength(),
  };
}

/** Half of them wake before a request that waits gives up, and some never do in time. */
function drawSleep(random: Random): SleepProfile {
  return {
    isAsleep: random.chance(0.7),
    wakingMs: random.pick([
      random.int(5000, 40_000),
      random.int(20_000, 120_000),
      random.int(60_000, 420_000),
    ]),
    idleMs: random.pick([20_000, 60_000, 300_000]),
  };
}
