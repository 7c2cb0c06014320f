import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { fingerprintApiKey, isApiKey } from '../../shared/domain/api-key.ts';
import type { License } from '../../shared/domain/license.ts';
import { licenseStore } from '../../shared/store/license-store.ts';
import type { Table } from '../../shared/store/table.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { grant, issueKey, newLicense, tableOf } from '../support/grants.ts';
import { removeFolder, startService, type ApiAnswer, type RunningService } from '../support/service.ts';
import { sessionOf } from '../support/sessions.ts';
import { pause, until } from '../support/until.ts';

let service: RunningService;
let table: Table;

beforeAll(async () => {
  service = await startService();
  table = tableOf(service.dataDir);
});

afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

interface Account {
  license: License;
  session: string;
  create(body?: unknown): Promise<ApiAnswer>;
  list(): Promise<ApiAnswer>;
  revoke(keyId: string): Promise<ApiAnswer>;
}

/** A signed-in account with one license and no key. */
async function account(changes: Partial<License> = {}): Promise<Account> {
  const license = newLicense(changes);
  await licenseStore(table).insert(license);
  const session = await sessionOf(service.dataDir, { sub: license.ownerId });
  const { licenseId } = license;
  const call = (path: string, rest: object = {}) => service.api({ path, key: session, ...rest });
  return {
    license,
    session,
    create: (body = { licenseId, name: 'k' }) => call('/keys', { method: 'POST', body }),
    list: () => call('/keys'),
    revoke: (keyId) => call(`/keys/${keyId}`, { method: 'DELETE' }),
  };
}

const use = (key: string) => service.api({ path: '/identities', key });

/** A code and its status, counted. */
function countOf(answers: ApiAnswer[], status: number, code?: string): number {
  return answers.filter((answer) => answer.status === status && answer.body.code === code).length;
}

/** 409 comes without a time to wait: no waiting frees a place. */
function expectFull({ status, body, headers }: ApiAnswer): void {
  expect([status, body.code, headers.get('retry-after')]).toEqual([409, 'KEY_LIMIT_REACHED', null]);
  expect(body.error).toContain('25 active keys');
}

