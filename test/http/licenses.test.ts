import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { demoIdentities } from '../../local/demo-data.ts';
import type { License } from '../../shared/licenses/license.ts';
import { licenseStore } from '../../shared/licenses/store.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { grant, newLicense } from '../support/grants.ts';
import { sessionOf } from '../support/sessions.ts';
import { sharedService } from '../support/use-service.ts';

// The unit tests of a license hold what is told of one, those of its store which ones are listed.

const service = sharedService();
const { table } = service;
const { identities, keys } = service.ready;

/** What a signed-in account with these licenses gets. */
async function account(...changes: Partial<License>[]) {
  const ownerId = randomUUID();
  const licenses = changes.map((change) => newLicense({ ownerId, ...change }));
  for (const license of licenses) await licenseStore(table).insert(license);
  const session = await sessionOf(service.dataDir, { sub: ownerId });
  return { licenses, get: (path: string) => service.api({ path, key: session }) };
}

test('GET /licenses says of each license, oldest first, whether its keys are accepted, as they are', async () => {
  const cases: Partial<License>[] = [
    {},
    { status: 'ended' },
    { status: 'past_due' },
    { apiAccess: false },
    { activeUntilMs: Date.now() - 1 },
    { activeUntilMs: Date.now() + 3600_000 },
  ];
  const ownerId = randomUUID();
  const granted = [];
  for (const [i, change] of cases.entries()) {
    granted.push(await grant(table, { ownerId, createdAtMs: i, ...change }));
  }
  const session = await sessionOf(service.dataDir, { sub: ownerId });
  const answer = await service.api({ path: '/licenses', key: session });
  expectOk(answer);
  const accepted = await Promise.all(
    granted.map(async ({ key }) => (await service.api({ path: '/identities', key })).status === 200),
  );
  expect(accepted).toEqual([true, false, false, false, false, true]);
  expect(answer.body.licenses).toMatchObject(
    granted.map(({ license: { licenseId } }, i) => ({ licenseId, usable: accepted[i] })),
  );
});

test('GET /licenses tells licenses of one tier apart by their names', async () => {
  const { get } = await account(
    { createdAtMs: 1, tier: 'starter' },
    { createdAtMs: 2, tier: 'starter', planName: 'Studio' },
    { createdAtMs: 3, tier: 'starter', planName: 'Studio', givenName: 'Labs' },
    { createdAtMs: 4, tier: 'starter' },
  );
  const { body } = await get('/licenses');
  expect(body.licenses.map(({ name }: { name: string }) => name)).toEqual([
    'Starter',
    'Studio',
    'Labs',
    'Starter 2',
  ]);
});

describe('GET /identities', () => {
  const founding = ['aurora', 'basalt', 'citrine', 'ember', 'flint', 'glacier', 'harbor'];
  const slugs = ({ body }: { body: any }) => body.identities.map(({ slug }: any) => slug).sort();
  const special = { foundingCatalog: false, identityIds: [identities.drift!] };

  test('shows the founding catalog to a license that has it: what each is called, and whether it is available', async () => {
    const answer = await service.api({ path: '/identities', key: keys.starter });
    expectOk(answer);
    expect(answer.body).toEqual({
      identities: founding.map((name) => ({
        id: identities[name],
        name,
        slug: name,
        description: demoIdentities[name]!.description,
        productPhotos: demoIdentities[name]!.productPhotos,
        available: name !== 'ember',
        samples: [],
      })),
    });
  });

  test('by session shows what a key of the license is shown', async () => {
    const { license, key } = await grant(table, { identityIds: [identities.drift!] });
    const session = await sessionOf(service.dataDir, { sub: license.ownerId });
    const byKey = await service.api({ path: '/identities', key });
    const bySession = await service.api({ path: `/identities?licenseId=${license.licenseId}`, key: session });
    expect(bySession.body).toEqual(byKey.body);
    expect(slugs(bySession)).toEqual([...founding, 'drift'].sort());
  });

  test('by session shows each identity that the license named may use, or any active license, once', async () => {
    const { licenses, get } = await account({}, special, { ...special, foundingCatalog: true });
    expect(slugs(await get('/identities'))).toEqual([...founding, 'drift'].sort());
    expect(slugs(await get(`/identities?licenseId=${licenses[0]!.licenseId}`))).toEqual(founding);
    expect(slugs(await get(`/identities?licenseId=${licenses[1]!.licenseId}`))).toEqual(['drift']);
    const inactive = await account({}, { ...special, status: 'past_due' });
    expect(slugs(await inactive.get('/identities'))).toEqual(founding);
    const { get: getNothing } = await account();
    expect((await getNothing('/identities')).body).toEqual({ identities: [] });
  });

  test('a key names its license by itself: licenseId is refused with a key', async () => {
    const { key, license } = await grant(table);
    const answer = await service.api({ path: `/identities?licenseId=${license.licenseId}`, key });
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toContain('licenseId');
  });
});
