import { changeKeyBody } from '../shared/keys/contract.ts';
import { ServiceError } from '../shared/base/errors.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { keyNotFound, ownedKey } from '../shared/http/owned-key.ts';
import { readBody, readQuery, collectErrors } from '../shared/http/request.ts';
import { keyLimitNames } from '../shared/routes/limits.ts';
import * as routes from '../shared/routes/table.ts';
import { apiKeyStore, type KeyChanges } from '../shared/keys/store.ts';
import { licenseStore } from '../shared/licenses/store.ts';
import { periodStore } from '../shared/licenses/period-store.ts';
import { checkMaxInFlight, keyAnswers } from '../shared/keys/manage.ts';

/** PATCH /keys/{keyId}: its name, its limits and its access, which hold from the next request on. An ended key has them as long as it is listed. */
export const handler = endpoint(routes.updateKey, {
  deps: ({ table }) => ({
    apiKeys: apiKeyStore(table()),
    licenses: licenseStore(table()),
    periods: periodStore(table()),
    keyLimitNames,
  }),
  async run({ request, caller, deps, runtime }) {
    const [body] = collectErrors(
      () => readBody(request, changeKeyBody),
      () => readQuery(request, []),
    );
    const changes: KeyChanges = Object.fromEntries(
      Object.entries(body).filter(([, value]) => value !== undefined),
    );
    if (Object.keys(changes).length === 0) {
      throw new ServiceError(
        'INVALID_PARAMETERS',
        'Send at least one of name, monthlyCredits, access and maxInFlight.',
      );
    }
    const { keyId = '' } = request.pathParameters;
    const nowMs = runtime.clock.now();
    const key = await ownedKey(deps.apiKeys, caller.ownerId, keyId, nowMs);
    Object.assign(request.logFields, { keyId, licenseId: key.licenseId });
    if (changes.maxInFlight) {
      const license = (await deps.licenses.getMany([key.licenseId])).get(key.licenseId);
      if (license) checkMaxInFlight(changes.maxInFlight, license);
    }
    const changed = await deps.apiKeys.change(key, changes, nowMs);
    if (changed === null) throw keyNotFound();
    const [answer] = await keyAnswers([changed], deps, nowMs);
    return ok(answer);
  },
});
