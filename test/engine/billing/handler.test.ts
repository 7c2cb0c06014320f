import { rmSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { handler } from '../../../functions/billing-events.ts';
import { envelope, older, sqsRecord } from '../../unit/billing/delivery.ts';
import { end, ms, t } from '../../unit/billing/life.ts';
import {
  day,
  item,
  itemList,
  newSubscriptionId,
  ownerId,
  personal,
  stripeEvent,
  subscription,
} from '../../unit/billing/stripe-fixtures.ts';
import { invoice, parentOf } from '../../unit/billing/stripe-invoices.ts';
import { prices, useBilling, useFunction } from './fixture.ts';

const world = useBilling();
const { pricesFile, lines } = useFunction(() => world.table.name);
beforeAll(() => writeFileSync(pricesFile, JSON.stringify(prices)));

/** Sends a batch whose records are named by their place. @returns those that failed, and what was logged. */
async function send(...bodies: string[]) {
  const answer = await handler({ Records: bodies.map((body, i) => sqsRecord(`m${i}`, body)) });
  return { failed: answer.batchItemFailures, logged: lines.map((line) => JSON.parse(line)) };
}

const created = (id: string, changes: Parameters<typeof subscription>[0] = {}) =>
  stripeEvent('customer.subscription.created', subscription({ id, ...changes }), { created: t });
const paid = (id: string) =>
  stripeEvent('invoice.paid', invoice({ parent: parentOf(id) }), { created: t + 1 });

test('a subscription and its invoice make a license, in both shapes of the API', async () => {
  const [id, oldId] = [newSubscriptionId(), newSubscriptionId()];
  const incomplete = { status: 'incomplete' };
  const { failed } = await send(
    envelope(paid(id)),
    envelope(created(id, incomplete)),
    envelope(older(created(oldId, incomplete)) as any),
    envelope(older(paid(oldId)) as any),
  );
  expect(failed).toEqual([]);
  const expected = {
    ownerId,
    tier: 'pro',
    creditsLimit: 4000,
    foundingCatalog: true,
    identityIds: [],
    apiAccess: true,
    status: 'active',
    activeUntilMs: ms(end + 3 * day),
  };
  expect(await world.licenses.get(`lic_${id}`)).toMatchObject(expected);
  expect(await world.licenses.get(`lic_${oldId}`)).toMatchObject(expected);
});

test('a record that fails is answered alone, and the others of its batch are applied', async () => {
  const [first, second, third] = [newSubscriptionId(), newSubscriptionId(), newSubscriptionId()];
  const unknown = created(newSubscriptionId(), { items: itemList([item('price_lost', end, 1)]) });
  const { failed, logged } = await send(
    envelope(created(first)),
    'not JSON',
    envelope(unknown),
    envelope(created(second)),
    envelope({ ...created(third), data: { object: { id: third } } } as any),
    envelope(created(newSubscriptionId(), { metadata: {} })),
    envelope(created(third)),
  );
  expect(failed).toEqual(['m1', 'm2', 'm4', 'm5'].map((itemIdentifier) => ({ itemIdentifier })));
  for (const id of [first, second, third]) expect(await world.licenses.get(`lic_${id}`)).not.toBeNull();
  expect(logged.map(({ level, outcome, reason }) => [level, outcome, reason])).toEqual([
    ['info', 'applied', undefined],
    ['error', 'failed', 'unreadable'],
    ['error', 'failed', 'unknown_price'],
    ['info', 'applied', undefined],
    ['error', 'failed', 'unreadable'],
    ['error', 'failed', 'owner_missing'],
    ['info', 'applied', undefined],
  ]);
  expect(logged[2].sentence).toBe('The billing prices have no entry for "price_lost".');
});

test('an event that cuts off what is needed fails where there is no key of Stripe, and names what it is of', async () => {
  const [id, cutId] = [newSubscriptionId(), newSubscriptionId()];
  const whole = invoice({ parent: parentOf(id) });
  const cut = <T>(list: T) => ({ ...list, has_more: true });
  const { failed, logged } = await send(
    envelope(created(id, { status: 'past_due' })),
    envelope(stripeEvent('invoice.paid', { ...whole, lines: cut(whole.lines) }, { created: t + 1 })),
    envelope(
      stripeEvent('invoice.payment_failed', { ...whole, lines: cut(whole.lines) }, { created: t + 2 }),
    ),
    envelope(created(cutId, { items: cut(itemList([item('price_pro', end, 1)])) })),
    envelope(stripeEvent('invoice.paid', invoice({ parent: null, lines: cut(whole.lines) }))),
  );
  expect(failed.map(({ itemIdentifier }) => itemIdentifier)).toEqual(['m1', 'm2', 'm3']);
  expect(logged.map(({ reason }) => reason)).toEqual([undefined, ...Array(3).fill('cut_off'), undefined]);
  const why = "cut off in the event, and there is no key of Stripe's to fetch them all.";
  expect(logged[1].sentence).toBe(`The lines of invoice ${whole.id} of ${id} are ${why}`);
  expect(logged[3].sentence).toBe(`The items of subscription ${cutId} are ${why}`);
  expect(await world.licenses.get(`lic_${id}`)).toMatchObject({ status: 'past_due' });
  expect(await world.licenses.get(`lic_${cutId}`)).toBeNull();
});

describe('each record has one line of log', () => {
  test('with what it was and what became of it, counted as a metric', async () => {
    const id = newSubscriptionId();
    const event = created(id);
    const { logged } = await send(
      envelope(event),
      envelope(event),
      envelope({
        id: 'evt_other',
        type: 'customer.created',
        created: t,
        livemode: false,
        data: { object: {} },
      } as any),
    );
    const known = { level: 'info', message: 'billing event', service: 'billing-test', BillingEvents: 1 };
    const facts = { eventId: event.id, eventType: event.type, subscriptionId: id, licenseId: `lic_${id}` };
    expect(logged).toEqual([
      expect.objectContaining({ ...known, ...facts, messageId: 'm0', outcome: 'applied' }),
      expect.objectContaining({ ...known, ...facts, messageId: 'm1', outcome: 'unchanged' }),
      expect.objectContaining({
        ...known,
        messageId: 'm2',
        eventType: 'customer.created',
        outcome: 'ignored',
      }),
    ]);
  });

  test('and never a name, an address, a number, a link or an owner', async () => {
    const id = newSubscriptionId();
    const hostile = created(id, { status: personal[1]! });
    const { logged } = await send(
      envelope(created(id)),
      envelope(paid(id)),
      envelope(hostile),
      envelope(created(id, { metadata: { ownerId: personal[1]! } })),
      envelope(created(id, { metadata: { ownerId: 'another-owner' } })),
      `{"detail": {"customer_name": "${personal[0]}"}}`,
    );
    expect(logged).toHaveLength(6);
    expect(logged.map(({ outcome }) => outcome)).toEqual(['applied', 'applied', ...Array(4).fill('failed')]);
    for (const word of [...personal, ownerId, 'another-owner', 'cus_ada']) {
      expect(lines.join('\n')).not.toContain(word);
    }
  });
});

test('events of the other livemode are dropped and counted, whatever they say; one that does not say which fails', async () => {
  const id = newSubscriptionId();
  const real = { ...created(id), livemode: true };
  const { failed, logged } = await send(
    envelope(real),
    envelope({ ...real, data: { object: null } } as any),
    envelope({ ...real, livemode: undefined } as any),
  );
  expect(failed).toEqual([{ itemIdentifier: 'm2' }]);
  expect(logged.map(({ level, outcome, reason, eventId }) => [level, outcome, reason, eventId])).toEqual([
    ['info', 'other_mode', undefined, real.id],
    ['info', 'other_mode', undefined, real.id],
    ['error', 'failed', 'unreadable', undefined],
  ]);
  expect(logged[0]).toMatchObject({ BillingEvents: 1, outcome: 'other_mode' });
  expect(await world.subscriptions.get(`lic_${id}`)).toMatchObject({ license: null, version: 0 });
});

test('the prices are read once', async () => {
  await send(envelope(created(newSubscriptionId())));
  rmSync(pricesFile);
  const { failed } = await send(envelope(created(newSubscriptionId())));
  expect(failed).toEqual([]);
});
