import { beforeAll, describe, expect, test } from '@jest/globals';
import { poolId, userPoolsApiOf } from '../../../local/cognito/user-pool.ts';
import { dataFolder, writeJson } from '../../../local/data-folder.ts';
import { activityItem } from '../../../shared/licenses/activity.ts';
import type { License } from '../../../shared/licenses/license.ts';
import { ada, ben, usePool } from '../local/cognito/support.ts';
import { useAdmin } from './fixture.ts';

const fixture = useAdmin();
const pool = usePool();
const twins = ['a', 'b'].map((letter) => ({
  sub: `1111111${letter}-7425-40de-944b-e07fc1f90ae7`,
  email: 'twin@example.com',
  password: 'x',
}));

beforeAll(() => {
  pool.options.accounts.push(...twins);
  const { credentials, region } = pool.options.apiSigning;
  const cognitoUrl = userPoolsApiOf(pool.baseUrl);
  const engines = { ...fixture.engines, ...credentials, region, cognitoUrl, userPoolId: poolId };
  writeJson(dataFolder(fixture.folder).engines, engines);
});

describe('an e-mail address stands for an account', () => {
  test('when a license is granted, and when licenses are listed; the address is shown beside the sub', async () => {
    const granted = await fixture.json('license grant --owner ADA@example.COM --tier pro');
    expect(granted).toMatchObject({ ownerId: ada.sub, ownerEmail: ada.email });
    const ofBen = await fixture.license({ ownerId: ben.sub });
    const ofNobody = await fixture.license({ ownerId: 'nobody' });
    const { licenses } = await fixture.json('license list --owner ada@example.com');
    expect(licenses).toEqual([granted]);
    const all = await fixture.json('license list');
    const emailOf = (licenseId: string) =>
      all.licenses.find((one: any) => one.licenseId === licenseId).ownerEmail;
    expect([granted, ofBen, ofNobody].map(({ licenseId }) => emailOf(licenseId))).toEqual([
      ada.email,
      ben.email,
      null,
    ]);
    expect((await fixture.admin(`license show ${granted.licenseId}`)).stdout).toMatch(
      /\nE-mail +Ada@Example.com\n/,
    );
  });

  test.each(['ada@example.co', '*@example.com', '"@example.com'])(
    'but not %s, which is nobody’s: nothing is granted',
    async (email) => {
      const before = await fixture.json('license list');
      const sentence = await fixture.refused(1, 'license grant --tier pro --owner', email);
      expect(sentence).toContain(
        'error: No account has this e-mail address. To grant the license all the same,',
      );
      expect(await fixture.json('license list')).toEqual(before);
    },
  );

  test('and a license is granted to one that can be signed in with, or by force with a reason that the owner does not see', async () => {
    const some = (sub: string, more: object) => ({ ...twins[0]!, sub, email: `${sub}@example.com`, ...more });
    const others = [some('off', { enabled: false }), some('new', { status: 'UNCONFIRMED' })];
    pool.options.accounts.push(...others, some('invited', { status: 'FORCE_CHANGE_PASSWORD' }));
    for (const [owner, why] of [
      ['off', 'The account off is disabled.'],
      ['new@example.com', 'The account new@example.com has not confirmed its e-mail address.'],
      ['nobody', 'There is no account nobody.'],
    ] as const) {
      const sentence = await fixture.refused(1, `license grant --tier pro --owner ${owner}`);
      expect(sentence).toContain(`${why} To grant the license all the same`);
    }
    const forced = 'license grant --tier pro --force x --owner new@example.com';
    expect(await fixture.refused(2, forced)).toContain('--force takes the account by its sub');
    expect((await fixture.json('license grant --tier pro --owner invited')).ownerId).toBe('invited');
    const why = 'moves here on Monday';
    const { licenseId } = await fixture.json('license grant --tier pro --owner nobody --force', why);
    const reason = { member: 'forcedBecause', from: null, to: why };
    const { entries } = await fixture.json(`audit ${licenseId}`);
    expect(entries[0].changes).toContainEqual(reason);
    expect(JSON.stringify(activityItem({ ...entries[0], atMs: 0 }))).not.toContain(why);
    pool.options.accounts.splice(-3);
  });

  test('but not one that two accounts have', async () => {
    for (const command of ['license grant --tier pro --owner', 'license list --owner', 'account show']) {
      expect(await fixture.refused(1, command, 'twin@example.com')).toContain(
        'Several accounts have this e-mail address. Name the one',
      );
    }
  });
});

test('account list shows every account with its licenses, a page at a time', async () => {
  await fixture.license({ ownerId: ben.sub, status: 'ended', givenName: 'Spring campaign' });
  const all = await fixture.json('account list');
  expect(all.accounts.map(({ sub }: { sub: string }) => sub)).toEqual(
    [ada, ben, ...twins].map(({ sub }) => sub),
  );
  expect(all.nextCursor).toBeNull();
  const first = await fixture.json('account list --limit 2');
  const second = await fixture.json('account list --limit 3 --cursor', first.nextCursor);
  expect([...first.accounts, ...second.accounts]).toEqual(all.accounts);
  expect(second.nextCursor).toBeNull();
  const { stdout } = await fixture.admin('account list --limit 2');
  expect(stdout).toMatch(/^E-MAIL +SUB +CREATED +STATUS +LICENSES\n/);
  expect(stdout).toMatch(/\nben@example.com .* enabled +.*Spring campaign \(ended\)\n/);
  expect(stdout).toContain("There are more: --cursor '2' goes on.");
});

