import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { licenseIdOf } from '../../../shared/billing/subscription-license.ts';
import { auditStore } from '../../../shared/accounts/audit-store.ts';
import { end, items, ms, t } from '../../unit/billing/life.ts';
import {
  day,
  newSubscriptionId,
  ownerId,
  stripeEvent,
  subscription,
  type HandledEvent,
} from '../../unit/billing/stripe-fixtures.ts';
import { invoice, line, linesOf, parentOf } from '../../unit/billing/stripe-invoices.ts';
import { prices, useBilling } from './fixture.ts';

const world = useBilling();

/** A subscription of a test's own: its events, its license, what is remembered of it. */
function newSubscription() {
  const id = newSubscriptionId();
  const licenseId = licenseIdOf(id);
  type Changes = Parameters<typeof subscription>[0];
  const bill = (until: number) => invoice({ parent: parentOf(id), lines: linesOf(line(until)) });
  return {
    licenseId,
    created: (at: number, changes: Changes = {}) =>
      stripeEvent('customer.subscription.created', subscription({ id, ...changes }), { created: at }),
    updated: (at: number, changes: Changes = {}) =>
      stripeEvent('customer.subscription.updated', subscription({ id, ...changes }), { created: at }),
    deleted: (at: number) =>
      stripeEvent('customer.subscription.deleted', subscription({ id, status: 'canceled', ended_at: at }), {
        created: at,
      }),
    paid: (at: number, until = end) => stripeEvent('invoice.paid', bill(until), { created: at }),
    failed: (at: number, until = end) => stripeEvent('invoice.payment_failed', bill(until), { created: at }),
    license: () => world.licenses.get(licenseId),
    stored: () => world.subscriptions.get(licenseId),
  };
}

describe('a life of a subscription', () => {
  test('makes a license, changes it, suspends it, renews it and ends it', async () => {
    const { licenseId, license, ...sub } = newSubscription();
    expect(await world.apply(sub.created(t, { status: 'incomplete' }))).toBe('applied');
    expect(await license()).toMatchObject({
      licenseId,
      ownerId,
      status: 'past_due',
      tier: 'pro',
      apiAccess: true,
    });
    await world.apply(sub.paid(t + 1));
    expect(await license()).toMatchObject({ status: 'active', activeUntilMs: ms(end + 3 * day) });
    await world.apply(sub.updated(t + 2, { items: items('price_starter') }));
    expect(await license()).toMatchObject({ tier: 'starter', creditsLimit: 500, foundingCatalog: false });
    await world.apply(sub.failed(t + 3));
    expect(await license()).toMatchObject({ status: 'past_due' });
    await world.apply(sub.paid(t + 4, end + 30 * day));
    expect(await license()).toMatchObject({ status: 'active', activeUntilMs: ms(end + 33 * day) });
    await world.apply(sub.deleted(t + 5));
    expect(await license()).toMatchObject({ status: 'ended', activeUntilMs: ms(t + 5) });
    expect(await world.apply(sub.paid(t + 6))).toBe('applied');
    expect(await license()).toMatchObject({ status: 'ended', activeUntilMs: ms(t + 5) });
  });

  test('tells which events made and changed its license', async () => {
    const { licenseId, ...sub } = newSubscription();
    const events = [sub.created(t), sub.updated(t + 1, { items: items('price_starter') })];
    for (const event of [...events, ...events]) await world.apply(event);
    const { entries } = await auditStore(world.table).listPage({ licenseId }, 10, null);
    expect(entries.toReversed()).toMatchObject([
      { by: `billing:${events[0]!.id}`, action: 'license_granted' },
      {
        by: `billing:${events[1]!.id}`,
        action: 'license_changed',
        changes: expect.arrayContaining([{ member: 'tier', from: 'pro', to: 'starter' }]),
      },
    ]);
  });

  test('names its license after the plan, unless the operator names it: that name stays, and nobody else is told to have taken it', async () => {
    const { licenseId, license, ...sub } = newSubscription();
    await world.apply(sub.created(t));
    expect(await license()).toMatchObject({ givenName: null, planName: 'Studio' });
    await world.licenses.update(licenseId, { givenName: 'Labs', apiAccess: false });
    await world.apply(sub.updated(t + 1, { items: items('price_identity') }));
    expect(await license()).toMatchObject({ givenName: 'Labs', planName: 'Atelier' });
    await world.apply(sub.updated(t + 2, { items: items('price_starter') }));
    expect(await license()).toMatchObject({ givenName: 'Labs', planName: null });
    const { entries } = await auditStore(world.table).listPage({ licenseId }, 10, null);
    const ofNames = entries.map(({ by, changes }) => [
      by.slice(0, by.indexOf(':')),
      ...changes.filter(({ member }) => /name|access/i.test(member)).map(({ member, to }) => [member, to]),
    ]);
    expect(ofNames).toEqual([
      ['billing', ['planName', null]],
      ['billing', ['planName', 'Atelier']],
      ['operator', ['name', 'Labs'], ['apiAccess', false]],
      ['billing', ['planName', 'Studio'], ['apiAccess', true]],
    ]);
  });

  test('lists its license under its owner, once', async () => {
    const { licenseId, ...sub } = newSubscription();
    const metadata = { ownerId: `owner-of-${licenseId}` };
    await world.apply(sub.created(t, { metadata }));
    await world.apply(sub.updated(t + 1, { metadata, status: 'past_due' }));
    const listed = await world.licenses.listByOwner(metadata.ownerId);
    expect(listed.map((one) => [one.licenseId, one.status])).toEqual([[licenseId, 'past_due']]);
  });
});

