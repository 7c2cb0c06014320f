import type { KeyList } from '../shared/contracts/api-key-answers.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { readQuery } from '../shared/http/request.ts';
import { keyLimitNames, routes } from '../shared/routes.ts';
import { apiKeyStore } from '../shared/store/api-key-store.ts';
import { keyAnswer } from '../shared/workflow/api-keys.ts';

/** GET /keys: every key of the account, newest first, whatever became of it. */
export const handler = endpoint(routes.listKeys, {
  deps: ({ table }) => apiKeyStore(table()),
  load: ({ credential, deps }) => deps.listByOwner(credential.ownerId),
  async run({ request, deps: apiKeys, loaded: keys, runtime }) {
    readQuery(request, []);
    const lastUsed = await apiKeys.lastUsed(
      keys.map(({ keyId }) => keyId),
      keyLimitNames,
    );
    const nowMs = runtime.clock.now();
    const list: KeyList = { keys: keys.map((key) => keyAnswer(key, lastUsed.get(key.keyId) ?? null, nowMs)) };
    return ok(list);
  },
});
