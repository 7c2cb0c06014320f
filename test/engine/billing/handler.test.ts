import { writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { envelope } from '../../unit/billing/delivery.ts';
import {
  eventsOf,
  invoice,
  items,
  newSubscriptionId,
  ownerId,
  parentOf,
  personal,
  stripeEvent,
  t,
  type Changes,
} from '../../unit/billing/stripe-fixtures.ts';
import { prices, useBilling, useFunction } from './fixture.ts';

const billing = useBilling();
const { pricesFile, lines, send } = useFunction(() => billing.table.name);
beforeAll(() => writeFileSync(pricesFile, JSON.stringify(prices)));

const created = (id: string, changes: Changes = {}) => eventsOf(id).created(t, changes);

test('a record that fails is answered alone, and the others of its batch are applied', async () => {
  const [first, second] = [newSubscriptionId(), newSubscriptionId()];
  const { failed, logged } = await send(
    envelope(created(first)),
    'not JSON',
    envelope(created(newSubscriptionId(), { items: items('price_lost') })),
    envelope({ ...created(second), data: { object: { id: second } } }),
    envelope(created(second)),
  );
  expect(failed).toEqual([1, 2, 3]);
  for (const id of [first, second]) expect(await billing.licenses.get(`lic_${id}`)).not.toBeNull();
  expect(logged.map(({ level, outcome, reason }) => [level, outcome, reason])).toEqual([
    ['info', 'applied', undefined],
    ['error', 'failed', 'unreadable'],
    ['error', 'failed', 'unknown_price'],
    ['error', 'failed', 'unreadable'],
    ['info', 'applied', undefined],
  ]);
  expect(logged[2].sentence).toBe('The billing prices have no entry for "price_lost".');
});

test('an event that cuts off what is needed fails where there is no key of Stripe, and names what it is of', async () => {
  const [id, cutId] = [newSubscriptionId(), newSubscriptionId()];
  const cut = <T>(list: T) => ({ ...list, has_more: true });
  const whole = invoice({ parent: parentOf(id) });
  const shown = { ...whole, lines: cut(whole.lines) };
  const { failed, logged } = await send(
    envelope(created(id, { status: 'past_due' })),
    envelope(stripeEvent('invoice.paid', shown, { created: t + 1 })),
    envelope(stripeEvent('invoice.payment_failed', shown, { created: t + 2 })),
    envelope(created(cutId, { items: cut(items('price_pro')) })),
    envelope(stripeEvent('invoice.paid', { ...shown, parent: null })),
  );
  expect(failed).toEqual([1, 2, 3]);
  expect(logged.map(({ reason }) => reason)).toEqual([undefined, ...Array(3).fill('cut_off'), undefined]);
  const why = "cut off in the event, and there is no key of Stripe's to fetch them all.";
  expect(logged[1].sentence).toBe(`The lines of invoice ${whole.id} of ${id} are ${why}`);
  expect(logged[3].sentence).toBe(`The items of subscription ${cutId} are ${why}`);
  expect(await billing.licenses.get(`lic_${id}`)).toMatchObject({ status: 'past_due' });
  expect(await billing.licenses.get(`lic_${cutId}`)).toBeNull();
});

describe('each record has one line of log', () => {
  test('with what it was and what became of it, counted as a metric', async () => {
    const id = newSubscriptionId();
    const event = created(id);
    const { logged } = await send(
      envelope(event),
      envelope(event),
      envelope({ ...event, type: 'x.created' }),
    );
    const known = { level: 'info', message: 'billing event', service: 'billing-test', BillingEvents: 1 };
    const facts = { ...known, eventId: event.id, eventType: event.type };
    const ids = { subscriptionId: id, licenseId: `lic_${id}` };
    expect(logged).toMatchObject([
      { ...facts, ...ids, messageId: '0', outcome: 'applied' },
      { ...facts, ...ids, messageId: '1', outcome: 'unchanged' },
      { ...facts, messageId: '2', eventType: 'x.created', outcome: 'ignored' },
    ]);
  });

  test('and never a name, an address, a number, a link or an owner', async () => {
    const id = newSubscriptionId();
    const { logged } = await send(
      envelope(created(id)),
      envelope(eventsOf(id).paid(t + 1)),
      envelope(created(id, { status: personal[1] as never })),
      envelope(created(id, { metadata: { ownerId: 'another-owner' } })),
      envelope(eventsOf(id).bought(t, { client_reference_id: personal[1]! })),
      envelope(eventsOf(id).bought(t, { subscription: personal[1]! })),
      `{"detail": {"customer_name": "${personal[0]}"}}`,
    );
    const refused = ['failed', 'failed', 'ignored', 'failed', 'failed'];
    expect(logged.map(({ outcome }) => outcome)).toEqual(['applied', 'applied', ...refused]);
    for (const word of [...personal, ownerId, 'another-owner', 'cus_ada'])
      expect(lines.join('\n')).not.toContain(word);
  });
});

test('events of the other livemode are dropped and counted, whatever they say; one that does not say which fails', async () => {
  const id = newSubscriptionId();
  const real = { ...created(id), livemode: true };
  const { failed, logged } = await send(
    envelope(real),
    envelope({ ...real, data: { object: null } }),
    envelope({ ...real, livemode: undefined }),
  );
  expect(failed).toEqual([2]);
  const dropped = { level: 'info', outcome: 'other_mode', eventId: real.id, BillingEvents: 1 };
  expect(logged).toMatchObject([dropped, dropped, { outcome: 'failed', reason: 'unreadable' }]);
  expect(await billing.subscriptions.get(`lic_${id}`)).toMatchObject({ license: null, version: 0 });
});
