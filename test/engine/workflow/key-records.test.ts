import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { fingerprintApiKey, keyPrefix, newApiKey } from '../../../shared/domain/api-key.ts';
import { newId } from '../../../shared/domain/ids.ts';
import { apiKeyStore, type ApiKey, type ApiKeyStore } from '../../../shared/store/api-key-store.ts';
import { rateLogStore } from '../../../shared/store/rate-log-store.ts';
import { startTable, type TableWorld } from './table.ts';

let world: TableWorld;
let keys: ApiKeyStore;

beforeAll(async () => {
  world = await startTable();
  keys = apiKeyStore(world.table);
});

afterAll(() => world.close());
beforeEach(() => world.mend());

function newKey(changes: Partial<ApiKey> = {}): ApiKey {
  const raw = newApiKey();
  return {
    ...fingerprintApiKey(raw),
    keyPrefix: keyPrefix(raw),
    name: 'mine',
    licenseId: newId('license'),
    ownerId: newId('identity'),
    createdAtMs: 1000,
    expiresAtMs: null,
    revokedAtMs: null,
    ...changes,
  };
}

test.each([
  ['as it is', {}],
  ['that expires', { expiresAtMs: 5000 }],
  ['that was revoked before it came here', { revokedAtMs: 3000 }],
  ['that was revoked and would have expired', { revokedAtMs: 3000, expiresAtMs: 5000 }],
])('a key %s is read back as it was stored', async (_what, changes) => {
  const key = newKey(changes);
  expect(await keys.insert(key)).toBe(true);
  expect(await keys.get(key.keyId)).toEqual(key);
  expect(await keys.listByOwner(key.ownerId)).toEqual([key]);
});

test('a key that is not there is null', async () => {
  const { keyId } = newKey();
  expect(await keys.get(keyId)).toBeNull();
  expect(await keys.getWithRateLog(keyId, 'fetch')).toEqual({ key: null, rate: { log: [], version: 0 } });
});

describe('a key and its rate log', () => {
  test('come in one strong read', async () => {
    const key = newKey();
    await keys.insert(key);
    const seen: any[] = [];
    world.state.before = (_name, input) => void seen.push(input.RequestItems[world.table.name]);
    expect(await keys.getWithRateLog(key.keyId, 'fetch')).toEqual({ key, rate: { log: [], version: 0 } });
    expect(seen).toMatchObject([{ ConsistentRead: true }]);
    world.mend();
    await rateLogStore(world.table).put(key.keyId, 'fetch', [1, 2], 0);
    expect(await keys.getWithRateLog(key.keyId, 'fetch')).toEqual({ key, rate: { log: [1, 2], version: 1 } });
    expect((await keys.getWithRateLog(key.keyId, 'generate')).rate).toEqual({ log: [], version: 0 });
  });

  test('tell when it was last used: the end of its newest log', async () => {
    const logs = rateLogStore(world.table);
    const [one, two, never] = [newKey().keyId, newKey().keyId, newKey().keyId];
    await logs.put(one, 'fetch', [10, 20, 30], 0);
    await logs.put(one, 'generate', [5, 25], 0);
    await logs.put(two, 'generate', [40, 50], 0);
    const lastUsed = await keys.lastUsed([one, two, never], ['fetch', 'generate']);
    expect([...lastUsed]).toEqual([
      [one, 30],
      [two, 50],
      [never, null],
    ]);
    expect((await keys.lastUsed([one], ['generate'])).get(one)).toBe(25);
  });
});

test('a revocation is stored with its time, and the key keeps all else', async () => {
  const key = newKey({ expiresAtMs: 5000 });
  await keys.insert(key);
  const revoked = { ...key, revokedAtMs: 2000 };
  expect(await keys.revoke(key, 2000)).toEqual(revoked);
  expect(await keys.get(key.keyId)).toEqual(revoked);
  expect(await keys.revoke(key, 3000)).toEqual(revoked);
});
