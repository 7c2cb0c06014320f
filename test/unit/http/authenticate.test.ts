import { expect, test } from '@jest/globals';
import { fingerprintApiKey, newApiKey } from '../../../shared/keys/api-key.ts';
import { authenticate, type AccessDeps } from '../../../shared/http/authenticate.ts';
import { readRequest } from '../../../shared/http/request.ts';
import { routes } from '../../../shared/routes/routes.ts';
import { sampleLicense } from '../../support/unit-samples.ts';

/** `test/http/refused-keys.test.ts` holds what is read for a key that is refused. */
test('a key of a license that has ended is refused after its license was read: the rate log’s write may never end', async () => {
  const steps: string[] = [];
  const step = async <T>(name: string, value: T): Promise<T> => {
    steps.push(name);
    return value;
  };
  const rawKey = newApiKey();
  const key = { ...fingerprintApiKey(rawKey), licenseId: 'lic_1', revokedAtMs: null, expiresAtMs: null };
  const deps = {
    apiKeys: { getWithRateLog: () => step('key', { key, rate: { log: [], version: 1 } }) },
    licenses: { get: () => step('license', { ...sampleLicense, status: 'ended' }) },
    rateLogs: { put: () => step('rate log', new Promise(() => {})) },
    clock: { now: () => 0 },
  } as unknown as AccessDeps;
  const event = { multiValueHeaders: { Authorization: [`Bearer ${rawKey}`] } };
  const request = readRequest(event as never, 'id', 0);
  const refused = authenticate(request, routes.createGeneration, deps);
  await expect(refused).rejects.toMatchObject({ code: 'INVALID_API_KEY' });
  expect(steps).toEqual(['key', 'license', 'rate log']);
});
