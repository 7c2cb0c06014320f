import { expect, test } from '@jest/globals';
import type { AuditEntry } from '../../../shared/accounts/audit.ts';
import { activityItem } from '../../../shared/licenses/activity.ts';

const atMs = Date.UTC(2026, 4, 17);
const entry: AuditEntry = {
  entryId: 'e1',
  atMs,
  by: 'account:sub-1',
  action: 'key_changed',
  subjectId: 'key_1',
  subjectName: 'mine',
  changes: [{ member: 'name', from: 'a', to: 'b' }],
};
const shown = { id: 'e1', at: new Date(atMs).toISOString() };

test('an owner sees what was done with a key, and which', () => {
  const { changes, action } = entry;
  const ofKey = { keyId: 'key_1', keyName: 'mine' };
  expect(activityItem(entry)).toEqual({ ...shown, by: 'owner', action, ...ofKey, changes });
});

test('an owner sees what was done with a license, tiers by their labels, and nothing of who the operator is', () => {
  const changes = [
    { member: 'tier', from: 'starter', to: 'pro' },
    { member: 'tier', from: null, to: 'gone' },
    { member: 'creditsLimit', from: 5, to: 7 },
  ];
  const of = { action: 'license_changed', subjectId: 'lic_1', subjectName: null, changes } as const;
  const noKey = { keyId: null, keyName: null };
  const inLabels = [
    { member: 'tier', from: 'Starter', to: 'Pro' },
    { member: 'tier', from: null, to: null },
    changes[2],
  ];
  for (const [who, by] of [
    ['operator:arn:aws:iam::1:user/ada', 'operator'],
    ['billing:evt_1', 'billing'],
  ] as const)
    expect(activityItem({ ...entry, ...of, changes, by: who })).toEqual({
      ...shown,
      by,
      action: of.action,
      ...noKey,
      changes: inLabels,
    });
});
