import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { licenseIdOf } from '../../../shared/billing/subscription-license.ts';
import { periodStore } from '../../../shared/licenses/period-store.ts';
import { auditStore } from '../../../shared/accounts/audit-store.ts';
import {
  day,
  end,
  eventsOf,
  items,
  ms,
  newSubscriptionId,
  t,
  type HandledEvent,
} from '../../unit/billing/stripe-fixtures.ts';
import { prices, useBilling } from './fixture.ts';
import { runs } from '../../support/runs.ts';

const billing = useBilling();

/** A subscription of a test's own: its events, its license, what is remembered of it. */
function newSubscription() {
  const id = newSubscriptionId();
  const licenseId = licenseIdOf(id);
  return {
    ...eventsOf(id),
    licenseId,
    license: () => billing.licenses.get(licenseId),
    stored: () => billing.subscriptions.get(licenseId),
    audited: async () => (await auditStore(billing.table).listPage({ licenseId }, 10, null)).entries,
  };
}

describe('a life of a subscription', () => {
  test('makes a license, changes it, suspends it, renews it and ends it', async () => {
    const { license, ...sub } = newSubscription();
    expect(await billing.apply(sub.created(t, { status: 'incomplete' }))).toBe('applied');
    expect(await license()).toMatchObject({ status: 'past_due', tier: 'pro', apiAccess: true });
    await billing.apply(sub.updated(t + 2, { items: items('price_starter') }));
    expect(await license()).toMatchObject({ status: 'active', tier: 'starter', creditsLimit: 500 });
    await billing.apply(sub.failed(t + 3));
    expect(await license()).toMatchObject({ status: 'past_due' });
    await billing.apply(sub.paid(t + 4, end + 30 * day));
    expect(await license()).toMatchObject({ status: 'active', activeUntilMs: ms(end + 33 * day) });
    const over = { status: 'ended', activeUntilMs: ms(t + 5) };
    await billing.apply(sub.deleted(t + 5));
    expect(await license()).toMatchObject(over);
    expect(await billing.apply(sub.paid(t + 6))).toBe('applied');
    expect(await license()).toMatchObject(over);
  });

  test('leaves with a count that went on when it ended, once another has begun', async () => {
    const { license, licenseId, ...sub } = newSubscription();
    const periods = () => periodStore(billing.table).list(licenseId);
    await billing.apply(sub.created(t));
    const anchor = { billing_cycle_anchor: t + 20 * day };
    await billing.apply(sub.updated(t + 20 * day, anchor, { billing_cycle_anchor: t }));
    const { startMs, endMs } = (await license())!.carried!;
    expect(endMs).toBeGreaterThan(ms(end + 10 * day));
    expect(await periods()).toEqual([]);
    await billing.apply(
      sub.updated(t + 60 * day, { ...anchor, items: items('price_starter', t + 90 * day) }),
    );
    expect((await license())!.carried).not.toMatchObject({ startMs });
    expect(await periods()).toMatchObject([{ startMs, endMs }]);
  });

  test('lifts no suspension of the operator’s, whatever is paid, changed or ended', async () => {
    const { license, licenseId, ...sub } = newSubscription();
    await billing.apply(sub.created(t));
    const suspended = { atMs: 7, reason: 'Chargeback' };
    await billing.licenses.update(licenseId, { suspended });
    for (const [event, status] of [
      [sub.failed(t + 1), 'past_due'],
      [sub.paid(t + 2, end + 30 * day), 'active'],
      [sub.updated(t + 3, { items: items('price_starter') }), 'active'],
      [sub.deleted(t + 4), 'ended'],
    ] as const) {
      await billing.apply(event);
      expect(await license()).toMatchObject({ status, suspended });
    }
  });

  test('has an entry in the audit log for each event that changed its license, repeated or not', async () => {
    const sub = newSubscription();
    const events = [sub.created(t), sub.updated(t + 1, { items: items('price_starter') })];
    for (const event of [...events, ...events]) await billing.apply(event);
    expect((await sub.audited()).toReversed()).toMatchObject([
      { by: `billing:${events[0]!.id}`, action: 'license_granted' },
      {
        by: `billing:${events[1]!.id}`,
        action: 'license_changed',
        changes: expect.arrayContaining([{ member: 'tier', from: 'pro', to: 'starter' }]),
      },
    ]);
  });

  test('names its license after the plan, unless the operator names it, and the audit log says who did', async () => {
    const { licenseId, license, ...sub } = newSubscription();
    await billing.apply(sub.created(t));
    expect(await license()).toMatchObject({ givenName: null, planName: 'Studio' });
    await billing.licenses.update(licenseId, { givenName: 'Labs', apiAccess: false });
    await billing.apply(sub.updated(t + 1, { items: items('price_identity') }));
    expect(await license()).toMatchObject({ givenName: 'Labs', planName: 'Atelier' });
    await billing.apply(sub.updated(t + 2, { items: items('price_starter') }));
    expect(await license()).toMatchObject({ givenName: 'Labs', planName: null });
    const ofNames = (await sub.audited()).map(({ by, changes }) => [
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
    await billing.apply(sub.created(t, { metadata }));
    await billing.apply(sub.updated(t + 1, { metadata, status: 'past_due' }));
    const listed = await billing.licenses.listByOwner(metadata.ownerId);
    expect(listed.map((one) => [one.licenseId, one.status])).toEqual([[licenseId, 'past_due']]);
  });
});

test('an event whose write breaks off after it was done is found done when it comes again', async () => {
  const sub = newSubscription();
  billing.fail('after', new Error('socket hang up'));
  const event = sub.created(t);
  await expect(billing.apply(event)).rejects.toThrow('socket hang up');
  const before = await sub.stored();
  expect(before.license).toMatchObject({ status: 'active' });
  expect(await billing.apply(event)).toBe('unchanged');
  expect(await sub.stored()).toEqual(before);
});

describe('at the same time', () => {
  test('the operator switches API access off, names it and changes other members: switch and name stay, the rest is billing’s', async () => {
    const sub = newSubscription();
    await billing.apply(sub.created(t));
    const members = { apiAccess: false, givenName: 'Labs' };
    billing.meanwhile(() => billing.licenses.update(sub.licenseId, { ...members, creditsLimit: 1 }));
    await billing.apply(sub.updated(t + 1, { items: items('price_starter') }));
    expect(await sub.license()).toMatchObject({ ...members, tier: 'starter', creditsLimit: 500 });
  });

  test.each(['paid', 'updated', 'deleted'] as const)(
    'the operator ends a license of which an event (%s) comes: it stays as the operator left it',
    async (what) => {
      const sub = newSubscription();
      await billing.apply(sub.created(t));
      const ended = { status: 'ended', activeUntilMs: ms(t + 1) } as const;
      billing.meanwhile(() => billing.licenses.update(sub.licenseId, ended));
      await billing.apply(sub[what](t + 2));
      expect(await sub.license()).toMatchObject(ended);
    },
  );

  test('what was read before another event was stored is not written, for the first event and for later ones', async () => {
    const sub = newSubscription();
    const { subscriptions } = billing;
    const unseen = await sub.stored();
    const put = (read: typeof unseen) => subscriptions.put(sub.licenseId, read, unseen, 'billing:evt_1');
    expect([await put(unseen), await put(unseen)]).toEqual([true, false]);
    const seen = await sub.stored();
    expect([await put(seen), await put(seen)]).toEqual([true, false]);
    expect((await sub.stored()).version).toBe(2);
    expect(await sub.audited()).toEqual([]);
  });

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
        await Promise.all([...events, ...events.slice(0, 3)].map((one) => billing.apply(one)));
        const atOnce = await sub.stored();
        // The same events, one after the other, to a subscription that nobody has seen.
        const again = newSubscription();
        const text = JSON.stringify(events).replaceAll(sub.licenseId.slice(4), again.licenseId.slice(4));
        for (const one of JSON.parse(text)) await billing.apply(one);
        const inOrder = await again.stored();
        expect(atOnce.license).toEqual({ ...inOrder.license, licenseId: sub.licenseId });
        expect(atOnce.license).not.toBeNull();
      }),
      { numRuns: runs(4) },
    );
  });
});
