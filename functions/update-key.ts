import { changeKeyBody } from '../shared/keys/contract.ts';
import { ServiceError } from '../shared/base/errors.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { keyNotFound, ownedKey } from '../shared/http/owned-key.ts';
import { readBody, readQuery, collectErrors } from '../shared/http/request.ts';
import { keyLimitNames } from '../shared/routes/limits.ts';
import * as routes from '../shared/routes/table.ts';
import { apiKeyStore } from '../shared/keys/store.ts';
import { licenseStore } from '../shared/licenses/store.ts';
import { periodStore } from '../shared/licenses/period-store.ts';
import { keyAnswers } from '../shared/keys/manage.ts';

/** PATCH /keys/{keyId}: its name and its budget, which hold from the next request on. An ended key has both as long as it is listed. */
export const handler = endpoint(routes.updateKey, {
  deps: ({ table }) => ({
    apiKeys: apiKeyStore(table()),
    licenses: licenseStore(table()),
    periods: periodStore(table()),
    keyLimitNames,
  }),
  async run({ request, caller, deps, runtime }) {
    const [{ name, monthlyCredits }] = collectErrors(
      () => readBody(request, changeKeyBody),
      () => readQuery(request, []),
    );
    if (name === undefined && monthlyCredits === undefined) {
      throw new ServiceError('INVALID_PARAMETERS', 'Send name, monthlyCredits or both.');
    }
    const { keyId = '' } = request.pathParameters;
    const nowMs = runtime.clock.now();
    const key = await ownedKey(deps.apiKeys, caller.ownerId, keyId, nowMs);
    Object.assign(request.logFields, { keyId, licenseId: key.licenseId });
    const changes = {
      ...(name !== undefined && { name }),
      ...(monthlyCredits !== undefined && { monthlyCredits }),
    };
    const changed = await deps.apiKeys.change(key, changes, nowMs);
    if (changed === null) throw keyNotFound();
    const [answer] = await keyAnswers([changed], deps, nowMs);
    return ok(answer);
  },
});
