import { describe, expect, test } from '@jest/globals';
import type { License } from '../../../shared/licenses/license.ts';
import { noRegisters } from '../../../shared/billing/subscription.ts';
import { applyEvidence } from '../../../shared/billing/subscription-license.ts';
import { evidenceOf } from './delivery.ts';
import { created, deleted, end, items, ms, paid, rules, t, updated } from './life.ts';
import { day, ownerId, type HandledEvent } from './stripe-fixtures.ts';

describe('applying an event', () => {
  const apply = (license: License | null, registers: typeof noRegisters, event: HandledEvent) =>
    applyEvidence({ license, registers }, evidenceOf(event)!, rules);
  const first = apply(null, noRegisters, created(t))!;

  test('that is repeated makes a license again that is gone, and fails where its price is unknown', () => {
    const event = created(t);
    const once = apply(null, noRegisters, event)!;
    expect(apply(null, once.registers, event)).toEqual(once);
    expect(() =>
      applyEvidence({ ...once, license: null }, evidenceOf(event)!, { ...rules, prices: {} }),
    ).toThrow('The billing prices have no entry for "price_pro".');
  });

  test('finds a license ended that it knows nothing of: that was the operator’s doing', () => {
    const ended: License = { ...first.license!, status: 'ended' };
    expect(apply(ended, noRegisters, created(t))).toMatchObject({
      license: null,
      registers: { endedByOperator: true },
    });
  });

  test('that is repeated, or older, changes nothing', () => {
    const again = created(t + 5, { metadata: { ownerId } });
    const once = apply(first.license, first.registers, again)!;
    expect(apply(once.license, once.registers, again)).toBeNull();
    expect(apply(once.license, once.registers, updated(t + 4, { status: 'past_due' }))).toBeNull();
  });

  test('of an invoice before its subscription is remembered without a license', () => {
    const early = paid(t + 1, end + day);
    const before = apply(null, noRegisters, early)!;
    expect(before.license).toBeNull();
    expect(apply(null, before.registers, early)).toBeNull();
    const after = apply(null, before.registers, created(t, { status: 'incomplete' }))!;
    expect(after.license).toMatchObject({ status: 'active', activeUntilMs: ms(end + 4 * day) });
  });

  test('of another owner is a failure', () => {
    const other = updated(t + 1, { metadata: { ownerId: 'someone-else' } });
    expect(() => apply(first.license, first.registers, other)).toThrow(
      expect.objectContaining({
        reason: 'owner_changed',
        message: "metadata.ownerId is not the owner of the subscription's license.",
      }),
    );
  });

  test('that ended is not taken for an end by the operator', () => {
    const over = apply(first.license, first.registers, deleted(t + 3, { ended_at: t + 3 }))!;
    const later = apply(over.license, over.registers, deleted(t + 4, { ended_at: t + 4 }))!;
    expect(later.registers.endedByOperator).toBe(false);
    expect(later.license).toMatchObject({ status: 'ended', activeUntilMs: ms(t + 4) });
  });

  test('that changes nothing needs no price, one that does is a failure where its price is unknown', () => {
    const none = { ...rules, prices: {} };
    expect(applyEvidence(first, evidenceOf(updated(t - 1, { items: items('price_x') }))!, none)).toBeNull();
    expect(() => applyEvidence(first, evidenceOf(updated(t + 1))!, none)).toThrow(
      expect.objectContaining({ reason: 'unknown_price' }),
    );
  });
});
