import { beforeAll, describe, expect, test } from '@jest/globals';
import { poolId, userPoolsApiOf } from '../../../local/cognito/user-pool.ts';
import { dataFolder, writeJson } from '../../../local/data-folder.ts';
import { ada, ben, usePool } from '../local/cognito/support.ts';
import { useAdmin } from './fixture.ts';

const world = useAdmin();
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
  const engines = { ...world.engines, ...credentials, region, cognitoUrl, userPoolId: poolId };
  writeJson(dataFolder(world.folder).engines, engines);
});

describe('an e-mail address stands for an account', () => {
  test('when a license is granted, and when licenses are listed; the address is told beside the sub', async () => {
    const granted = await world.json('license grant --owner ADA@example.COM --tier pro');
    expect(granted).toMatchObject({ ownerId: ada.sub, ownerEmail: ada.email });
    const ofBen = await world.license({ ownerId: ben.sub });
    const ofNobody = await world.license({ ownerId: 'nobody' });
    const { licenses } = await world.json('license list --owner ada@example.com');
    expect(licenses).toEqual([granted]);
    const all = await world.json('license list');
    const emailOf = (licenseId: string) =>
      all.licenses.find((one: any) => one.licenseId === licenseId).ownerEmail;
    expect([granted, ofBen, ofNobody].map(({ licenseId }) => emailOf(licenseId))).toEqual([
      ada.email,
      ben.email,
      null,
    ]);
    expect((await world.admin(`license show ${granted.licenseId}`)).stdout).toMatch(
      /\nE-mail +Ada@Example.com\n/,
    );
  });

  test.each(['nobody@example.com', 'ada@example.co', '*@example.com', '"@example.com'])(
    'and where %s is nobody’s, nothing is granted',
    async (email) => {
      const before = await world.json('license list');
      expect(await world.refused(1, 'license grant --tier pro --owner', email)).toBe(
        'error: No account has this e-mail address.\n',
      );
      expect(await world.json('license list')).toEqual(before);
    },
  );

  test('but not one that two accounts have', async () => {
    for (const command of ['license grant --tier pro --owner', 'license list --owner', 'account show']) {
      expect(await world.refused(1, command, 'twin@example.com')).toContain(
        'Several accounts have this e-mail address. Name the one',
      );
    }
  });

  test.each(['@', 'a@', '@b', 'a@b@c', 'a b@c', 'a\n@b', `${'a'.repeat(250)}@b.de`, 'a/b'])(
    '%j is neither an address nor a sub',
    async (text) => {
      expect(await world.refused(2, 'account show', text)).toContain(
        "an account's Cognito sub or its e-mail",
      );
    },
  );
});

test('account list tells every account with its licenses, a page at a time', async () => {
  await world.license({ ownerId: ben.sub, status: 'ended', givenName: 'Spring campaign' });
  const all = await world.json('account list');
  expect(all.accounts.map(({ sub }: { sub: string }) => sub)).toEqual(
    [ada, ben, ...twins].map(({ sub }) => sub),
  );
  expect(all.nextCursor).toBeNull();
  const first = await world.json('account list --limit 2');
  const second = await world.json('account list --limit 3 --cursor', first.nextCursor);
  expect([...first.accounts, ...second.accounts]).toEqual(all.accounts);
  expect(second.nextCursor).toBeNull();
  const { stdout } = await world.admin('account list --limit 2');
  expect(stdout).toMatch(/^E-MAIL +SUB +CREATED +STATUS +LICENSES\n/);
  expect(stdout).toMatch(/\nben@example.com .* enabled +.*Spring campaign \(ended\)\n/);
  expect(stdout).toContain("There are more: --cursor '2' goes on.");
});

test('account show tells one account by its sub or its address', async () => {
  const license = await world.license({ ownerId: twins[0]!.sub, tier: 'starter' });
  const shown = await world.json(`account show ${twins[0]!.sub}`);
  expect(shown).toMatchObject({
    sub: twins[0]!.sub,
    email: 'twin@example.com',
    emailVerified: true,
    enabled: true,
    createdAt: '2026-01-01T00:00:00.000Z',
    licenses: [{ licenseId: license.licenseId, name: 'Starter', ownerEmail: 'twin@example.com' }],
  });
  expect(await world.json('account show ada@example.com')).toEqual(
    await world.json(`account show ${ada.sub}`),
  );
  const none = await world.admin(`account show ${twins[1]!.sub}`);
  expect(none.stdout).toContain('It has no licenses.');
  const unknown = await world.admin('account show no-such-sub');
  expect(unknown).toMatchObject({ code: 1, stderr: 'error: There is no account no-such-sub.\n' });
});

test('a pool that is not there, or that may not be read, is told by what is wrong; licenses are listed all the same', async () => {
  const path = dataFolder(world.folder).engines;
  const { credentials, region } = pool.options.apiSigning;
  const engines = { ...world.engines, ...credentials, region, cognitoUrl: userPoolsApiOf(pool.baseUrl) };
  const { licenses } = await world.json('license list');
  for (const [changes, sentence] of [
    [{ userPoolId: 'us-east-1_gone' }, 'There is no user pool us-east-1_gone in this region.'],
    [
      { userPoolId: poolId, secretAccessKey: 'wrong' },
      `The user pool ${poolId} can't be asked: Cognito answered`,
    ],
    [{ userPoolId: poolId, cognitoUrl: 'http://127.0.0.1:9' }, `The user pool ${poolId} can't be asked:`],
  ] as const) {
    writeJson(path, { ...engines, ...changes });
    expect(await world.refused(1, 'license list --owner ada@example.com')).toContain(sentence);
    const listed = await world.json('license list');
    expect(listed.licenses).toEqual(licenses.map((one: object) => ({ ...one, ownerEmail: null })));
  }
  writeJson(path, { ...engines, userPoolId: poolId });
});
