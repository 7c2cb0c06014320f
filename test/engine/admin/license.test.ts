import { beforeAll, expect, test } from '@jest/globals';
import { plainIdentity } from '../../../shared/identities/identity.ts';
import { identityStore } from '../../../shared/identities/store.ts';
import { newRequestId } from '../../../shared/base/ids.ts';
import { generationStore } from '../../../shared/generations/store.ts';
import { sampleGeneration } from '../../support/unit-samples.ts';
import { useAdmin } from './fixture.ts';

const fixture = useAdmin();
beforeAll(async () => {
  const put = (id: string, slug = id) =>
    identityStore(fixture.table).put({ ...plainIdentity, identityId: id, name: id, slug });
  await Promise.all([put('drift'), put('ember', 'glow')]);
});

test('a grant takes its credits from the tier, and begins now', async () => {
  const before = Date.now();
  const granted = await fixture.json(
    'license grant --force test --owner owner --tier pro --founding-catalog',
  );
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
    suspended: null,
    moderation: null,
    carried: null,
    maxInFlight: null,
    periodAnchor: granted.createdAt,
    activeUntil: null,
    createdAt: expect.any(String),
  });
  expect(Date.parse(granted.createdAt)).toBeGreaterThanOrEqual(before);
  expect(await fixture.json(`license show ${granted.licenseId}`)).toEqual(granted);
});

