import type { BillingEvidence } from '../../../shared/billing/evidence.ts';
import { monthAfter } from '../../../shared/licenses/billing-period.ts';
import type { Cast } from './cast.ts';
import { currentRun, newRun } from './runs.ts';
import type { Tenant } from './setup.ts';
import { apply, payment, snapshot } from './subscription.ts';

/** A customer moves the day of their bill to today, paid or not. The events come in any order, seconds later. */
export async function moveAnchor({ world, setup }: Cast, { license, subscription }: Tenant): Promise<void> {
  if (subscription === null) return;
  const { random, scheduler } = world;
  const atMs = Math.floor(scheduler.now() / 1000) * 1000;
  const { anchorMs, periodEndMs } = subscription.state;
  if (atMs === anchorMs) return;
  subscription.state = { ...subscription.state, anchorMs: atMs, periodEndMs: monthAfter(atMs) };
  subscription.isMoved = true;
  const events: BillingEvidence[] = [
    snapshot(subscription, license.ownerId, atMs, { anchorMs, periodEndMs }),
  ];
  if (random.chance(0.4)) {
    events.push(payment(subscription, atMs));
    subscription.paidAnchorsMs.push(atMs);
  }
  world.counts.add(`moved anchors: ${events.length === 1 ? 'unpaid' : 'paid'}`);
  if (random.chance(0.5)) events.reverse();
  for (const event of events) {
    // Longer than clocks differ.
    await scheduler.pause(random.int(4500, 12_000));
    await deliver(event);
  }

  /** As the queue does: again until it is applied. */
  async function deliver(event: BillingEvidence): Promise<void> {
    for (;;) {
      const run = newRun('billing', scheduler.now(), { mayFail: true });
      const applied = await currentRun
        .run(run, () => apply(setup.subscriptions, subscription!, event))
        .catch(() => null);
      if (applied !== null) return;
      await scheduler.pause(2000);
    }
  }
}
