import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { demoLicenses } from '../../local/demo-world.ts';
import { billingPeriod } from '../../shared/domain/billing-period.ts';
import type { License } from '../../shared/domain/license.ts';
import { licenseStore } from '../../shared/store/license-store.ts';
import type { Table } from '../../shared/store/table.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { expectCharged } from '../support/books.ts';
import { grant, newLicense, tableOf } from '../support/grants.ts';
import { small } from '../support/requests.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';
import { sessionOf } from '../support/sessions.ts';

let service: RunningService;
let table: Table;
let identities: Record<string, string>;

beforeAll(async () => {
  service = await startService();
  table = tableOf(service.dataDir);
  identities = service.ready.identities;
});

afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

/** A signed-in account with these licenses. */
async function account(...changes: Partial<License>[]) {
  const ownerId = randomUUID();
  const licenses = changes.map((change) => newLicense({ ownerId, ...change }));
  for (const license of licenses) await licenseStore(table).insert(license);
  const session = await sessionOf(service.dataDir, { sub: ownerId });
  const play = (licenseId: unknown) => {
    const body = { ...small, identityId: identities.aurora, licenseId };
    return service.api({ path: '/playground/generate', key: session, body });
  };
  return { licenses, play, get: (path: string) => service.api({ path, key: session }) };
}

const iso = (ms: number) => new Date(ms).toISOString();

describe('GET /licenses', () => {
  test('shows the demo account all its records, oldest first, and nobody else’s', async () => {
    const session = await sessionOf(service.dataDir, { email: 'owner@example.test' });
    const answer = await service.api({ path: '/licenses', key: session });
    expectOk(answer);
    const own = Object.entries(demoLicenses).filter(([, { owner }]) => owner === 'owner');
    const ids = answer.body.licenses.map(({ licenseId }: any) => licenseId);
    expect(ids).toEqual(own.map(([name]) => service.ready.licenses[name]));
    expect(ids).not.toContain(service.ready.licenses.stranger);
  });

  test('tells of each record exactly what its owner needs', async () => {
    const nowMs = Date.now();
    const activeUntilMs = nowMs + 3600_000;
    const { licenses, get } = await account(
      { tier: 'starter', creditsLimit: 500, createdAtMs: nowMs - 2, periodAnchorMs: Date.UTC(2026, 0, 31) },
      { foundingCatalog: false, identityIds: [identities.drift!], activeUntilMs, createdAtMs: nowMs - 1 },
      { status: 'past_due', createdAtMs: nowMs },
    );
    const [starter, special, pastDue] = licenses;
    const period = ({ periodAnchorMs }: License) => {
      const { startMs, endMs } = billingPeriod(periodAnchorMs, Date.now());
      return { billingPeriodStart: iso(startMs), billingPeriodEnd: iso(endMs) };
    };
    const pro = {
      tier: 'Pro',
      status: 'active',
      usable: true,
      apiAccess: true,
      foundingCatalog: true,
      identityIds: [],
      creditsLimit: 4000,
      maxOutputs: 4,
      maxSidePx: 2048,
      activeUntil: null,
    };
    const of = (license: License) => ({
      licenseId: license.licenseId,
      createdAt: iso(license.createdAtMs),
      ...period(license),
    });
    expect((await get('/licenses')).body).toEqual({
      licenses: [
        { ...pro, ...of(starter!), tier: 'Starter', creditsLimit: 500, maxOutputs: 1, maxSidePx: 1024 },
        {
          ...pro,
          ...of(special!),
          foundingCatalog: false,
          identityIds: [identities.drift],
          activeUntil: iso(activeUntilMs),
        },
        { ...pro, ...of(pastDue!), status: 'past_due', usable: false },
      ],
    });
  });

  test('says of each record whether its keys are accepted, as they are', async () => {
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
    const { licenses } = (await service.api({ path: '/licenses', key: session })).body;
    const accepted = [];
    for (const { key } of granted) {
      accepted.push((await service.api({ path: '/identities', key })).status === 200);
    }
    expect(accepted).toEqual([true, false, false, false, false, true]);
    expect(licenses.map(({ usable }: any) => usable)).toEqual(accepted);
  });

  test('is empty for an account without any, and takes no parameter', async () => {
    const { get } = await account();
    const answer = await get('/licenses');
    expectOk(answer);
    expect(answer.body).toEqual({ licenses: [] });
    const refused = await get('/licenses?status=active');
    expectError(refused, 400, 'INVALID_PARAMETERS');
    expect(refused.body.error).toContain('status');
  });

  test('shows 150 records, all of them', async () => {
    const { licenses, get } = await account(
      ...Array.from({ length: 150 }, (_, i): Partial<License> => ({ createdAtMs: i })),
    );
    const ids = (await get('/licenses')).body.licenses.map(({ licenseId }: any) => licenseId);
    expect(ids).toEqual(licenses.map(({ licenseId }) => licenseId));
  });
});