test('a grant may name everything, and lie anywhere in time', async () => {
  const [past, future] = await Promise.all([
    fixture.json(
      'license grant --force test --owner owner --tier enterprise --credits 25000 --identity drift --identity glow ' +
        '--anchor 2020-01-31 --active-until 2021-01-31T12:00:00+01:00',
    ),
    fixture.json(
      'license grant --force test --owner owner --tier starter --credits 3 --identity drift ember --anchor 2090-06-15T08:00Z',
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
  const { stats } = await fixture.json(`usage ${future.licenseId}`);
  expect(stats.billingPeriodStart).toMatch(/-15T08:00:00\.000Z$/);
  expect(Date.parse(stats.billingPeriodStart)).toBeLessThanOrEqual(Date.now());
  expect(Date.parse(stats.billingPeriodEnd)).toBeGreaterThan(Date.now());
});

test('a grant of an identity that does not exist makes no license', async () => {
  expect(
    await fixture.refused(1, 'license grant --force test --owner careless --tier pro --identity drfit'),
  ).toBe('error: There is no identity drfit.\n');
  expect(await fixture.json('license list --owner careless')).toEqual({ licenses: [] });
});

test('a change writes what it names and nothing else', async () => {
  const { licenseId } = await fixture.license({ tier: 'starter', creditsLimit: 500 });
  const granted = await fixture.json(`license show ${licenseId}`);
  const renamed = { ...granted, name: 'App', givenName: 'App', tier: 'pro' };
  expect(await fixture.json(`license change ${licenseId} --tier pro --name App`)).toEqual(renamed);
  const changed = await fixture.json(
    `license change ${licenseId} --credits 9000 --founding-catalog --identity ember drift ` +
      '--anchor 2026-01-15 --new-credits --active-until 2099-01-01',
  );
  expect(changed).toEqual({
    ...renamed,
    creditsLimit: 9000,
    foundingCatalog: true,
    identityIds: ['ember', 'drift'],
    periodAnchor: '2026-01-15T00:00:00.000Z',
    activeUntil: '2099-01-01T00:00:00.000Z',
  });
  const endless = await fixture.json(`license change ${licenseId} --active-until never`);
  expect(endless).toEqual({ ...changed, activeUntil: null });
});

test('what is used counts on under another anchor, unless new credits are named', async () => {
  const { licenseId, periodAnchorMs } = await fixture.license({ creditsLimit: 500 });
  const moved = await fixture.json(`license change ${licenseId} --anchor 2026-01-15`);
  expect(moved.carried).toEqual({
    start: new Date(periodAnchorMs).toISOString(),
    end: expect.stringContaining('-15T00:00:00.000Z'),
    creditsLimit: 500,
  });
  const { carried } = await fixture.json(`license change ${licenseId} --credits 600`);
  expect(carried).toEqual({ ...moved.carried, creditsLimit: 600 });
  const anew = await fixture.json(`license change ${licenseId} --anchor 2026-01-16 --new-credits`);
  expect(anew).toMatchObject({ carried: null, creditsLimit: 600 });
});

test('without a terminal nothing that takes access away is done until --yes is said', async () => {
  const { licenseId } = await fixture.license({ identityIds: ['drift'] });
  const granted = await fixture.json(`license show ${licenseId}`);
  const reduce = `license change ${licenseId} --credits 1 --no-founding-catalog --status past_due --no-api-access`;
  const refusals = await Promise.all([
    fixture.admin(reduce),
    fixture.admin(`license change ${licenseId} --no-identity`),
    fixture.admin(`license end ${licenseId}`),
  ]);
  const stderr = expect.stringMatching(
    RegExp(`^error: Nothing was changed: add --yes to .*${licenseId}.*\n$`),
  );
  expect(refusals).toEqual(refusals.map(() => ({ code: 1, stdout: '', stderr })));
  expect(await fixture.json(`license show ${licenseId}`)).toEqual(granted);

  expect(await fixture.json(`${reduce} --yes`)).toMatchObject({
    creditsLimit: 1,
    foundingCatalog: false,
    identityIds: ['drift'],
    status: 'past_due',
    apiAccess: false,
  });
  const restored = await fixture.json(`license change ${licenseId} --status active --api-access`);
  expect(restored).toMatchObject({ status: 'active', apiAccess: true });
});

test('a license is suspended with a reason and resumed, whatever its status', async () => {
  const { licenseId } = await fixture.license({ status: 'past_due', graceUntilMs: Date.now() + 60_000 });
  const suspend = `license suspend ${licenseId} --yes --reason`;
  expect(await fixture.refused(2, `license suspend ${licenseId} --yes`)).toContain('--reason');
  expect(await fixture.refused(1, suspend.replace(' --yes', ''), 'Chargeback')).toContain('add --yes');
  const suspended = { at: expect.any(String), reason: 'Chargeback' };
  expect(await fixture.json(suspend, 'Chargeback')).toMatchObject({ status: 'past_due', suspended });
  const { stdout } = await fixture.admin(`license show ${licenseId}`);
  expect(stdout).toMatch(/Suspended +.* UTC: Chargeback\nKeys +refused\n/);
  const { entries } = await fixture.json(`audit ${licenseId}`);
  const change = { member: 'suspendedBecause', from: null, to: 'Chargeback' };
  expect(entries[0]).toMatchObject({ action: 'license_changed', changes: [change] });
  expect((await fixture.json(`license resume ${licenseId}`)).suspended).toBeNull();
  const ended = await fixture.license({ status: 'ended' });
  expect(await fixture.refused(1, suspend.replace(licenseId, ended.licenseId), 'x')).toContain('has ended');
});

test('a grant that opens no identity says so, and is made', async () => {
  const warned = async (more: string) => {
    const { stderr, stdout } = await fixture.admin(
      `license grant --force x --owner o --tier pro --json${more}`,
    );
    expect(JSON.parse(stdout)).toMatchObject({ status: 'active' });
    return stderr;
  };
  expect(await warned('')).toMatch(/^warning: No identity can be used with this license: --founding-catalog/);
  expect(await warned(' --identity drift')).toBe('');
});

test('runs that nobody paid for are forgiven by name', async () => {
  const { licenseId } = await fixture.license();
  expect(await fixture.json(`license forgive ${licenseId}`)).toEqual({ licenseId, forgotten: 0 });
  const now = Date.now();
  const record = sampleGeneration({ licenseId, periodStartMs: now, requestId: newRequestId(now) });
  const generations = generationStore(fixture.table);
  await generations.reserve(record, { creditsLimit: 1000, keyBudget: null, maxInFlight: 1 }, 'hash');
  const failure = { status: 'FAILED', errorCode: 'INVALID_PARAMETERS', errorMessage: 'No.' } as const;
  await generations.release(record, failure, now, null, 'reference');
  const { stdout } = await fixture.admin(`license forgive ${licenseId}`);
  expect(stdout).toBe(
    `1 unpaid run of ${licenseId} forgotten: 1 with a reference image that the model could not read.\n`,
  );
  expect(await fixture.json(`license forgive ${licenseId}`)).toEqual({ licenseId, forgotten: 0 });
  expect(await fixture.refused(1, 'license forgive lic_nobody')).toContain('There is no license');
});

test('an ended license stays ended, and ending it again changes nothing', async () => {
  const { licenseId } = await fixture.license();
  const ended = await fixture.json(`license end ${licenseId} --yes`);
  expect(ended.status).toBe('ended');
  expect(Date.parse(ended.activeUntil)).toBeLessThanOrEqual(Date.now());
  expect(await fixture.json(`license end ${licenseId}`)).toEqual(ended);
  for (const what of [`change ${licenseId} --status active`, `credit ${licenseId} 1 --reason x`])
    expect(await fixture.refused(1, `license ${what}`)).toContain('has ended for good');
  expect(await fixture.json(`license show ${licenseId}`)).toEqual(ended);
});

test('a gift of credits is given once by its id, expires in 12 months, and is listed with its reason', async () => {
  const { licenseId } = await fixture.license();
  const credit = `license credit ${licenseId}`;
  const [amount, reason] = [10, 'Two images came out black.'];
  for (const added of [true, false])
    expect(await fixture.json(`${credit} 10 --id ticket-1 --reason`, reason)).toMatchObject({ added });
  const { extraCredits } = await fixture.json(`license show ${licenseId}`);
  expect(extraCredits).toMatchObject([{ amount, left: 10, source: 'grant', paymentId: 'ticket-1', reason }]);
  const months = (Date.parse(extraCredits[0].expiresAt) - Date.now()) / (30.4 * 24 * 3600 * 1000);
  expect(Math.round(months)).toBe(12);
  const { stdout } = await fixture.admin(`license show ${licenseId}`);
  expect(stdout).toMatch(/Extra credits\n.*\n +10 +10 .* ticket-1 +Two images came out black\./);
  expect(await fixture.refused(1, `${credit} 11 --id ticket-1 --reason x`)).toContain('has added 10 credits');
  for (const wrong of ['0 --reason x', '1']) await fixture.refused(2, `${credit} ${wrong}`);
  await fixture.refused(1, 'license credit lic_nobody 1 --reason x');
});
