import { beforeAll, expect, test } from '@jest/globals';
import { fingerprintApiKey, isApiKey, keyPrefix } from '../../../shared/keys/api-key.ts';
import { rateLogStore } from '../../../shared/limits/rate-log-store.ts';
import { apiKeyStore, type ApiKey, type ApiKeyStore } from '../../../shared/keys/store.ts';
import { newStoredKey } from '../../support/grants.ts';
import { useAdmin } from './fixture.ts';

const fixture = useAdmin();
let keys: ApiKeyStore;
beforeAll(() => void (keys = apiKeyStore(fixture.table)));

/** A key as the service stores it, without the cost of a process. */
const storedKey = (licenseId: string, members: Partial<ApiKey> = {}): ApiKey =>
  newStoredKey({ licenseId, ownerId: 'owner', ...members }).stored;

test('a raw key is printed once, by the command that issues it', async () => {
  const { licenseId } = await fixture.license();
  const name = 'Zoë’s app 😀';
  const issue = `key issue ${licenseId} --expires-at 2099-12-31 --name`;
  const { key, ...metadata } = await fixture.json(issue, name);
  expect(isApiKey(key)).toBe(true);
  expect(metadata).toEqual({
    keyId: fingerprintApiKey(key).keyId,
    keyPrefix: keyPrefix(key),
    name,
    licenseId,
    status: 'active',
    createdAt: expect.any(String),
    lastUsedAt: null,
    expiresAt: '2099-12-31T00:00:00.000Z',
    revokedAt: null,
    monthlyCredits: null,
    access: 'license',
    maxInFlight: null,
    creditsUsed: 0,
  });
  expect(await fixture.json(`key list ${licenseId}`)).toEqual({ keys: [metadata] });

  const stored = await keys.get(metadata.keyId);
  expect(stored).toMatchObject({ sha256: fingerprintApiKey(key).sha256, ownerId: 'owner', licenseId });
  const runs = await Promise.all([
    fixture.admin(`key list ${licenseId}`),
    fixture.admin(`key list ${licenseId} --json`),
    fixture.admin(`key revoke ${metadata.keyId} --yes`),
    fixture.admin(`key revoke ${key} --yes`),
    fixture.admin(`usage ${key}`),
  ]);
  for (const { stdout, stderr } of runs) {
    expect(stdout + stderr).not.toContain(key);
    expect(stdout + stderr).not.toContain(stored!.sha256);
  }
  const { stdout } = await fixture.admin(`key issue ${licenseId} --name app`);
  expect(isApiKey(stdout.split('\n')[0]!)).toBe(true);
  expect(stdout).toContain('it is not shown again');
});

test('the list of keys shows their state and last use, newest first', async () => {
  const { licenseId } = await fixture.license();
  const old = storedKey(licenseId, { createdAtMs: 1, expiresAtMs: Date.now() - 1 });
  const used = storedKey(licenseId, { createdAtMs: 2 });
  const others = storedKey((await fixture.license()).licenseId);
  await Promise.all([old, used, others].map((key) => keys.insert(key)));
  const rateLogs = rateLogStore(fixture.table);
  await rateLogs.put(used.keyId, 'fetch', [Date.UTC(2026, 10, 1), Date.UTC(2026, 10, 2)], 0);
  await rateLogs.put(used.keyId, 'generate', [Date.UTC(2026, 9, 30)], 0);
  const list = await fixture.json(`key list ${licenseId}`);
  expect(list.keys).toEqual([
    expect.objectContaining({ keyId: used.keyId, status: 'active', lastUsedAt: '2026-11-02T00:00:00.000Z' }),
    expect.objectContaining({ keyId: old.keyId, status: 'expired', lastUsedAt: null }),
  ]);
});

test('a license whose keys would be refused gets none, and it is said why', async () => {
  const { licenseId } = await fixture.license({ activeUntilMs: Date.UTC(2026, 0, 1) });
  const sentence = await fixture.refused(1, `key issue ${licenseId} --name app`);
  expect(sentence).toContain(`The license ${licenseId} gets no keys: it was active until 2026-01-01T00:00`);
});

test('a budget is given with the key, raised and renamed at once, and only less of it is asked about', async () => {
  const { licenseId } = await fixture.license();
  const { keyId } = await fixture.json(`key issue ${licenseId} --name app --monthly-credits 5`);
  const raised = await fixture.json(`key change ${keyId} --monthly-credits 7 --name`, 'my app');
  expect(raised).toMatchObject({ keyId, name: 'my app', monthlyCredits: 7, creditsUsed: 0 });
  expect(await fixture.refused(1, `key change ${keyId} --monthly-credits 6`)).toContain(
    `add --yes to change the key ${keyId}`,
  );
  expect(await fixture.json(`key change ${keyId} --monthly-credits 6 --yes`)).toMatchObject({
    monthlyCredits: 6,
  });
  expect((await fixture.admin(`key list ${licenseId}`)).stdout).toContain(' 0 of 6 ');
  expect(await fixture.json(`key change ${keyId} --no-monthly-credits`)).toMatchObject({
    name: 'my app',
    monthlyCredits: null,
  });
  expect(await fixture.admin(`key change ${keyId} --monthly-credits 0`)).toMatchObject({ code: 2 });
  const less = `key change ${keyId} --access own --max-in-flight 2`;
  expect(await fixture.refused(1, less)).toContain('add --yes');
  expect(await fixture.json(`${less} --yes`)).toMatchObject({ access: 'own', maxInFlight: 2 });
  expect((await fixture.admin(`key list ${licenseId}`)).stdout).toMatch(/ own +at most 2 /);
  const more = `key change ${keyId} --access license --no-max-in-flight`;
  expect(await fixture.json(more)).toMatchObject({ access: 'license', maxInFlight: null });
  expect(await fixture.refused(1, `${less}000`)).toContain('maxInFlight must be at most');
});
