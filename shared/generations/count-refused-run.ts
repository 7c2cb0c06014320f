import type { Clock } from '../base/clock.ts';
import { ServiceError } from '../base/errors.ts';
import { addRefusal, countedCategory } from '../limits/refusal-store.ts';
import type { Table } from '../table/table.ts';
import { playgroundCaller } from './contract.ts';
import { askedByKeyId, type Generation } from './generation.ts';

const countWithinMs = 1000;

export interface RefusedRunDeps {
  table: Table;
  clock: Pick<Clock, 'now' | 'timeout'>;
  logFault(requestId: string, what: string, error: unknown): void;
}

/** Counts what this run refused for its content, as the answer of a caller who waits is counted. That it fails is only logged. */
export async function countRefusedRun(
  ended: Generation,
  error: unknown,
  { table, clock, logFault }: RefusedRunDeps,
): Promise<void> {
  const code = 'CONTENT_REFUSED';
  if (ended.errorCode !== code || !(error instanceof ServiceError) || error.code !== code) return;
  const { licenseId, requestId } = ended;
  const owner = { licenseId, caller: askedByKeyId(ended) ?? playgroundCaller };
  const counts = [code, ...(error.categories ?? []).map(countedCategory)];
  await addRefusal(table, owner, counts, clock.now(), clock.timeout(countWithinMs)).catch((cause: unknown) =>
    logFault(requestId, 'refusal not counted', cause),
  );
}
