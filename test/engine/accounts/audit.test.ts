import { beforeAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { auditDays, type Actor } from '../../../shared/accounts/audit.ts';
import { newId } from '../../../shared/base/ids.ts';
import type { License } from '../../../shared/licenses/license.ts';
import { apiKeyStore } from '../../../shared/keys/store.ts';
import { auditStore, type AuditLog } from '../../../shared/accounts/audit-store.ts';
import { identityStore } from '../../../shared/identities/store.ts';
import { licenseStore, type LicenseChange } from '../../../shared/licenses/store.ts';
import { ttlAttribute } from '../../../shared/table/keys.ts';
import { newLicense, newStoredKey } from '../../support/grants.ts';
import { itemsWith } from '../../support/table-scan.ts';
import { sampleIdentity } from '../../support/unit-samples.ts';
import { plainVersion } from '../../../shared/identities/version.ts';
import { hungUp } from '../generations/table.ts';
import { useTable } from '../generations/use-engines.ts';
import { runs } from '../../support/runs.ts';

const fixture = useTable();
const nowMs = Date.UTC(2026, 10, 1);
const alice: Actor = 'operator:alice';

const open = () => ({
  licenses: licenseStore(fixture.table),
  keys: apiKeyStore(fixture.table),
  identities: identityStore(fixture.table),
  audit: auditStore(fixture.table),
});
let stores: ReturnType<typeof open>;
beforeAll(() => void (stores = open()));

/** Oldest first. */
async function entriesOf(of: AuditLog) {
  const { entries, next } = await stores.audit.listPage(of, 1000, null);
  expect(next).toBeNull();
  return entries.toReversed();
}

async function granted(changes: Partial<License> = {}): Promise<License> {
  const license = newLicense({ createdAtMs: nowMs, ...changes });
  await stores.licenses.insert(license, alice);
  return license;
}

describe('the audit log of a license', () => {
  test('says who granted it, what was changed from what, and who issued, changed and revoked its keys', async () => {
    const license = await granted({ identityIds: ['idn_a', 'idn_b'], periodAnchorMs: nowMs });
    const { licenseId, ownerId } = license;
    const change = { creditsLimit: 9, identityIds: ['idn_b', 'idn_c'], activeUntilMs: nowMs + 1 };
    await stores.licenses.update(licenseId, change, 'operator:bob', nowMs + 1);
    const key = newStoredKey({ licenseId, ownerId, name: 'CI', createdAtMs: nowMs + 2 }).stored;
    await stores.keys.insert(key);
    const renamed = { name: 'CI of main', monthlyCredits: 5 };
    await stores.keys.change(key, renamed, nowMs + 3);
    await stores.keys.revoke({ ...key, ...renamed }, nowMs + 4, alice);
    const until = new Date(nowMs + 1).toISOString();
    const ofKey = { subjectId: key.keyId, subjectName: 'CI' };
    const nowNamed = { subjectName: 'CI of main' };
    const ofLicense = { subjectId: licenseId, subjectName: null };
    const entries = await entriesOf({ licenseId });
    expect(entries).toMatchObject([
      { atMs: nowMs, by: alice, action: 'license_granted', ...ofLicense },
      { atMs: nowMs + 1, by: 'operator:bob', action: 'license_changed', ...ofLicense },
      { atMs: nowMs + 2, by: `account:${ownerId}`, action: 'key_issued', ...ofKey },
      { atMs: nowMs + 3, by: `account:${ownerId}`, action: 'key_changed', ...ofKey, ...nowNamed },
      { atMs: nowMs + 4, by: alice, action: 'key_revoked', ...ofKey, ...nowNamed },
    ]);
    expect(entries[0]!.changes).toContainEqual({ member: 'tier', from: null, to: 'pro' });
    expect(entries[0]!.changes).toContainEqual({ member: 'identityIds', from: [], to: ['idn_a', 'idn_b'] });
    expect(entries[1]!.changes).toEqual([
      { member: 'creditsLimit', from: 4000, to: 9 },
      { member: 'identityIds', from: ['idn_a'], to: ['idn_c'] },
      { member: 'activeUntil', from: null, to: until },
    ]);
    expect(entries[2]!.changes).toEqual([{ member: 'name', from: null, to: 'CI' }]);
    expect(entries[3]!.changes).toEqual([
      { member: 'name', from: 'CI', to: 'CI of main' },
      { member: 'monthlyCredits', from: null, to: 5 },
    ]);
    expect(entries[4]!.changes).toEqual([]);
    // Neither the hash nor the first characters of a key.
    const text = JSON.stringify(entries);
    expect([key.sha256, key.keyPrefix].filter((secret) => text.includes(secret))).toEqual([]);
  });

  test('has an entry for each change, and none for what changes nothing or is refused', async () => {
    const { licenseId, ownerId } = await granted();
    await stores.licenses.update(licenseId, { tier: 'pro', creditsLimit: 4000 }, alice);
    const keys = Array.from({ length: 26 }, () => newStoredKey({ licenseId, ownerId }).stored);
    for (const key of keys) await stores.keys.insert(key);
    await stores.keys.revoke(keys[0]!, nowMs);
    await stores.keys.revoke(keys[0]!, nowMs);
    const actions = (await entriesOf({ licenseId })).map(({ action }) => action);
    expect(Map.groupBy(actions, (action) => action).get('key_issued')).toHaveLength(25);
    expect(actions).toHaveLength(1 + 25 + 1);
  });

  test('comes in pages, newest first, and is kept for 400 days', async () => {
    const { licenseId } = await granted();
    for (let i = 1; i <= 4; i++)
      await stores.licenses.update(licenseId, { creditsLimit: i }, alice, nowMs + i);
    const first = await stores.audit.listPage({ licenseId }, 3, null);
    const second = await stores.audit.listPage({ licenseId }, 3, first.next);
    const times = [first, second].map(({ entries }) => entries.map(({ atMs }) => atMs - nowMs).join());
    expect([...times, second.next]).toEqual(['4,3,2', '1,0', null]);
    const [oldest] = await itemsWith(fixture.table, [`AUDIT#LICENSE#${licenseId}`]);
    expect(oldest![ttlAttribute]).toBe(nowMs / 1000 + auditDays * 24 * 3600);
  });
});

describe('a change and its entry are stored together, or neither is', () => {
  /** The entry alone is refused, as if DynamoDB could not store it. Further tries break off. */
  function refuseEntry(): void {
    fixture.state.before = (name, input) => {
      if (name !== 'TransactWriteItemsCommand') return undefined;
      fixture.fail('before', hungUp());
      const entry = input.TransactItems.find(({ Put }: any) => Put?.Item.PK.S.startsWith('AUDIT#'));
      expect(entry).toBeDefined();
      entry.Put.ConditionExpression = 'attribute_exists(PK)';
      return undefined;
    };
  }

  test.each(['the entry is refused', 'the connection breaks'])('%s', async (what) => {
    const license = await granted();
    const { licenseId, ownerId } = license;
    const [key, next] = [1, 2].map(() => newStoredKey({ licenseId, ownerId }).stored);
    await stores.keys.insert(key!);
    const identity = { ...sampleIdentity, identityId: newId('identity') };
    const before = await itemsWith(fixture.table, [licenseId, identity.identityId]);
    const attempts = [
      () => stores.licenses.insert(newLicense({ ownerId: licenseId })),
      () => stores.licenses.update(licenseId, { creditsLimit: 1 }),
      () => stores.keys.insert(next!),
      () => stores.keys.revoke(key!, nowMs),
      () => stores.identities.put(identity),
    ];
    for (const attempt of attempts) {
      if (what === 'the connection breaks') fixture.fail('before', hungUp());
      else refuseEntry();
      await attempt().catch(() => {});
    }
    fixture.mend();
    expect(await itemsWith(fixture.table, [licenseId, identity.identityId])).toEqual(before);
  });
});

test('however operators change a license at once, its audit log leads from what was granted to what it is', async () => {
  const anyChange: fc.Arbitrary<LicenseChange> = fc.record(
    {
      creditsLimit: fc.integer({ min: 0, max: 3 }),
      apiAccess: fc.boolean(),
      tier: fc.constantFrom('starter', 'pro'),
    },
    { requiredKeys: ['creditsLimit'] },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(anyChange, { minLength: 1, maxLength: 6 }), async (changes) => {
      const license = await granted({ creditsLimit: 0 });
      const { licenseId } = license;
      await Promise.all(changes.map((change) => stores.licenses.update(licenseId, change, alice, nowMs)));
      const now: any = await stores.licenses.get(licenseId);
      for (const member of ['creditsLimit', 'apiAccess', 'tier'] as const) {
        const steps = (await entriesOf({ licenseId }))
          .flatMap((entry) => entry.changes)
          .filter((change) => change.member === member)
          .map(({ from, to }) => [from, to]);
        // Each value is left as often as it is reached, but for the first and the last.
        const left = steps.map(([from]) => from);
        expect([...left, now[member]].map(String).sort()).toEqual(
          [null, ...steps.map(([, to]) => to)].map(String).sort(),
        );
      }
    }),
    { numRuns: runs(4) },
  );
});

describe('the audit log of the identities', () => {
  test('says what was made and changed, and of the settings for the model only that they differ', async () => {
    const identityId = newId('identity');
    const settings = { words: 'a secret style' };
    const model = { ...plainVersion, settings };
    const identity = { ...sampleIdentity, identityId, name: 'Aurora', model };
    const other = { ...model, settings: { words: 'another' } };
    for (const [i, changed] of [model, other, null].entries())
      await stores.identities.put({ ...identity, model: changed }, alice, nowMs + i);
    const entries = (await entriesOf('identities')).filter(({ subjectId }) => subjectId === identityId);
    expect(entries).toMatchObject([
      { by: alice, action: 'identity_made', subjectName: 'Aurora' },
      { by: alice, action: 'identity_changed', atMs: nowMs + 1 },
      { by: alice, action: 'identity_changed', atMs: nowMs + 2 },
    ]);
    const members = entries.map(({ changes }) => changes.map(({ member }) => member));
    expect(members[0]).toContain('activeVersion');
    expect(members.slice(1)).toEqual([['settingsSha256'], ['activeVersion', 'settingsSha256']]);
    expect(JSON.stringify(entries)).not.toContain('a secret style');
  });
});
