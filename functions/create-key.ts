import { createKeyBody } from '../shared/keys/contract.ts';
import { readBody, readJsonBody, readQuery, collectErrors } from '../shared/http/request.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { created } from '../shared/http/answer.ts';
import { ownedLicense } from '../shared/http/owned-license.ts';
import { showRateLimit } from '../shared/http/rate-limit.ts';
import { ServiceError } from '../shared/base/errors.ts';
import * as routes from '../shared/routes/table.ts';
import { apiKeyStore } from '../shared/keys/store.ts';
import { licenseStore } from '../shared/licenses/store.ts';
import { createdKey, issueApiKey } from '../shared/keys/manage.ts';

/** POST /keys. The answer is the only place where the raw key is ever shown. */
export const handler = endpoint(routes.createKey, {
  deps: ({ table }) => ({ apiKeys: apiKeyStore(table()), licenses: licenseStore(table()) }),
  async run({ request, caller, deps, runtime }) {
    const nowMs = runtime.clock.now();
    const [{ licenseId, name, expiresAt, monthlyCredits = null, access, maxInFlight }] = collectErrors(
      () => readBody(request, createKeyBody),
      () => checkExpiry(readJsonBody(request).expiresAt, nowMs),
      () => readQuery(request, []),
    );
    const expiresAtMs = expiresAt ? Date.parse(expiresAt) : null;
    const license = await ownedLicense(deps.licenses, caller.ownerId, licenseId);
    request.logFields.licenseId = license.licenseId;
    const order = { license, name, expiresAtMs, monthlyCredits, access, maxInFlight };
    const { rawKey, key } = await issueApiKey(order, deps.apiKeys, nowMs, (rate) =>
      showRateLimit(request, routes.createKey.creationLimit, rate),
    );
    request.logFields.keyId = key.keyId;
    return created(createdKey(rawKey, key));
  },
});

/** Only looks whether the time has passed: the contract refuses what is no time. */
function checkExpiry(sent: unknown, nowMs: number): void {
  if (typeof sent === 'string' && Date.parse(sent) <= nowMs) {
    throw new ServiceError('INVALID_PARAMETERS', 'expiresAt must lie in the future.');
  }
}
