import { expect, test } from '@jest/globals';
import { noRegisters } from '../../../shared/billing/subscription.ts';
import type { StoredSubscription } from '../../../shared/billing/subscription-license.ts';
import type { SubscriptionStore } from '../../../shared/billing/subscription-store.ts';
import { applyBillingEvidence } from '../../../shared/billing/apply-event.ts';
import { evidenceOf } from './delivery.ts';
import { created, rules, t } from './life.ts';

const evidence = evidenceOf(created(t))!;

/** A store of one subscription, whose first writes are refused because another came in between. */
function storeThatRefuses(refusals: number) {
  const state = { stored: { registers: noRegisters, license: null } as StoredSubscription, version: 0 };
  const asked: string[] = [];
  let left = refusals;
  const subscriptions = {
    get(licenseId: string) {
      asked.push(licenseId);
      return Promise.resolve({ ...state.stored, version: state.version });
    },
    put(_licenseId: string, read: { version: number }, next: StoredSubscription) {
      state.version += 1;
      if (left-- > 0 || read.version !== state.version - 1) return Promise.resolve(false);
      state.stored = next;
      return Promise.resolve(true);
    },
  } as unknown as SubscriptionStore;
  return { state, asked, deps: { subscriptions, rules } };
}

test('an event is applied once: again it changes nothing', async () => {
  const { state, asked, deps } = storeThatRefuses(0);
  expect(await applyBillingEvidence(evidence, deps)).toBe('applied');
  expect(state.stored.license).toMatchObject({ licenseId: 'lic_sub_1SAda', tier: 'pro' });
  const { version } = state;
  expect(await applyBillingEvidence(evidence, deps)).toBe('unchanged');
  expect(state.version).toBe(version);
  expect(asked).toEqual(['lic_sub_1SAda', 'lic_sub_1SAda']);
});

test('an event that meets others is read and written anew until it is through', async () => {
  const { state, asked, deps } = storeThatRefuses(2);
  expect(await applyBillingEvidence(evidence, deps)).toBe('applied');
  expect(asked).toHaveLength(3);
  expect(state.stored.license).not.toBeNull();
});