describe('POST /keys', () => {
  test('answers 201 with a key that works at once, and what is known of it', async () => {
    const { license, create } = await account();
    const expiresAt = new Date(Date.now() + 3600_000).toISOString();
    const beforeMs = Date.now();
    const answer = await create({ licenseId: license.licenseId, name: ' CI "ß" 🙂 ', expiresAt });
    expect(answer.status).toBe(201);
    const { key, keyId, createdAt, ...rest } = answer.body;
    expect(rest).toEqual({
      keyPrefix: key.slice(0, 13),
      name: ' CI "ß" 🙂 ',
      licenseId: license.licenseId,
      expiresAt,
    });
    expect(isApiKey(key)).toBe(true);
    expect(keyId).toBe(fingerprintApiKey(key).keyId);
    expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(beforeMs);
    expect(Date.parse(createdAt)).toBeLessThanOrEqual(Date.now());
    expectOk(await use(key));
  });

  test('takes a key without an end, said or left out, and an end in any zone', async () => {
    const { license, create } = await account();
    const body = { licenseId: license.licenseId, name: 'x' };
    expect((await create(body)).body.expiresAt).toBeNull();
    expect((await create({ ...body, expiresAt: null })).body.expiresAt).toBeNull();
    const { body: zoned } = await create({ ...body, expiresAt: '2199-01-31T18:00:00+05:45' });
    expect(zoned.expiresAt).toBe('2199-01-31T12:15:00.000Z');
  });

  test('a key stops at its end', async () => {
    const { license, create, list } = await account();
    const expiresAt = new Date(Date.now() + 1500).toISOString();
    const { key } = (await create({ licenseId: license.licenseId, name: 'x', expiresAt })).body;
    expectOk(await use(key));
    await pause(Date.parse(expiresAt) - Date.now() + 1);
    expectError(await use(key), 401, 'INVALID_API_KEY');
    expect((await list()).body.keys).toMatchObject([{ status: 'expired', expiresAt, revokedAt: null }]);
  });

  test.each([
    ['an end that is over', { expiresAt: '2020-01-01T00:00:00Z' }, ['expiresAt']],
    ['an end without a zone', { expiresAt: '2199-01-01T00:00:00' }, ['expiresAt']],
    ['an end that is a number', { expiresAt: 7_300_000_000_000 }, ['expiresAt']],
    ['no name', { name: undefined }, ['name']],
    ['a name of white space', { name: '  ' }, ['name']],
    ['a name of 65 characters', { name: 'x'.repeat(65) }, ['name']],
    ['a license that is no text', { licenseId: 5 }, ['licenseId']],
    ['no license', { licenseId: undefined }, ['licenseId']],
    ['an empty license', { licenseId: '' }, ['licenseId']],
    ['an unknown member', { scopes: [] }, ['scopes']],
    [
      'everything wrong',
      { licenseId: [], name: 0, expiresAt: '', key: 'x' },
      ['licenseId', 'name', 'expiresAt', 'key'],
    ],
  ])('refuses %s, naming it', async (_, change, names) => {
    const { license, create, list } = await account();
    const answer = await create({ licenseId: license.licenseId, name: 'x', ...change });
    expectError(answer, 400, 'INVALID_PARAMETERS');
    for (const name of names) expect(answer.body.error).toContain(name);
    expect((await list()).body.keys).toEqual([]);
  });

  test.each(['', '{', '[]', 'null', '"x"', '5'])('refuses the body %j', async (body) => {
    const { create } = await account();
    expectError(await create(body), 400, 'INVALID_BODY');
  });

  test('refuses an unknown query parameter by name', async () => {
    const { license, session } = await account();
    const body = { licenseId: license.licenseId, name: 'x' };
    const answer = await service.api({ path: '/keys?notify=1', key: session, body });
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toContain('notify');
  });

  test.each([
    [{ status: 'ended' }, 'it has ended'],
    [{ status: 'past_due' }, 'it is past due'],
    [{ apiAccess: false }, 'it has no API access'],
    [{ activeUntilMs: Date.UTC(2026, 0, 1) }, 'it was active until 2026-01-01T00:00:00.000Z'],
  ] as [Partial<License>, string][])('a record with %j gets none: LICENSE_INACTIVE', async (change, why) => {
    const { create, list } = await account(change);
    const answer = await create();
    expectError(answer, 403, 'LICENSE_INACTIVE');
    expect(answer.body.error).toContain(why);
    expect((await list()).body.keys).toEqual([]);
  });

  test('a license that is unknown, or of another account, is LICENSE_NOT_FOUND in the same words', async () => {
    const [own, other] = await Promise.all([account(), account()]);
    const sentences = new Set<string>();
    for (const licenseId of [other.license.licenseId, 'lic_unknown', '#', 'x'.repeat(5000)]) {
      const answer = await own.create({ licenseId, name: 'x' });
      expectError(answer, 404, 'LICENSE_NOT_FOUND');
      sentences.add(answer.body.error);
    }
    expect(sentences.size).toBe(1);
    expect((await other.list()).body.keys).toEqual([]);
  });
});

describe('a record has at most 25 active keys', () => {
  test('of 40 parallel requests exactly 25 get one, 15 are KEY_LIMIT_REACHED, and every key works', async () => {
    const { create, list } = await account();
    const answers = await Promise.all(Array.from({ length: 40 }, () => create()));
    expect([countOf(answers, 201), countOf(answers, 409, 'KEY_LIMIT_REACHED')]).toEqual([25, 15]);
    for (const answer of answers) if (answer.status === 409) expectFull(answer);
    const made = answers.filter(({ status }) => status === 201).map(({ body }) => body);
    expect(new Set(made.map(({ key }) => key)).size).toBe(25);
    const uses = await Promise.all(made.map(({ key }) => use(key)));
    expect(uses.map(({ status }) => status)).toEqual(made.map(() => 200));
    const listed = (await list()).body.keys.map(({ keyId }: any) => keyId);
    expect(listed.toSorted()).toEqual(made.map(({ keyId }) => keyId).toSorted());
  });

  test('keys that the operator issued count, expired and revoked ones do not', async () => {
    const { license, create } = await account();
    const nowMs = Date.now();
    await issueKey(table, license, { createdAtMs: nowMs - 2000, expiresAtMs: nowMs - 1000 });
    await issueKey(table, license, { revokedAtMs: nowMs });
    const [first] = await Promise.all(Array.from({ length: 24 }, () => issueKey(table, license)));
    expect((await create()).status).toBe(201);
    expectFull(await create());
    expect((await use(first!.key)).status).toBe(200);
  });

  test('a revocation frees its place at once, and only one', async () => {
    const { create, revoke } = await account();
    const made = await Promise.all(Array.from({ length: 25 }, () => create()));
    for (const { body } of made.slice(0, 3)) {
      expectFull(await create());
      expectOk(await revoke(body.keyId));
      expectOk(await revoke(body.keyId));
      const after = await Promise.all([create(), create(), create()]);
      expect([countOf(after, 201), countOf(after, 409, 'KEY_LIMIT_REACHED')]).toEqual([1, 2]);
    }
  });

  test('a key that expires frees its place by itself', async () => {
    const { license, create } = await account();
    await Promise.all(Array.from({ length: 24 }, () => create()));
    const expiresAt = new Date(Date.now() + 1200).toISOString();
    const body = { licenseId: license.licenseId, name: 'short', expiresAt };
    expect((await create(body)).status).toBe(201);
    expectFull(await create());
    await until('there is room again', async () => (await create()).status === 201, 5000, 100);
    expectFull(await create());
  });

  test('the limit is each record’s own', async () => {
    const { license, create } = await account();
    const second = newLicense({ ownerId: license.ownerId });
    await licenseStore(table).insert(second);
    await Promise.all(Array.from({ length: 25 }, () => create()));
    expectFull(await create());
    expect((await create({ licenseId: second.licenseId, name: 'x' })).status).toBe(201);
  });
});

