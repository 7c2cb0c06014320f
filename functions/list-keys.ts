import type { KeyList } from '../shared/contracts/api-key-answers.ts';
import { keyStatus } from '../shared/domain/api-key.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { readCursor, readLimit, writeCursor } from '../shared/http/paging.ts';
import { readQuery } from '../shared/http/request.ts';
import { keyLimitNames } from '../shared/route-limits.ts';
import * as routes from '../shared/route-table.ts';
import { isKeyPlace } from '../shared/store/api-key-pages.ts';
import { apiKeyStore } from '../shared/store/api-key-store.ts';
import { licenseStore } from '../shared/store/license-store.ts';
import { periodStore } from '../shared/store/period-store.ts';
import { keyAnswers } from '../shared/workflow/api-keys.ts';

/**
 * Without `limit` all keys are listed, but no more than Lambda's answer of 6 MB holds: one key may take a kilobyte there. An
 * account gets 100 new keys a day, and lists those that ended for 90 days.
 */
const maxKeysAtOnce = 6000;

/**
 * GET /keys: the account's keys, newest first, those that ended in the last 90 days too. When a key was last used stands in seven
 * rate logs of its own. In a list of all keys they are read for the active ones alone, of which a license has few.
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
    const active = keys.filter((key) => keyStatus(key, nowMs) === 'active');
    const looksAtUse = query.limit === undefined ? active : keys;
    const list: KeyList = {
      keys: await keyAnswers(keys, deps, nowMs, looksAtUse),
      nextCursor: next === null ? null : writeCursor(next),
    };
    return ok(list);
  },
});