test('account show shows one account by its sub or its address', async () => {
  const license = await fixture.license({ ownerId: twins[0]!.sub, tier: 'starter' });
  const shown = await fixture.json(`account show ${twins[0]!.sub}`);
  expect(shown).toMatchObject({
    sub: twins[0]!.sub,
    email: 'twin@example.com',
    emailVerified: true,
    enabled: true,
    status: 'CONFIRMED',
    createdAt: '2026-01-01T00:00:00.000Z',
    licenses: [{ licenseId: license.licenseId, name: 'Starter', ownerEmail: 'twin@example.com' }],
  });
  expect(await fixture.json('account show ada@example.com')).toEqual(
    await fixture.json(`account show ${ada.sub}`),
  );
  expect(await fixture.json('find ada@example.com')).toEqual(await fixture.json(`find ${ada.sub}`));
  const none = await fixture.admin(`account show ${twins[1]!.sub}`);
  expect(none.stdout).toContain('It has no licenses.');
  expect(await fixture.refused(1, 'account show no-such-sub')).toContain('There is no account no-such-sub.');
});

test('the licenses are listed that an account left which is gone from the pool, until they have ended without a name', async () => {
  const grant = (owner: string) => fixture.json(`license grant --tier pro --name Left --owner ${owner}`);
  const listed = async () =>
    (await fixture.json('license list --deleted')).licenses.map((one: License) => one.licenseId);
  pool.options.accounts.push({ ...twins[0]!, sub: 'leaver', email: 'leaver@example.com' });
  const [left, stays] = [await grant('leaver'), await grant(ben.sub)];
  expect(await listed()).not.toContain(left.licenseId);
  pool.options.accounts.splice(-1);
  expect(await listed()).toContain(left.licenseId);
  expect(await listed()).not.toContain(stays.licenseId);
  await fixture.json(`license end ${left.licenseId} --yes`);
  expect(await listed()).toContain(left.licenseId);
  await fixture.json(`license change ${left.licenseId} --no-name`);
  expect(await listed()).not.toContain(left.licenseId);
});

test('an account is invited once, by its address, and disabled with --yes', async () => {
  const { ownerId } = await fixture.json('account invite new@example.org');
  const show = () => fixture.json('account show new@example.org');
  expect(await show()).toMatchObject({ sub: ownerId, emailVerified: true, status: 'FORCE_CHANGE_PASSWORD' });
  expect(await fixture.refused(1, 'account invite NEW@example.org')).toContain('already');
  expect(await fixture.refused(2, 'account invite nobody')).toContain('by its e-mail address');
  for (const [words, enabled] of [
    ['disable --yes', false],
    ['enable', true],
  ] as const) {
    await fixture.json(`account ${words} ${ownerId}`);
    expect(await show()).toMatchObject({ enabled });
  }
  pool.options.accounts.splice(-1);
});

test('who lost the device with the app signs in by the password alone, and no session of before goes on', async () => {
  Object.assign(ben, { totp: { secret: 'A'.repeat(32), isOn: true } });
  const { stdout } = await fixture.admin(`account recover ${ben.email} --yes`);
  expect(stdout).toContain(`${ben.sub} needs no app any more.`);
  expect(ben).toMatchObject({ signedOutAtMs: expect.any(Number) });
  expect(ben).not.toHaveProperty('totp');
});

test('a pool that is not there, or that may not be read, is named with what is wrong; licenses are listed all the same', async () => {
  const path = dataFolder(fixture.folder).engines;
  const { credentials, region } = pool.options.apiSigning;
  const engines = { ...fixture.engines, ...credentials, region, cognitoUrl: userPoolsApiOf(pool.baseUrl) };
  const { licenses } = await fixture.json('license list');
  for (const [changes, sentence] of [
    [{ userPoolId: 'us-east-1_gone' }, 'There is no user pool us-east-1_gone in this region.'],
    [
      { userPoolId: poolId, secretAccessKey: 'wrong' },
      `The user pool ${poolId} can't be asked: Cognito answered`,
    ],
    [{ userPoolId: poolId, cognitoUrl: 'http://127.0.0.1:9' }, `The user pool ${poolId} can't be asked:`],
  ] as const) {
    writeJson(path, { ...engines, ...changes });
    expect(await fixture.refused(1, 'license list --owner ada@example.com')).toContain(sentence);
    const listed = await fixture.json('license list');
    expect(listed.licenses).toEqual(licenses.map((one: object) => ({ ...one, ownerEmail: null })));
  }
  writeJson(path, { ...engines, userPoolId: poolId });
});
