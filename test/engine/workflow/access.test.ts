import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { isActive } from '../../../shared/domain/license.ts';
import { authenticate, type AccessDeps } from '../../../shared/http/authenticate.ts';
import { readRequest } from '../../../shared/http/request.ts';
import { keyLimitNames, routes } from '../../../shared/routes.ts';
import { apiKeyStore } from '../../../shared/store/api-key-store.ts';
import { licenseStore } from '../../../shared/store/license-store.ts';
import { rateLogStore } from '../../../shared/store/rate-log-store.ts';
import { grant } from '../../support/grants.ts';
import { onTheLine } from '../../support/on-the-line.ts';
import { startWorld, type World } from './world.ts';

let world: World;
let deps: AccessDeps;
const logged: unknown[] = [];
let broken = new Set<string>();

beforeAll(async () => {
  world = await startWorld();
  const note = (message: string, facts: object) => void logged.push({ message, ...facts });
  deps = {
    apiKeys: apiKeyStore(world.table),
    licenses: licenseStore(world.table),
    rateLogs: rateLogStore(world.table),
    sessions: () => {
      throw new Error('no session was sent');
    },
    clock: world.clock,
    log: { info: note, error: note },
  };
  onTheLine(world.table, ({ name, send }) => {
    if (broken.has(name)) throw new Error('the table is away');
    return send();
  });
});

afterAll(() => world.close());

beforeEach(() => {
  broken = new Set();
  world.clock.shiftMs = 0;
});

function call(key: string, route: 'createGeneration' | 'getGeneration') {
  const event = { httpMethod: 'GET', multiValueHeaders: { Authorization: [`Bearer ${key}`] } };
  const request = readRequest(event as never, 'id', Date.now());
  return authenticate(request, routes[route], deps, () => Promise.resolve(null));
}

test('when the rate limit itself fails, generating is refused and reading goes on', async () => {
  const { key, keyId } = await grant(world.table);
  broken = new Set(['PutItemCommand']);
  await expect(call(key, 'createGeneration')).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    retryAfterSeconds: 5,
  });
  expect((await call(key, 'getGeneration')).caller.callerId).toBe(keyId);
  expect(logged).toMatchObject([
    { message: 'rate limit fault', requestId: 'id' },
    { message: 'rate limit fault', requestId: 'id' },
  ]);
  expect(JSON.stringify(logged)).not.toContain(key);
});

test('a key that shares its id with a stored one, but not its whole hash, is refused', async () => {
  const { key } = await grant(world.table, { key: { sha256: '0'.repeat(64) } });
  await expect(call(key, 'createGeneration')).rejects.toMatchObject({ code: 'INVALID_API_KEY' });
});

test('a revoked key is refused on the next request, and stays refused', async () => {
  const { key, keyId } = await grant(world.table);
  await call(key, 'createGeneration');
  const stored = (await deps.apiKeys.get(keyId))!;
  const first = await deps.apiKeys.revoke(stored, Date.now());
  const again = await deps.apiKeys.revoke(stored, Date.now() + 5000);
  expect(again).toEqual({ ...stored, revokedAtMs: first.revokedAtMs });
  await expect(call(key, 'createGeneration')).rejects.toMatchObject({ code: 'INVALID_API_KEY' });
});

test('a key is refused from the very millisecond at which it expires', async () => {
  const expiresAtMs = Date.now() + 60_000;
  const { key } = await grant(world.table, { key: { expiresAtMs } });
  await call(key, 'createGeneration');
  world.clock.now = () => expiresAtMs;
  await expect(call(key, 'createGeneration')).rejects.toMatchObject({ code: 'INVALID_API_KEY' });
  world.clock.now = () => Date.now() + world.clock.shiftMs;
});

test('a change of the access record holds from the next request on', async () => {
  const { key, license } = await grant(world.table);
  for (const change of [{ status: 'past_due' }, { status: 'active', apiAccess: false }] as const) {
    await deps.licenses.update(license.licenseId, change);
    await expect(call(key, 'getGeneration')).rejects.toMatchObject({ code: 'INVALID_API_KEY' });
  }
  const mended = await deps.licenses.update(license.licenseId, { apiAccess: true });
  expect(isActive(mended!, Date.now())).toBe(true);
  await call(key, 'getGeneration');
});

test('when a key was last used is told by its limits, whichever was used', async () => {
  const { key, keyId } = await grant(world.table);
  expect((await deps.apiKeys.lastUsed([keyId], keyLimitNames)).get(keyId)).toBeNull();
  const beforeMs = Date.now();
  await call(key, 'getGeneration');
  const lastUsedMs = (await deps.apiKeys.lastUsed([keyId], keyLimitNames)).get(keyId)!;
  expect(lastUsedMs).toBeGreaterThanOrEqual(beforeMs);
  expect(lastUsedMs).toBeLessThanOrEqual(Date.now());
});

test('65 parallel reads on one key: exactly 60 pass', async () => {
  const { key } = await grant(world.table);
  const results = await Promise.allSettled(Array.from({ length: 65 }, () => call(key, 'getGeneration')));
  const refused = results.filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(5);
  for (const result of refused) expect(result).toMatchObject({ reason: { code: 'RATE_LIMITED' } });
});
