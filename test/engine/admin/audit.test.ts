import { userInfo } from 'node:os';
import { expect, test } from '@jest/globals';
import { useAdmin } from './fixture.ts';

const fixture = useAdmin();
const me = `operator:${userInfo().username}`;

test('audit shows who changed a license and its keys, newest first', async () => {
  const { licenseId } = await fixture.json(
    'license grant --force test --owner owner --tier pro --founding-catalog',
  );
  await fixture.json(`license change ${licenseId} --credits 5000`);
  const { keyId } = await fixture.json(`key issue ${licenseId} --name`, 'my app');
  await fixture.json(`key revoke ${keyId} --yes`);
  await fixture.json(`license end ${licenseId} --yes`);
  const { entries, hasMore } = await fixture.json(`audit ${licenseId}`);
  expect(hasMore).toBe(false);
  expect(entries).toMatchObject([
    { action: 'license_changed', changes: [{ member: 'status', from: 'active', to: 'ended' }, {}] },
    { action: 'key_revoked', subjectId: keyId, subjectName: 'my app' },
    { action: 'key_issued', subjectId: keyId },
    { action: 'license_changed', changes: [{ member: 'creditsLimit', from: 4000, to: 5000 }] },
    { action: 'license_granted', subjectId: licenseId },
  ]);
  expect(new Set(entries.map(({ by }: { by: string }) => by))).toEqual(new Set([me]));

  const { stdout } = await fixture.admin(`audit ${licenseId}`);
  const lines = stdout.trimEnd().split('\n');
  expect(lines[0]).toMatch(/^WHEN +BY +WHAT +OF +CHANGES$/);
  expect(lines[4]).toMatch(
    /^[\d-]{10} [\d:]{8} UTC  .+  license_changed  lic_\w+ +creditsLimit: 4000 -> 5000$/,
  );
  expect((await fixture.admin(`audit ${licenseId} --limit 2`)).stdout).toContain('There are older entries');
});
