import type { KeyList } from '../shared/keys/answer-contract.ts';
import { keyStatus } from '../shared/keys/api-key.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { readCursor, readLimit, writeCursor } from '../shared/http/paging.ts';
import { readQuery } from '../shared/http/request.ts';
import { keyLimitNames } from '../shared/routes/limits.ts';
import * as routes from '../shared/routes/table.ts';
import { isKeyPlace } from '../shared/keys/pages.ts';
import { apiKeyStore } from '../shared/keys/store.ts';
import { licenseStore } from '../shared/licenses/store.ts';
import { periodStore } from '../shared/licenses/period-store.ts';
import { keyAnswers } from '../shared/keys/manage.ts';

/** Lambda's answer has at most 6 MB, and one key may take a kilobyte of it. */
const maxKeysAtOnce = 6000;

/**
 * GET /keys: the account's keys, newest first, those that ended in the last 90 days too. When one was last used stands in the
 * rate logs of its limits. In the list of all keys, without `limit`, they are read for the active ones alone.
 */
export const handler = endpoint(routes.listKeys, {
  deps: ({ table }) => ({
    apiKeys: apiKeyStore(table()),
    licenses: licenseStore(table()),
    periods: periodStore(table()),
    keyLimitNames,
  }),
  async run({ request, caller, deps, runtime }) {
    const query = readQuery(request, ['limit', 'cursor']);
    const limit = readLimit(query.limit, maxKeysAtOnce);
    const before = readCursor(query.cursor, isKeyPlace);
    const nowMs = runtime.clock.now();
    const { keys, next } = await deps.apiKeys.listPage(caller.ownerId, { limit, before, nowMs });
    const looksAtUse = keys.filter((key) => query.limit || keyStatus(key, nowMs) === 'active');
    const list: KeyList = {
      keys: await keyAnswers(keys, deps, nowMs, looksAtUse),
      nextCursor: next === null ? null : writeCursor(next),
    };
    return ok(list);
  },
});
