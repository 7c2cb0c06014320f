import type { Generation } from './generation.ts';
import { fitsBudget } from '../licenses/credits.ts';
import { committedName } from '../licenses/period-store.ts';
import { itemKeys } from '../table/keys.ts';
import type { Part } from '../table/transact.ts';

/*
 * What each key has committed is counted in the item of its license's period, also for a key without a budget. So a budget
 * that its owner sets later counts what was committed before.
 */

/** @param keyBudget null for a key without a budget, and for the playground. */
export function holdKeyBudget(
  { licenseId, periodStartMs, keyId, credits }: Generation,
  keyBudget: number | null,
): Part<{ outcome: 'over_key_budget' }> {
  const name = committedName(keyId);
  const isWithin = '#byKey <= :maxByKey';
  return {
    key: itemKeys.period(licenseId, periodStartMs),
    update: { ADD: '#byKey :credits' },
    names: { '#byKey': name },
    values: { ':credits': credits, ...(keyBudget !== null && { ':maxByKey': keyBudget - credits }) },
    ...(keyBudget !== null && {
      // A key's first request of a period finds no number. One that costs more than the whole budget must not pass there.
      condition: credits > keyBudget ? isWithin : `(attribute_not_exists(#byKey) OR ${isWithin})`,
    }),
    refusal: (found) =>
      fitsBudget(keyBudget, found?.[name] ?? 0, credits) ? null : { outcome: 'over_key_budget' },
  };
}

export function returnKeyBudget(ended: Generation): Part | null {
  // A request that was accepted before there were counts by key has nothing to take back from one.
  if (!ended.countedByKey) return null;
  return {
    key: itemKeys.period(ended.licenseId, ended.periodStartMs),
    update: { ADD: '#byKey :minusCredits' },
    names: { '#byKey': committedName(ended.keyId) },
    values: { ':minusCredits': -ended.credits },
  };
}
