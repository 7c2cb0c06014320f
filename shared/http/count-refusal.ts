import { isRefusalCode, withoutQuotes, type refusedKeeper } from '../limits/refusals.ts';
import type { Clock } from '../base/clock.ts';
import { loggableError, type Log } from '../base/log.ts';
import { errorCodes } from '../base/errors.ts';
import { addRefusal, countedCategory, keepRefused } from '../limits/refusal-store.ts';
import type { Route } from '../routes/route.ts';
import type { Table } from '../table/table.ts';
import type { ApiRequest } from './request.ts';

/** Where the answer is not streamed its caller waits for the count, so a table that hangs must not hold it. */
const countWithinMs = 1000;

export interface RefusalCountDeps {
  table(): Table;
  clock: Pick<Clock, 'timeout'>;
  log: Log;
  mayKeep: ReturnType<typeof refusedKeeper>;
}

/**
 * Counts a request that was refused, for the license that it was known to be of, and keeps what it was refused for, at most once in
 * ten seconds. Whatever goes wrong is only logged: what is there to be looked at must never change an answer.
 */
export async function countRefusal(
  request: ApiRequest,
  { method, path }: Pick<Route, 'method' | 'path'>,
  deps: RefusalCountDeps,
): Promise<void> {
  const {
    refusalOwner: owner,
    refusedBecause,
    refusedCategories,
    requestId,
    receivedAtMs,
    logFields,
  } = request;
  const { code } = logFields;
  if (owner === null || !isRefusalCode(code)) return;
  const signal = deps.clock.timeout(countWithinMs);
  try {
    const writes = [];
    if (code !== 'CONTENT_REFUSED' || refusedCategories !== undefined) {
      const counts = [code, ...(refusedCategories ?? []).map(countedCategory)];
      writes.push(addRefusal(deps.table(), owner, counts, receivedAtMs, signal));
    }
    if (deps.mayKeep(owner.licenseId, receivedAtMs)) {
      const { status } = errorCodes[code];
      const error = withoutQuotes(refusedBecause);
      const refused = { requestId, atMs: receivedAtMs, route: `${method} ${path}`, status, code, error };
      writes.push(keepRefused(deps.table(), owner, refused, signal));
    }
    await Promise.all(writes);
  } catch (cause) {
    deps.log.error('refusal not counted', { requestId, code, causes: loggableError(cause) });
  }
}
