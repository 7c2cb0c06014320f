import { createKeyBody } from '../shared/contracts/api-key.ts';
import { readBody, readQuery } from '../shared/http/request.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { created } from '../shared/http/answer.ts';
import { ownedLicense } from '../shared/http/owned-license.ts';
import { ServiceError } from '../shared/errors.ts';
import { routes } from '../shared/routes.ts';
import { apiKeyStore } from '../shared/store/api-key-store.ts';
import { licenseStore } from '../shared/store/license-store.ts';
import { createdKey, issueApiKey } from '../shared/workflow/api-keys.ts';

/** POST /keys. The answer is the only place where the raw key is ever shown. */
export const handler = endpoint(routes.createKey, {
  deps: ({ table }) => ({ apiKeys: apiKeyStore(table()), licenses: licenseStore(table()) }),
  async run({ request, caller, deps, runtime }) {
    readQuery(request, []);
    const { licenseId, name, expiresAt } = readBody(request, createKeyBody);
    const nowMs = runtime.clock.now();
    const expiresAtMs = expiresAt ? Date.parse(expiresAt) : null;
    if (expiresAtMs !== null && expiresAtMs <= nowMs) {
      throw new ServiceError('INVALID_PARAMETERS', 'expiresAt must lie in the future.');
    }
    const license = await ownedLicense(deps.licenses, caller.ownerId, licenseId);
    request.logFields.licenseId = license.licenseId;
    const { rawKey, key } = await issueApiKey({ license, name, expiresAtMs }, deps.apiKeys, nowMs);
    request.logFields.keyId = key.keyId;
    return created(createdKey(rawKey, key));
  },
});
