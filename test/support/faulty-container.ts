import type { ServerResponse } from 'node:http';
import type { ModelRequest } from '../../shared/model/contract.ts';
import { seededRandom } from '../faults/simulation/random.ts';
import { deliver, emit, startContainer, type Container } from '../fuzz/quick-container.ts';
import { pause } from './until.ts';

/** What the container may do with a request: how many in a thousand meet it, and what it does after `started`. */
const behaviours = {
  delivers: [850, deliver],
  fails: [30, (_, res) => say(res, { event: 'failed', reason: 'model_error', message: 'It broke.' })],
  isBusy: [20, (_, res) => say(res, { event: 'failed', reason: 'busy', message: 'Too many wait.' })],
  /** After the deadline, when nobody waits any more. */
  isLate: [
    10,
    async (request, res) => {
      await pause(Date.parse(request.deadline) - Date.now() + 500);
      await deliver(request, res);
    },
  ],
  isSilent: [10, () => {}],
  writesNoJson: [15, (_, res) => void res.end('<html>\n')],
  writesUnknownEvents: [10, (_, res) => say(res, { event: 'dreaming' })],
  writesAnEndlessLine: [5, (_, res) => void res.end('x'.repeat(2 * 1024 * 1024))],
  /** The container says that it delivered the images, but did not. */
  deliversNothing: [
    15,
    ({ outputs, width, height }, res) =>
      say(res, {
        event: 'completed',
        outputs: outputs.map(() => ({ bytes: 9, sha256: '0'.repeat(64), width, height })),
        referenceImagesUsed: 0,
        modelVersion: 'quick-1',
      }),
  ],
  diesAtOnce: [15, (_, res) => void res.destroy()],
  diesWhilePainting: [
    15,
    async (_, res) => {
      await pause(20);
      res.destroy();
    },
  ],
  answers500: [5, (_, res) => void res.writeHead(500).end('out of memory')],
} satisfies Record<string, [number, (request: ModelRequest, res: ServerResponse) => void | Promise<void>]>;

type Behaviour = keyof typeof behaviours;
/** What happens before any word of the container. */
const withoutStart: readonly Behaviour[] = ['diesAtOnce', 'answers500'];

export interface FaultyContainer extends Container {
  /** How often it did what. */
  counts: Record<string, number>;
  /** The requests that it was sent: each must have had a reservation. */
  requestIds: Set<string>;
}

/** A model container that delivers a small file at once, except where the seed wants a fault. */
export async function startFaultyContainer(seed: number): Promise<FaultyContainer> {
  const random = seededRandom(seed);
  const weights = Object.fromEntries(Object.entries(behaviours).map(([name, [weight]]) => [name, weight]));
  const counts: Record<string, number> = {};
  const requestIds = new Set<string>();
  const container = await startContainer((request, res) => {
    requestIds.add(request.requestId);
    const { failWith, neverFinishes } = request.identity.settings;
    const drawn = random.weighted(weights) as Behaviour;
    const behaviour = neverFinishes === true ? 'isSilent' : failWith === undefined ? drawn : 'fails';
    counts[behaviour] = (counts[behaviour] ?? 0) + 1;
    if (!withoutStart.includes(behaviour)) emit(res, { event: 'started' });
    return behaviours[behaviour][1](request, res);
  });
  return { ...container, counts, requestIds };
}

function say(res: ServerResponse, event: unknown): void {
  emit(res, event);
  res.end();
}