describe('an event', () => {
  test('that is repeated writes nothing', async () => {
    const sub = newSubscription();
    const events = [sub.created(t), sub.paid(t + 1), sub.failed(t + 2)];
    for (const event of events) expect(await world.apply(event)).toBe('applied');
    const before = await sub.stored();
    for (const event of events) expect(await world.apply(event)).toBe('unchanged');
    expect(await sub.stored()).toEqual(before);
  });

  test('whose write breaks off after it was done is found done when it comes again', async () => {
    const sub = newSubscription();
    world.fail('after', new Error('socket hang up'));
    const event = sub.created(t);
    await expect(world.apply(event)).rejects.toThrow('socket hang up');
    const before = await sub.stored();
    expect(before.license).toMatchObject({ status: 'active' });
    expect(await world.apply(event)).toBe('unchanged');
    expect(await sub.stored()).toEqual(before);
  });
});

describe('at the same time', () => {
  test('the operator switches API access off, names it and changes other members: switch and name stay, the rest is billing’s', async () => {
    const sub = newSubscription();
    await world.apply(sub.created(t));
    const members = { apiAccess: false, givenName: 'Labs' };
    world.meanwhile(() => world.licenses.update(sub.licenseId, { ...members, creditsLimit: 1 }));
    await world.apply(sub.updated(t + 1, { items: items('price_starter') }));
    expect(await sub.license()).toMatchObject({ ...members, tier: 'starter', creditsLimit: 500 });
    await world.apply(sub.deleted(t + 2));
    expect(await sub.license()).toMatchObject({ apiAccess: false, status: 'ended' });
  });

  test.each([
    ['renewed', 'paid'],
    ['changed', 'updated'],
    ['ended by Stripe', 'deleted'],
  ] as const)(
    'the operator ends a license that is being %s: it stays as the operator left it',
    async (_, what) => {
      const sub = newSubscription();
      await world.apply(sub.created(t));
      const ended = { status: 'ended', activeUntilMs: ms(t + 1) } as const;
      world.meanwhile(() => world.licenses.update(sub.licenseId, ended));
      await world.apply(sub[what](t + 2));
      const left = await sub.license();
      expect(left).toMatchObject(ended);
      for (const event of [sub.updated(t + 3), sub.paid(t + 4), sub.deleted(t + 5), sub.updated(t + 6)]) {
        await world.apply(event);
        expect(await sub.license()).toEqual(left);
      }
    },
  );

  test('however the events of a life are handled at once, one license comes out of them', async () => {
    const kinds = ['created', 'updated', 'updated', 'paid', 'failed', 'deleted'] as const;
    const event = fc.record({
      what: fc.constantFrom(...kinds),
      at: fc.integer({ min: t, max: t + 4 }),
      status: fc.constantFrom('active', 'past_due', 'trialing', 'unpaid'),
      price: fc.constantFrom(...Object.keys(prices)),
    });
    const make = (sub: ReturnType<typeof newSubscription>, { what, at, status, price }: any): HandledEvent =>
      what === 'created' || what === 'updated'
        ? sub[what as 'created'](at, { status, items: items(price) })
        : sub[what as 'paid'](at);
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 2, maxLength: 8 }), async (life) => {
        const sub = newSubscription();
        const events = [sub.created(t - 1), ...life.map((one) => make(sub, one))];
        await Promise.all([...events, ...events.slice(0, 3)].map((one) => world.apply(one)));
        const atOnce = await sub.stored();
        // The same events, one after the other, to a subscription that nobody has seen.
        const again = newSubscription();
        const text = JSON.stringify(events).replaceAll(sub.licenseId.slice(4), again.licenseId.slice(4));
        for (const one of JSON.parse(text)) await world.apply(one);
        const inOrder = await again.stored();
        expect(atOnce.license).toEqual({ ...inOrder.license, licenseId: sub.licenseId });
        expect(atOnce.license).not.toBeNull();
      }),
      { numRuns: 15 },
    );
  }, 60_000);
});
