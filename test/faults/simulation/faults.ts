import { modelBehaviors, type ModelBehavior } from './model.ts';
import type { Random } from './random.ts';

/** What may happen to a call on its way to a server and back: whether and when it takes effect, and what its caller gets. */
export const callFaults = {
  slow: ['soon', 'answer'],
  'reset before': ['never', 'reset'],
  'reset after': ['soon', 'reset'],
  '500 before': ['never', '500'],
  '500 after': ['soon', '500'],
  throttled: ['never', 'throttled'],
  conflict: ['never', 'conflict'],
  'timeout before': ['never', 'silence'],
  'timeout after': ['soon', 'silence'],
  'applied late': ['late', 'silence'],
  'unprocessed keys': ['soon', 'a part'],
  'stale index': ['soon', 'a part'],
  'object missing': ['soon', 'a part'],
  'killed before': ['never', 'death'],
  'killed after': ['soon', 'death'],
  stalled: ['soon', 'answer'],
} as const;
export type CallFault = keyof typeof callFaults;

export const faultNames = Object.keys(callFaults) as CallFault[];

/** Whether a fault meets the call alone, and not its machine. */
export const isOfCall = (fault: CallFault): boolean =>
  fault !== 'stalled' && callFaults[fault][1] !== 'death';

/** What may meet everybody's calls for a while. */
export const callOutages = faultNames.filter(
  (fault) => !['answer', 'a part', 'death'].includes(callFaults[fault][1]),
);
export const modelOutages = ['refused', 'no capacity', 'never answers', 'answers 500', 'throttled'] as const;

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
  'enqueue',
  'bring back',
];

/** How much goes wrong in one seed's simulation. Probabilities are per call, per answer or per event. */
export type Profile = ReturnType<typeof drawProfile>;

/** Each simulation is different: most kinds of faults are absent from it, some rare, a few common. */
export function drawProfile(random: Random, seed: number) {
  const calm = random.chance(0.05);
  const strength = () => (calm ? 0 : random.pick([0, 0, 0, 0.002, 0.01, 0.03, 0.08]));
  const apart: ModelBehavior[] = ['scaled to zero', 'refuses the content'];
  const bad = modelBehaviors.filter((name) => !name.startsWith('good') && !apart.includes(name));
  const refusesContent = seed % 16 === 10;
  const hasUnreadableReferences = seed % 40 === 33;
  const kinds = random.chance(0.3) ? [random.pick(bad), random.pick(bad)] : bad;
  return {
    calls: {
      ...(Object.fromEntries(faultNames.map((name) => [name, strength()])) as Record<CallFault, number>),
      slow: random.pick([0, 0.01, 0.05, 0.2]),
    },
    /** Faults that meet calls of one purpose often. */
    focus: [...drawFocus(random, calm), ...focusOnDeletions(seed)],
    /** Share of generations that the model spoils. */
    model: Math.max(calm ? 0 : random.pick([0, 0.05, 0.2, 0.4, 0.9]), refusesContent ? 0.3 : 0),
    /** How the spoiled ones are spoiled, by weight. */
    modelKinds: {
      ...Object.fromEntries(kinds.map((name) => [name, 1])),
      ...(refusesContent && { 'refuses the content': kinds.length }),
    } as Partial<Record<ModelBehavior, number>>,
    lostAnswer: strength(),
    maxSkewMs: random.pick([0, 0, 50, 2000]),
    /** Whether the sweep meets faults too. */
    sweeperFails: random.chance(0.4),
    /** Share of requests that prefer not to wait. */
    async: random.pick([0, 0.2, 0.5, 0.5, 0.9]),
    /** Share of requests with reference images. */
    references: Math.max(random.pick([0.1, 0.1, 0.6]), hasUnreadableReferences ? 0.9 : 0),
    asyncDeadlineSeconds: random.pick([60, 60, 60, 120, 120, 300, 600]),
    /** What may happen to the queue's messages, and to the machines that they come to. */
    messages: drawMessageFaults(random, calm),
    /** How often a message is received before it is a dead letter. */
    maxReceiveCount: seed % 5 === 2 ? 1 + (seed % 3) : 200,
    scaling: random.chance(calm ? 0.3 : 0.65) ? null : drawScaling(random),
    /** Whether the functions know that the model may be scaled to zero, and note how long a cold start takes. */
    notesColdStarts: random.chance(0.6),
    /** How likely a fault meets a read or a write of such a note, beside the other faults. */
    notesFail: calm ? 0 : random.pick([0, 0.3, 0.9]),
    /** Whether all references look right and can't be used. */
    hasUnreadableReferences,
    hasBudgets: seed % 4 === 0,
    /** Whether some keys have places in flight of their own, or see only what they made. */
    hasWeakKeys: [0, 1, 5].includes(seed % 12),
    hasDeletions: seed % 3 === 0,
    hasCancellations: seed % 7 === 5,
    hasExtraCredits: seed % 7 === 2,
    /** Whether the identity's active version changes, and requests pin one. */
    hasVersions: seed % 9 === 4,
  };
}

function drawFocus(random: Random, calm: boolean) {
  if (calm) return [];
  return Array.from({ length: random.int(0, 3) }, () => ({
    purpose: random.pick(purposes),
    // Machines that stand still and writes that come late are what the rarest orders of events are made of.
    fault: random.pick([...faultNames, 'stalled', 'applied late', 'stalled', 'applied late'] as CallFault[]),
    chance: 0.3,
  }));
}

/**
 * In every second simulation with deletions, those of images fail so often that some fail to their last attempt. Not more
 * often: all of a request's twelve objects must go in one pass, and a simulation has to end.
 */
function focusOnDeletions(seed: number) {
  const faults = ['reset before', '500 before', 'throttled', 'timeout before'] as const;
  // A copy of a reservation that comes after its request was deleted.
  if (seed % 24 === 9) return [{ purpose: 'reserve', fault: 'applied late' as const, chance: 0.4 }];
  return seed % 6 === 0 ? [{ purpose: 'delete an image', fault: faults[(seed / 6) % 4]!, chance: 0.5 }] : [];
}

function drawMessageFaults(random: Random, calm: boolean) {
  const strength = () => (calm ? 0 : random.pick([0, 0, 0.03, 0.2]));
  return {
    /** It, or its deletion. */
    lost: strength(),
    /** The queue takes it, and its caller gets no answer and sends it again. */
    takenTwice: calm ? 0 : random.pick([0, 0.1, 0.5]),
    late: strength(),
    twice: calm ? 0 : random.pick([0, 0.1, 0.7]),
    /** The machine dies, or stands still, at any moment of its run. */
    dies: strength(),
    freezes: strength(),
  };
}

/** Half of them start before a request that waits gives up, and some never do in time. */
function drawScaling(random: Random) {
  return {
    beginsAtZero: random.chance(0.7),
    coldStartMs: random.pick([
      random.int(5000, 40_000),
      random.int(20_000, 120_000),
      random.int(60_000, 420_000),
    ]),
    idleMs: random.pick([20_000, 60_000, 300_000]),
  };
}
