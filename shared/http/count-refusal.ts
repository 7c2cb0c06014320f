import { isRefusalCode } from '../limits/refusals.ts';
import type { Clock } from '../base/clock.ts';
import { loggableError, type Log } from '../base/log.ts';
import { addRefusal } from '../limits/refusal-store.ts';
import type { Table } from '../table/table.ts';
import type { ApiRequest } from './request.ts';

/** Where the answer is not streamed its caller waits for the count, so a table that hangs must not hold it. */
const countWithinMs = 1000;

export interface RefusalCountDeps {
  table(): Table;
  clock: Pick<Clock, 'timeout'>;
  log: Log;
}

/**
 * Counts a request that was refused, for the license that it was known to be of. Whatever goes wrong is only logged:
 * a number for looking at must never change an answer.
 */
export async function countRefusal(request: ApiRequest, deps: RefusalCountDeps): Promise<void> {
  const { refusalOwner, requestId, receivedAtMs, logFields } = request;
  const { code } = logFields;
  if (refusalOwner === null || !isRefusalCode(code)) return;
  try {
    await addRefusal(deps.table(), refusalOwner, code, receivedAtMs, deps.clock.timeout(countWithinMs));
  } catch (cause) {
    deps.log.error('refusal not counted', { requestId, code, causes: loggableError(cause) });
  }
}
