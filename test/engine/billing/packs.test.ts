import { writeFileSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type Stripe from 'stripe';
import { environmentVariables } from '../../../shared/base/config.ts';
import { newId as newOwnId } from '../../../shared/base/ids.ts';
import { parseRawEvent } from '../../../shared/billing/event.ts';
import { applyPackEvidence, readPackEvent } from '../../../shared/billing/pack.ts';
import { listExtraCredits } from '../../../shared/licenses/extra-credits-store.ts';
import { newLicense } from '../../../shared/licenses/new-license.ts';
import { envelope } from '../../unit/billing/delivery.ts';
import { ms, packOf, personal, t } from '../../unit/billing/stripe-fixtures.ts';
import { prices, useBilling, useFunction } from './fixture.ts';

const billing = useBilling();
const { pricesFile, lines, send } = useFunction(() => billing.table.name);
let licenseId: string;

beforeAll(() => {
  writeFileSync(pricesFile, JSON.stringify(prices));
  process.env[environmentVariables.billingPacks] = JSON.stringify({ large: 1000 });
});
beforeEach(async () => {
  const license = newLicense({ ownerId: 'owner', tier: 'pro', creditsLimit: 10 }, ms(t));
  licenseId = license.licenseId;
  await billing.licenses.insert(license, 'operator:test');
});

/** The events of one purchase of 1000 credits, as they lie in the queue. */
function purchase(changes: Partial<Stripe.Checkout.Session> = {}) {
  const { bought, refunded } = packOf(licenseId, 'large', changes);
  return {
    completed: envelope(bought()),
    completedUnpaid: envelope(bought('completed', 'unpaid')),
    completedFree: envelope(bought('completed', 'no_payment_required')),
    paidLater: envelope(bought('async_payment_succeeded')),
    refunded: (cents: number, more?: object) => envelope(refunded(cents, more)),
  };
}

const balances = async (of = licenseId) =>
  (await listExtraCredits(billing.table, of)).map(({ left }) => left);
async function outcomes(...bodies: string[]) {
  const { logged } = await send(...bodies);
  return logged.slice(-bodies.length).map(({ outcome, reason }) => reason ?? outcome);
}

describe('a pack that is paid at its checkout', () => {
  test('adds its credits to the license that it was bought for, once, for twelve months', async () => {
    const { completed } = purchase();
    expect(await outcomes(completed, completed)).toEqual(['applied', 'unchanged']);
    const expiresAtMs = Date.parse('2027-03-31T10:00:10Z');
    expect(await listExtraCredits(billing.table, licenseId)).toMatchObject([
      { left: 1000, source: 'pack', expiresAtMs },
    ]);
    expect(await outcomes(purchase().completed)).toEqual(['applied']);
    expect(await balances()).toEqual([1000, 1000]);
  });

  test('that a coupon makes free adds its credits too, once: no payment of it ever comes', async () => {
    const { completedFree } = purchase({ payment_intent: null });
    expect(await outcomes(completedFree, completedFree)).toEqual(['applied', 'unchanged']);
    expect(await balances()).toEqual([1000]);
  });

  test('keeps what it had when it was bought, when its event comes again after the pack was changed', async () => {
    const evidence = readPackEvent(parseRawEvent(purchase().completed))!;
    const apply = (large: number) =>
      applyPackEvidence(evidence, { table: billing.table, packs: { large }, months: 12 }, ms(t));
    expect([await apply(700), await apply(800)]).toEqual(['applied', 'unchanged']);
    expect(await balances()).toEqual([700]);
  });
});

test('a pack that is paid later adds its credits when its payment has come, whatever the order of the events', async () => {
  const [one, two] = [purchase(), purchase()];
  expect(await outcomes(one.completedUnpaid)).toEqual(['ignored']);
  expect(await balances()).toEqual([]);
  expect(await outcomes(one.paidLater, two.paidLater, two.completedUnpaid, one.paidLater)).toEqual([
    'applied',
    'applied',
    'ignored',
    'unchanged',
  ]);
  expect(await balances()).toEqual([1000, 1000]);
});

describe('a refund', () => {
  test('takes back its part of that purchase, rounded down, whatever the order of the events, each delivered twice', async () => {
    const [one, two, other] = [purchase(), purchase(), purchase()];
    await send(other.completed);
    await outcomes(one.completed, one.refunded(1001), one.refunded(1300), one.refunded(1001), one.completed);
    await outcomes(two.refunded(1300), two.refunded(1001), two.completed, two.refunded(1300), two.completed);
    // floor(1000 × 1300 ÷ 3900) of each
    expect((await balances()).sort()).toEqual([1000, 667, 667]);
    await outcomes(one.refunded(3900));
    expect((await balances()).sort()).toEqual([0, 1000, 667]);
  });

  test('of what bought no pack changes nothing', async () => {
    const { completed, refunded } = purchase();
    await send(completed);
    const another = purchase();
    expect(await outcomes(another.refunded(3900), refunded(3900, { payment_intent: null }))).toEqual([
      'unchanged',
      'ignored',
    ]);
    expect(await balances()).toEqual([1000]);
  });
});

describe('what is bought otherwise', () => {
  test.each([
    ['of another sale', { metadata: {} }],
    ['without metadata', { metadata: null }],
    ['of a subscription', { mode: 'subscription', subscription: null }],
    ['of no money', { mode: 'setup' }],
  ] as [string, Partial<Stripe.Checkout.Session>][])('a checkout %s is ignored', async (_, changes) => {
    expect(await outcomes(purchase(changes).completed)).toEqual(['ignored']);
    expect(await balances()).toEqual([]);
  });

  test.each([
    ['unknown_plan', { metadata: { plan: 'huge' } }],
    ['unknown_plan', { metadata: { plan: '__proto__' } }],
    ['unknown_plan', { metadata: { plan: '' } }],
    ['unknown_license', { client_reference_id: null }],
    ['unknown_license', { client_reference_id: 'lic_nobodys' }],
    ['unknown_license', { client_reference_id: personal[1]! }],
    ['unknown_license', { client_reference_id: 'x#LICENSE' }],
    ['unreadable', { payment_intent: `pi_${'a'.repeat(62)}` }],
    ['unreadable', { payment_intent: 'pi_1#x' }],
  ] as [string, Partial<Stripe.Checkout.Session>][])('fails as %s: %j', async (reason, changes) => {
    expect(await outcomes(purchase(changes).completed)).toEqual([reason]);
    for (const word of personal) expect(lines.join('\n')).not.toContain(word);
    expect(await balances()).toEqual([]);
  });

  test('fails as ended_license once its license has ended, but for one that came before', async () => {
    const [one, two] = [purchase(), purchase()];
    await outcomes(one.completed);
    await billing.licenses.update(licenseId, { status: 'ended' });
    expect(await outcomes(one.completed, two.completed)).toEqual(['unchanged', 'ended_license']);
    expect(await balances()).toEqual([1000]);
  });

  test.each([[4000], [-1], [1.5], ['39']])('so does a refund of %j of 3900', async (cents) => {
    const { completed, refunded } = purchase();
    expect(await outcomes(completed, refunded(cents as number))).toEqual(['applied', 'unreadable']);
    expect(await balances()).toEqual([1000]);
  });

  test('a license of another account may be given a pack: who pays decides', async () => {
    const other = newLicense(
      { licenseId: newOwnId('license'), ownerId: 'other', tier: 'pro', creditsLimit: 1 },
      ms(t),
    );
    await billing.licenses.insert(other, 'operator:test');
    expect(await outcomes(purchase({ client_reference_id: other.licenseId }).completed)).toEqual(['applied']);
    expect([await balances(), await balances(other.licenseId)]).toEqual([[], [1000]]);
  });
});
