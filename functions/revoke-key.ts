import type { RevokedKey } from '../shared/contracts/api-key-answers.ts';
import { isKeyId, isRemovedKey } from '../shared/domain/api-key.ts';
import { isoTime } from '../shared/domain/clock.ts';
import { ServiceError } from '../shared/errors.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { readQuery } from '../shared/http/request.ts';
import * as routes from '../shared/route-table.ts';
import { apiKeyStore } from '../shared/store/api-key-store.ts';

/** DELETE /keys/{keyId}. Once this has answered, no request with the key is accepted. */
export const handler = endpoint(routes.revokeKey, {
  deps: ({ table }) => apiKeyStore(table()),
  async run({ request, caller, deps: apiKeys, runtime }) {
    readQuery(request, []);
    const { keyId = '' } = request.pathParameters;
    const nowMs = runtime.clock.now();
    const key = isKeyId(keyId) ? await apiKeys.get(keyId) : null;
    if (key === null || key.ownerId !== caller.ownerId || isRemovedKey(key, nowMs)) {
      throw new ServiceError('KEY_NOT_FOUND', 'None of your API keys has this ID.');
    }
    Object.assign(request.logFields, { keyId, licenseId: key.licenseId });
    const { revokedAtMs } = key.revokedAtMs === null ? await apiKeys.revoke(key, nowMs) : key;
    const answer: RevokedKey = {
      keyId,
      status: 'revoked',
      revokedAt: isoTime(revokedAtMs!),
    };
    return ok(answer);
  },
});
