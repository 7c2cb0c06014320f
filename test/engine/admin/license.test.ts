import { beforeAll, expect, test } from '@jest/globals';
import { identityStore } from '../../../shared/identities/store.ts';
import { useAdmin } from './fixture.ts';

const world = useAdmin();
beforeAll(async () => {
  const facts = { description: '', catalog: 'specialist', productPhotos: false, model: null } as const;
  const put = (id: string) =>
    identityStore(world.table).put({ ...facts, samples: [], identityId: id, name: id, slug: id });
  await Promise.all([put('drift'), put('ember')]);
});

test('a grant takes its credits from the tier, and begins now', async () => {
  const before = Date.now();
  const granted = await world.json('license grant --owner owner --tier pro --founding-catalog');
  expect(granted).toEqual({
    licenseId: expect.stringMatching(/^lic_/),
    ownerId: 'owner',
    ownerEmail: null,
    name: 'Pro',
    givenName: null,
    planName: null,
    tier: 'pro',
    creditsLimit: 4000,
    foundingCatalog: true,
    identityIds: [],
    apiAccess: true,
    status: 'active',
    graceUntil: null,
    carried: null,
    maxInFlight: null,
    periodAnchor: granted.createdAt,
    activeUntil: null,
    createdAt: expect.any(String),
  });
  expect(Date.parse(granted.createdAt)).toBeGreaterThanOrEqual(before);
  expect(await world.json(`license show ${granted.licenseId}`)).toEqual(granted);
});

test('a grant may name everything, and lie anywhere in time', async () => {
  const [past, future] = await Promise.all([
    world.json(
      'license grant --owner owner --tier enterprise --credits 25000 --identity drift --identity ember ' +
        '--anchor 2020-01-31 --active-until 2021-01-31T12:00:00+01:00',
    ),
    world.json(
      'license grant --owner owner --tier starter --credits 3 --identity drift ember --anchor 2090-06-15T08:00Z',
    ),
  ]);
  expect(past).toMatchObject({
    tier: 'enterprise',
    creditsLimit: 25_000,
    foundingCatalog: false,
    identityIds: ['drift', 'ember'],
    periodAnchor: '2020-01-31T00:00:00.000Z',
    activeUntil: '2021-01-31T11:00:00.000Z',
  });
  expect(future).toMatchObject({ creditsLimit: 3, identityIds: ['drift', 'ember'] });
  const { stats } = await world.json(`usage ${future.licenseId}`);
  expect(stats.billingPeriodStart).toMatch(/-15T08:00:00\.000Z$/);
  expect(Date.parse(stats.billingPeriodStart)).toBeLessThanOrEqual(Date.now());
  expect(Date.parse(stats.billingPeriodEnd)).toBeGreaterThan(Date.now());
});

test('a grant of an identity that does not exist makes no license', async () => {
  expect(await world.refused(1, 'license grant --owner careless --tier pro --identity drfit')).toBe(
    'error: There is no identity drfit.\n',
  );
  expect(await world.json('license list --owner careless')).toEqual({ licenses: [] });
});

test('a change writes what it names and nothing else', async () => {
  const { licenseId } = await world.license({ tier: 'starter', creditsLimit: 500 });
  const granted = await world.json(`license show ${licenseId}`);
  expect(await world.json(`license change ${licenseId} --tier pro --name App`)).toEqual({
    ...granted,
    name: 'App',
    givenName: 'App',
    tier: 'pro',
  });
  const changed = await world.json(
    `license change ${licenseId} --credits 9000 --founding-catalog --identity ember drift ` +
      '--anchor 2026-01-15 --new-credits --active-until 2099-01-01',
  );
  expect(changed).toEqual({
    ...granted,
    name: 'App',
    givenName: 'App',
    tier: 'pro',
    creditsLimit: 9000,
    foundingCatalog: true,
    identityIds: ['ember', 'drift'],
    periodAnchor: '2026-01-15T00:00:00.000Z',
    activeUntil: '2099-01-01T00:00:00.000Z',
  });
  const endless = await world.json(`license change ${licenseId} --active-until never`);
  expect(endless).toEqual({ ...changed, activeUntil: null });
});

test('what is used counts on under another anchor, unless new credits are named', async () => {
  const { licenseId, periodAnchorMs } = await world.license({ creditsLimit: 500 });
  const moved = await world.json(`license change ${licenseId} --anchor 2026-01-15`);
  expect(moved.carried).toEqual({
    start: new Date(periodAnchorMs).toISOString(),
    end: expect.stringContaining('-15T00:00:00.000Z'),
    creditsLimit: 500,
  });
  const { carried } = await world.json(`license change ${licenseId} --credits 600`);
  expect(carried).toEqual({ ...moved.carried, creditsLimit: 600 });
  const anew = await world.json(`license change ${licenseId} --anchor 2026-01-16 --new-credits`);
  expect(anew).toMatchObject({ carried: null, creditsLimit: 600 });
  expect(await world.refused(2, `license change ${licenseId} --new-credits --credits 1`)).toContain(
    '--new-credits needs --anchor.',
  );
});

test('without a terminal nothing that takes access away is done until --yes is said', async () => {
  const { licenseId } = await world.license({ identityIds: ['drift'] });
  const granted = await world.json(`license show ${licenseId}`);
  const reduce = `license change ${licenseId} --credits 1 --no-founding-catalog --status past_due --no-api-access`;
  const refusals = await Promise.all([
    world.admin(reduce),
    world.admin(`license change ${licenseId} --no-identity`),
    world.admin(`license end ${licenseId}`),
  ]);
  for (const { code, stdout, stderr } of refusals) {
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error: Nothing was changed: add --yes to .*\n$/);
    expect(stderr).toContain(licenseId);
  }
  expect(await world.json(`license show ${licenseId}`)).toEqual(granted);

  expect(await world.json(`${reduce} --yes`)).toMatchObject({
    creditsLimit: 1,
    foundingCatalog: false,
    identityIds: ['drift'],
    status: 'past_due',
    apiAccess: false,
  });
  const restored = await world.json(`license change ${licenseId} --status active --api-access`);
  expect(restored).toMatchObject({ status: 'active', apiAccess: true });
});

test('an ended license stays ended, and ending it again changes nothing', async () => {
  const { licenseId } = await world.license();
  const ended = await world.json(`license end ${licenseId} --yes`);
  expect(ended.status).toBe('ended');
  expect(Date.parse(ended.activeUntil)).toBeLessThanOrEqual(Date.now());
  expect(await world.json(`license end ${licenseId}`)).toEqual(ended);
  expect(await world.refused(1, `license change ${licenseId} --status active`)).toContain(
    'has ended for good',
  );
  expect(await world.json(`license show ${licenseId}`)).toEqual(ended);
});

test('a license that does not exist is named, and not made by a change', async () => {
  const runs = await Promise.all([
    world.admin('license show lic_unknown'),
    world.admin('license change lic_unknown --tier pro'),
    world.admin('license end lic_unknown --yes'),
    world.admin('key issue lic_unknown --name app'),
    world.admin('key list lic_unknown'),
    world.admin('usage lic_unknown'),
  ]);
  const refusal = { code: 1, stdout: '', stderr: 'error: There is no license lic_unknown.\n' };
  expect(runs).toEqual(runs.map(() => refusal));
});
