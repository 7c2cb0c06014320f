import { expect, test } from '@jest/globals';
import { licenseIdOf } from '../../../shared/billing/subscription-license.ts';
import { licenseStore } from '../../../shared/licenses/store.ts';
import { subscriptionStore } from '../../../shared/billing/subscription-store.ts';
import { applyBillingEvidence } from '../../../shared/billing/apply-event.ts';
import { evidenceOf } from '../../unit/billing/delivery.ts';
import { day, item, itemList, stripeEvent, subscription } from '../../unit/billing/stripe-fixtures.ts';
import { extraLine, invoice, line, linesOf, parentOf } from '../../unit/billing/stripe-invoices.ts';
import { useWorld } from '../generations/use-world.ts';
import { identity, newCommand, run } from '../generations/world.ts';

const world = useWorld();
const rules = {
  prices: {
    price_1: { creditsPerMonth: 1, foundingCatalog: true },
    price_9: { creditsPerMonth: 9, foundingCatalog: true },
  },
  pastDueGraceDays: 7,
};

/** A subscription of a test's own, made two days ago, and the images that its license makes when asked. */
async function subscribe(id: string) {
  const start = Math.floor(Date.now() / 1000) - 2 * day;
  const state = { anchor: start, price: 'price_1' };
  const apply = (event: Parameters<typeof evidenceOf>[0]) =>
    applyBillingEvidence(evidenceOf(event)!, { subscriptions: subscriptionStore(world.table), rules });
  const present = () => {
    const items = itemList([item(state.price, state.anchor + 30 * day, 1)]);
    return subscription({ id, created: start, billing_cycle_anchor: state.anchor, items });
  };
  const change = async (at: number, to: Partial<typeof state>) => {
    const { billing_cycle_anchor, items } = present();
    Object.assign(state, to);
    const previous = { billing_cycle_anchor, items };
    await apply(stripeEvent('customer.subscription.updated', present(), { created: at, previous }));
  };
  const pay = (at: number, ...lines: ReturnType<typeof line>[]) =>
    apply(
      stripeEvent('invoice.paid', invoice({ parent: parentOf(id), lines: linesOf(...lines) }), {
        created: at,
      }),
    );
  const images = async (asked: number) => {
    let made = 0;
    for (let i = 0; i < asked; i++) {
      const license = (await licenseStore(world.table).get(licenseIdOf(id)))!;
      const body = { identityId: identity.identityId, prompt: 'x', width: 512, height: 512 };
      const answer = await run(newCommand(world, { license, body }), world.deps).catch(
        (error: unknown) => error,
      );
      if ('outputs' in (answer as object)) made += 1;
      else expect(answer).toMatchObject({ code: 'CREDIT_LIMIT_EXCEEDED' });
    }
    return made;
  };
  await apply(stripeEvent('customer.subscription.created', present(), { created: start }));
  return { start, state, change, pay, images };
}

test('a license of 1 credit makes 1 image, however often its anchor moves', async () => {
  const { start, change, pay, images } = await subscribe('sub_moving');
  const made = [await images(2)];
  for (const hours of [1, 2, 3]) {
    const at = start + hours * 3600;
    await change(at, { anchor: at });
    made.push(await images(2));
  }
  expect(made).toEqual([1, 0, 0, 0]);
  const at = start + 3 * 3600;
  await pay(at + 1, line(at + 30 * day, { period: { start: at, end: at + 30 * day } }));
  expect(await images(2)).toBe(1);
});

test('upgrade, spend, downgrade: only what was paid is made', async () => {
  const { start, change, pay, images } = await subscribe('sub_upgrading');
  await change(start + 3600, { price: 'price_9' });
  expect(await images(3)).toBe(1);
  await change(start + 7200, { price: 'price_1' });
  expect(await images(1)).toBe(0);
  await change(start + 10_800, { price: 'price_9' });
  const end = start + 30 * day;
  const [back, more] = ['price_1', 'price_9'].map((price) => {
    const part = extraLine(end, price === 'price_1' ? -100 : 900, true);
    const pricing = { ...part.pricing!, price_details: { price, product: 'prod' } };
    return { ...part, pricing, period: { start: start + 10_800, end } };
  });
  await pay(start + 10_801, back!, more!);
  // 8 more for all of the month but three hours. One was made before.
  expect(await images(9)).toBe(7);
  await change(start + 14_400, { price: 'price_1' });
  expect(await images(1)).toBe(0);
});