describe('GET /identities by session', () => {
  const founding = ['aurora', 'basalt', 'citrine', 'ember', 'flint', 'glacier', 'harbor'];
  const slugs = ({ body }: { body: any }) => body.identities.map(({ slug }: any) => slug).sort();
  const special = () => ({ foundingCatalog: false, identityIds: [identities.drift!] });

  test('shows what a key of the license is shown, byte for byte', async () => {
    const { license, key } = await grant(table, { identityIds: [identities.drift!] });
    const session = await sessionOf(service.dataDir, { sub: license.ownerId });
    const byKey = await service.api({ path: '/identities', key });
    const bySession = await service.api({ path: `/identities?licenseId=${license.licenseId}`, key: session });
    expectOk(bySession);
    expect(bySession.body).toEqual(byKey.body);
    expect(slugs(bySession)).toEqual([...founding, 'drift'].sort());
  });

  test('without a license shows each identity that any active record may use, once', async () => {
    const { get } = await account({}, special(), { ...special(), foundingCatalog: true });
    expect(slugs(await get('/identities'))).toEqual([...founding, 'drift'].sort());
  });

  test.each([
    { status: 'ended' },
    { status: 'past_due' },
    { apiAccess: false },
    { activeUntilMs: 1 },
  ] as const)('without a license leaves out what only a record with %j may use', async (change) => {
    const { get } = await account({}, { ...special(), ...change });
    expect(slugs(await get('/identities'))).toEqual(founding);
  });

  test('with a license shows only what that one may use', async () => {
    const { licenses, get } = await account({}, special());
    expect(slugs(await get(`/identities?licenseId=${licenses[0]!.licenseId}`))).toEqual(founding);
    expect(slugs(await get(`/identities?licenseId=${licenses[1]!.licenseId}`))).toEqual(['drift']);
  });

  test('shows nothing to an account without a license', async () => {
    const { get } = await account();
    expect((await get('/identities')).body).toEqual({ identities: [] });
  });

  test('refuses a license that is empty, sent twice, unknown or of another account', async () => {
    const { licenses, get } = await account({});
    const own = licenses[0]!.licenseId;
    const other = await account({});
    expectError(await get('/identities?licenseId='), 400, 'INVALID_PARAMETERS');
    expectError(await get(`/identities?licenseId=${own}&licenseId=${own}`), 400, 'INVALID_PARAMETERS');
    expectError(await get('/identities?all=1'), 400, 'INVALID_PARAMETERS');
    for (const id of ['lic_unknown', other.licenses[0]!.licenseId]) {
      expectError(await get(`/identities?licenseId=${id}`), 404, 'LICENSE_NOT_FOUND');
    }
  });

  test('a key names its license by itself: licenseId is refused with a key', async () => {
    const { key, license } = await grant(table);
    const answer = await service.api({ path: `/identities?licenseId=${license.licenseId}`, key });
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toContain('licenseId');
  });
});

describe('the license of POST /playground/generate', () => {
  test.each([undefined, null, '', 5, {}, ['lic_1'], true])('%j is INVALID_PARAMETERS', async (licenseId) => {
    const { play } = await account({});
    const answer = await play(licenseId);
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toContain('licenseId');
  });

  test('that is unknown, or of another account, is LICENSE_NOT_FOUND in the same words', async () => {
    const [own, other] = [await account({}), await account({})];
    const foreign = other.licenses[0]!;
    const sentences = new Set<string>();
    for (const licenseId of [foreign.licenseId, 'lic_unknown', '#', 'x'.repeat(5000)]) {
      const answer = await own.play(licenseId);
      expectError(answer, 404, 'LICENSE_NOT_FOUND');
      sentences.add(answer.body.error);
    }
    expect(sentences.size).toBe(1);
    await expectCharged(table, foreign, 0);
  });

  test.each([
    [{ status: 'ended' }, 'it has ended'],
    [{ status: 'past_due' }, 'it is past due'],
    [{ apiAccess: false }, 'it has no API access'],
    [{ activeUntilMs: Date.UTC(2026, 0, 1) }, 'it was active until 2026-01-01T00:00:00.000Z'],
  ] as [Partial<License>, string][])('with %j is LICENSE_INACTIVE', async (change, why) => {
    const { licenses, play } = await account(change, {});
    const answer = await play(licenses[0]!.licenseId);
    expectError(answer, 403, 'LICENSE_INACTIVE');
    expect(answer.body.error).toContain(why);
    await expectCharged(table, licenses[0]!, 0);
    expectOk(await play(licenses[1]!.licenseId));
  });
});
