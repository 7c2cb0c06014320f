import { beforeAll, describe, expect, test } from '@jest/globals';
import { handler as sweep } from '../../../functions/sweep.ts';
import { listUnbound } from '../../../shared/billing/unbound.ts';
import { environmentVariables } from '../../../shared/base/config.ts';
import { day, eventsOf, items, newSubscriptionId, ownerId, t } from '../../unit/billing/stripe-fixtures.ts';
import { useBilling, useFunction } from './fixture.ts';

const billing = useBilling();
const { lines } = useFunction(() => billing.table.name);
beforeAll(() => {
  process.env[environmentVariables.bucketName] = 'no-such-bucket';
});

const another = '0e5c9f6e-6f5b-4f5f-9d9e-0a51d1d1f0aa';
const unowned = { metadata: {} };
const hourMs = 60 * 60 * 1000;

/** A subscription that was bought by a payment link: its metadata name nobody. */
function bought() {
  const id = newSubscriptionId();
  const { created, updated, ...events } = eventsOf(id);
  const licenseId = `lic_${id}`;
  return {
    ...events,
    licenseId,
    created: (at: number, changes = {}) => created(at, { ...unowned, ...changes }),
    updated: (at: number, changes = {}) => updated(at, { ...unowned, ...changes }),
    license: () => billing.licenses.get(licenseId),
    isListedAt: async (atMs: number) => (await listUnbound(billing.table, atMs)).includes(licenseId),
  };
}

/** Every order of these. */
function ordersOf<T>(all: T[]): T[][] {
  if (all.length < 2) return [all];
  return all.flatMap((first, i) => ordersOf(all.toSpliced(i, 1)).map((others) => [first, ...others]));
}

describe('a subscription whose metadata name no owner', () => {
  test('becomes the account’s that opened its checkout, whatever the order of the events, each delivered twice', async () => {
    for (const order of ordersOf(['created', 'updated', 'paid', 'bought'] as const)) {
      const sub = bought();
      const at = { created: t, updated: t + 2, paid: t + 1, bought: t + 1 };
      const events = order.map((what) => sub[what](at[what]));
      for (const event of events) expect(await billing.apply(event)).toBe('applied');
      for (const event of events) expect(await billing.apply(event)).toBe('unchanged');
      expect(await sub.license()).toMatchObject({ ownerId, status: 'active', tier: 'pro' });
      const listed = await billing.licenses.listByOwner(ownerId);
      expect(listed.filter(({ licenseId }) => licenseId === sub.licenseId)).toHaveLength(1);
    }
  });

  test('is kept without a license until somebody owns it, and what happened meanwhile counts then', async () => {
    const sub = bought();
    await billing.apply(sub.created(t, { status: 'incomplete' }));
    await billing.apply(sub.updated(t + 1, { items: items('price_starter') }));
    await billing.apply(sub.failed(t + 2));
    expect(await sub.license()).toBeNull();
    await billing.apply(sub.bought(t + 3));
    expect(await sub.license()).toMatchObject({ ownerId, status: 'past_due', tier: 'starter' });
  });

  test('is bound by the operator’s word too, which counts before a checkout’s', async () => {
    const metadata = { ownerId: another };
    for (const order of ordersOf(['created', 'bought'] as const)) {
      const sub = bought();
      for (const what of order) await billing.apply(sub[what](t, what === 'created' ? { metadata } : {}));
      expect(await sub.license()).toMatchObject({ ownerId: another });
    }
    const sub = bought();
    await billing.apply(sub.created(t));
    await billing.apply(sub.updated(t + 1, { metadata }));
    expect(await sub.license()).toMatchObject({ ownerId: another });
  });

  test('is never bound again', async () => {
    const sub = bought();
    await billing.apply(sub.created(t));
    await billing.apply(sub.bought(t + 1));
    await billing.apply(sub.bought(t, { client_reference_id: another }));
    await expect(billing.apply(sub.updated(t + 2, { metadata: { ownerId: another } }))).rejects.toMatchObject(
      {
        reason: 'owner_changed',
      },
    );
    await billing.apply(sub.updated(t + 3, { items: items('price_starter') }));
    expect(await sub.license()).toMatchObject({ ownerId, tier: 'starter' });
    expect(await billing.licenses.listByOwner(another)).not.toContainEqual(
      expect.objectContaining({ licenseId: sub.licenseId }),
    );
  });

  test('stays its license’s owner’s, also where it was stored before owners were', async () => {
    const sub = bought();
    await billing.apply(sub.created(t, { metadata: { ownerId } }));
    const read = await billing.subscriptions.get(sub.licenseId);
    const { owner: _, ...before } = read.registers;
    const stored = { ...read, registers: before as typeof read.registers };
    expect(await billing.subscriptions.put(sub.licenseId, read, stored, 'billing:evt_1')).toBe(true);
    await billing.apply(sub.updated(t + 1, { items: items('price_starter') }));
    expect(await sub.license()).toMatchObject({ ownerId, tier: 'starter' });
  });

  test('of two checkouts at once is one account’s', async () => {
    const sub = bought();
    await billing.apply(sub.created(t));
    const both = [ownerId, another].map((reference) => sub.bought(t + 1, { client_reference_id: reference }));
    await Promise.all(both.map((event) => billing.apply(event)));
    const first = (await sub.license())!.ownerId;
    for (const event of both) await billing.apply(event);
    expect((await sub.license())!.ownerId).toBe(first);
  });
});

describe('an hour after a subscription came that nobody owns', () => {
  test('it is listed, and no later for what happens to it, until somebody owns it', async () => {
    const sub = bought();
    const beforeMs = Date.now();
    await billing.apply(sub.created(t));
    expect(await sub.isListedAt(beforeMs + hourMs)).toBe(false);
    const afterMs = Date.now();
    await billing.apply(sub.updated(t + day));
    expect(await sub.isListedAt(afterMs + hourMs + 1)).toBe(true);
    await billing.apply(sub.bought(t + 1));
    expect(await sub.isListedAt(Number.MAX_SAFE_INTEGER)).toBe(false);
    await billing.apply(sub.updated(t + 2 * day));
    expect(await sub.isListedAt(Number.MAX_SAFE_INTEGER)).toBe(false);
  });

  test('it is not listed where its first payment never came, or once it has ended', async () => {
    const sub = bought();
    await billing.apply(sub.created(t, { status: 'incomplete' }));
    expect(await sub.isListedAt(Number.MAX_SAFE_INTEGER)).toBe(false);
    await billing.apply(sub.updated(t + 1));
    expect(await sub.isListedAt(Number.MAX_SAFE_INTEGER)).toBe(true);
    await billing.apply(sub.deleted(t + 2, unowned));
    expect(await sub.isListedAt(Number.MAX_SAFE_INTEGER)).toBe(false);
  });

  test('the sweep reports it as a metric, and names the license that it would have', async () => {
    const [sub, now] = [bought(), Date.now];
    const quiet = bought();
    await billing.apply(sub.created(t));
    Date.now = () => now() + hourMs + 1000;
    try {
      await billing.apply(quiet.created(t));
      await sweep();
    } finally {
      Date.now = now;
    }
    const line = lines.map((text) => JSON.parse(text)).find(({ message }) => message === 'sweep');
    expect(line.unbound).toContain(sub.licenseId);
    expect(line.unbound).not.toContain(quiet.licenseId);
    expect(line.UnboundSubscriptions).toBe(line.unbound.length);
  });
});
