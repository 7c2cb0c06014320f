import type { GenerationRef } from '../../../shared/generations/worker-contract.ts';
import type { FetchReferencesCommand } from '../../../shared/references/contract.ts';
import { keyOf } from './bucket.ts';
import type { EventQueue } from './event-queue.ts';
import { anywhere, play, type Sending } from './exchange.ts';
import { jsonAnswer, type HttpAnswer } from './refusals.ts';
import type { World } from './world.ts';

/** The function that fetches reference images. */
export function toReferences(
  world: World,
  { items }: FetchReferencesCommand,
  sending: Sending,
): Promise<HttpAnswer> {
  const { run } = sending;
  return play(world, {
    ...sending,
    name: 'fetch references',
    faults: [...anywhere, 'timeout after', 'applied late'],
    async apply() {
      const bad = world.random.chance(0.1) ? world.random.int(0, items.length - 1) : null;
      if (bad !== null) run.hasUnusableReference = true;
      const late = run.faults.some(({ call }) => call === 'fetch references');
      // Now and then a put of its own fails, after which nobody knows what is there.
      const stored = bad === null || world.random.chance(0.2) ? items : [];
      for (const { putLink } of stored)
        if (putLink !== null) world.bucket.copy(keyOf(new URL(putLink).pathname), run, late);
      return jsonAnswer(200, { problems: items.map((_, i) => (i === bad ? 'is a GIF' : null)) });
    },
    refusals: { '500': () => jsonAnswer(500, { message: 'failed' }) },
  });
}

/** Lambda takes an event of the function that nobody waits for, or refuses it. */
export function toWorker(
  world: World,
  events: EventQueue,
  event: GenerationRef,
  sending: Sending,
): Promise<HttpAnswer> {
  const { run } = sending;
  world.checker.runs.handedOver(event.requestId, run);
  return play(world, {
    ...sending,
    name: 'hand over',
    faults: [...anywhere, 'throttled', 'timeout after', 'applied late'],
    isHurried: true,
    async apply() {
      events.take(event);
      return { statusCode: 202, headers: {}, body: Buffer.alloc(0) };
    },
    refusals: {
      '500': () => jsonAnswer(500, { Type: 'Service' }),
      throttled: () => jsonAnswer(429, { Type: 'User', Reason: 'CallerRateLimitExceeded' }),
    },
  });
}
