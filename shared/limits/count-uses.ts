import type { Clock } from '../base/clock.ts';
import { consumeFromRateLog, type RateDecision, type RateLimit } from './rate-limit.ts';
import type { RateLogStore, StoredRateLog } from './rate-log-store.ts';

export interface UseCountDeps {
  rateLogs: RateLogStore;
  clock: Clock;
}

/**
 * Counts uses in a caller's rolling log, all of them or none. A write is refused only when another request was counted in
 * between, so the quota bounds the attempts.
 * @param read the log where it was read before; null to read it here.
 * @throws when the log can't be read or written: nobody knows then whether the uses are within the limit.
 */
export async function countUses(
  callerId: string,
  limit: RateLimit,
  { uses, read }: { uses: number; read: StoredRateLog | null },
  { rateLogs, clock }: UseCountDeps,
): Promise<RateDecision> {
  let stored = read ?? (await rateLogs.get(callerId, limit.name));
  for (let attempt = 0; attempt <= 2 * limit.quota; attempt++) {
    const decision = consumeFromRateLog(stored.log, clock.now(), limit, uses);
    if (!decision.allowed) return decision;
    const newer = await rateLogs.put(callerId, limit.name, decision.log, stored.version);
    if (newer === null) return decision;
    stored = newer;
  }
  throw new Error('the rate log never stood still');
}