describe('GET /keys', () => {
  test('lists the keys of all the account’s licenses, newest first, and of no other', async () => {
    const { license, create, list } = await account();
    const second = newLicense({ ownerId: license.ownerId });
    await licenseStore(table).insert(second);
    await grant(table);
    const expected: unknown[] = [];
    for (const licenseId of [license.licenseId, second.licenseId, license.licenseId]) {
      const { key: _, ...shown } = (await create({ licenseId, name: `of ${licenseId}` })).body;
      expected.unshift({ ...shown, status: 'active', lastUsedAt: null, revokedAt: null });
      // Creation is told to the millisecond.
      await pause(2);
    }
    const answer = await list();
    expectOk(answer);
    expect(answer.body).toEqual({ keys: expected });
  });

  test('tells when a key was last used to generate or to fetch', async () => {
    const { create, list } = await account();
    const { key, keyId } = (await create()).body;
    await create();
    const lastUsed = async () =>
      (await list()).body.keys.map((item: any) => [item.keyId === keyId, Date.parse(item.lastUsedAt)]);
    let sinceMs = Date.now();
    for (const call of [{ path: '/generate', body: '{' }, { path: `/generate/${randomUUID()}` }]) {
      await service.api({ ...call, key });
      const times = await lastUsed();
      expect(times.filter(([own]: [boolean, number]) => !own)).toEqual([[false, NaN]]);
      const [[, atMs]] = times.filter(([own]: [boolean, number]) => own);
      expect(atMs).toBeGreaterThanOrEqual(sinceMs);
      expect(atMs).toBeLessThanOrEqual(Date.now());
      await pause(2);
      sinceMs = Date.now();
    }
  });

  test('is empty for an account without keys, and takes no parameter', async () => {
    const session = await sessionOf(service.dataDir, { sub: randomUUID() });
    const answer = await service.api({ path: '/keys', key: session });
    expectOk(answer);
    expect(answer.body).toEqual({ keys: [] });
    const refused = await service.api({ path: '/keys?limit=5', key: session });
    expectError(refused, 400, 'INVALID_PARAMETERS');
    expect(refused.body.error).toContain('limit');
  });
});

test('the raw key is shown once: not in the list, not in the table, not in any log', async () => {
  const { create, list, revoke } = await account();
  const { key, keyId } = (await create()).body;
  await use(key);
  await revoke(key);
  await revoke(keyId);
  const stored: unknown[] = [];
  let start: Record<string, unknown> | undefined;
  do {
    const page = await table.documents.send(
      new ScanCommand({ TableName: table.name, ExclusiveStartKey: start }),
    );
    stored.push(...page.Items!);
    start = page.LastEvaluatedKey;
  } while (start);
  const log = readFileSync(join(service.dataDir, 'service.log'), 'utf8');
  const texts = [JSON.stringify(stored), JSON.stringify((await list()).body), log, service.output()];
  // Its secret part, wherever it would be cut; and its prefix shows that the right places were searched.
  const secret = key.slice('svc_live_'.length + 4);
  expect(texts.map((text) => text.includes(secret))).toEqual([false, false, false, false]);
  expect(texts[0]).toContain(key.slice(0, 13));
  expect(log).toContain(keyId);
});
