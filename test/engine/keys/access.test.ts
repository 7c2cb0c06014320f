import { beforeAll, expect, test } from '@jest/globals';
import { authenticate, type AccessDeps } from '../../../shared/http/authenticate.ts';
import { readRequest } from '../../../shared/http/request.ts';
import { routes } from '../../../shared/routes/routes.ts';
import { apiKeyStore } from '../../../shared/keys/store.ts';
import { accountStore } from '../../../shared/accounts/store.ts';
import { licenseStore } from '../../../shared/licenses/store.ts';
import { rateLogStore } from '../../../shared/limits/rate-log-store.ts';
import { grant } from '../../support/grants.ts';
import { useTable } from '../generations/use-engines.ts';

const fixture = useTable();
/** The clock stands still, because on a slow machine a minute would pass during a test. */
const nowMs = Date.now();
const logged: unknown[] = [];
let deps: AccessDeps;

beforeAll(() => {
  const note = (message: string, logFields: object) => void logged.push({ message, ...logFields });
  deps = {
    apiKeys: apiKeyStore(fixture.table),
    licenses: licenseStore(fixture.table),
    accounts: accountStore(fixture.table),
    rateLogs: rateLogStore(fixture.table),
    sessions: () => {
      throw new Error('no session was sent');
    },
    clock: { now: () => nowMs, timeout: (ms) => AbortSignal.timeout(ms) },
    log: { info: note, error: note },
  };
});

function call(key: string, route: 'createGeneration' | 'getGeneration') {
  const event = { httpMethod: 'GET', multiValueHeaders: { Authorization: [`Bearer ${key}`] } };
  const request = readRequest(event as never, 'id', nowMs);
  return authenticate(request, routes[route], deps);
}

test('when the rate limit itself fails, generating is refused and reading goes on', async () => {
  const { key, keyId } = await grant(fixture.table);
  fixture.state.before = (name) => (name === 'PutItemCommand' ? new Error('the table is away') : undefined);
  await expect(call(key, 'createGeneration')).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    retryAfterSeconds: 5,
  });
  expect((await call(key, 'getGeneration')).callerId).toBe(keyId);
  const fault = { message: 'rate limit fault', requestId: 'id' };
  expect(logged).toMatchObject([fault, fault]);
  expect(JSON.stringify(logged)).not.toContain(key);
});

test('a key that shares its id with a stored one, but not its whole hash, is refused', async () => {
  const { key } = await grant(fixture.table, { key: { sha256: '0'.repeat(64) } });
  await expect(call(key, 'createGeneration')).rejects.toMatchObject({ code: 'INVALID_API_KEY' });
});

test('a key is refused from the very millisecond at which it expires', async () => {
  const [last, late] = await Promise.all(
    [nowMs + 1, nowMs].map((expiresAtMs) => grant(fixture.table, { key: { expiresAtMs } })),
  );
  await call(last!.key, 'createGeneration');
  await expect(call(late!.key, 'createGeneration')).rejects.toMatchObject({ code: 'INVALID_API_KEY' });
});

test('a change of the license holds from the next request on, and whoever holds a good key learns of it', async () => {
  const { key, license } = await grant(fixture.table);
  for (const [change, why] of [
    [{ status: 'ended' }, 'its license is not active: it has ended'],
    [{ status: 'active', apiAccess: false }, 'its license is not active: it has no API access'],
  ] as const) {
    await deps.licenses.update(license.licenseId, change);
    await expect(call(key, 'getGeneration')).rejects.toMatchObject({
      code: 'INVALID_API_KEY',
      message: expect.stringContaining(why),
    });
  }
  await deps.licenses.update(license.licenseId, { apiAccess: true });
  await call(key, 'getGeneration');
});
