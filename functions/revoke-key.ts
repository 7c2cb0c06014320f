import type { RevokedKey } from '../shared/keys/answer-contract.ts';
import { isoTime } from '../shared/base/clock.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { ownedKey } from '../shared/http/owned-key.ts';
import { readQuery } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';
import { apiKeyStore } from '../shared/keys/store.ts';

/** DELETE /keys/{keyId}. Once this has answered, no request with the key is accepted. */
export const handler = endpoint(routes.revokeKey, {
  deps: ({ table }) => apiKeyStore(table()),
  async run({ request, caller, deps: apiKeys, runtime }) {
    readQuery(request, []);
    const { keyId = '' } = request.pathParameters;
    const nowMs = runtime.clock.now();
    const key = await ownedKey(apiKeys, caller.ownerId, keyId, nowMs);
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
