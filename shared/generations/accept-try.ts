import type { Table } from '../table/table.ts';
import {
  acceptGeneration,
  endedAnswer,
  type Accepted,
  type GenerationDeps,
  type Replayed,
} from './create.ts';
import { anotherTryRuns, type GenerationCommand } from './decide.ts';
import { isFinal, type Generation } from './generation.ts';
import { listTries, storeTry, takeTries, type SdkTry, type StoredTries } from './sdk-try-store.ts';
import { waitForEnd } from './wait-for-end.ts';

type TryDeps = GenerationDeps & { table: Table };

/**
 * When nothing is found: an earlier try whose connection broke may still be on its way to its reservation. These are times the
 * number of the try, since that earlier one may be in its own pauses.
 */
const pausesMs = [500, 1000, 1500];
const maxPauseFactor = 4;

/**
 * Accepts a request of a program that tries again by itself: a later try gets the result of the one before.
 * @param sent null where it says of no tries
 * @throws what `acceptGeneration` throws; what the earlier try failed with while this one waited for it, or CANCELLED;
 *   IDEMPOTENCY_IN_PROGRESS when another try runs on.
 */
export async function acceptTry(
  command: GenerationCommand,
  sent: SdkTry | null,
  deps: TryDeps,
): Promise<Accepted | Replayed> {
  if (sent === null) return acceptGeneration(command, deps);
  const earlier = sent.count === 0 ? null : await takeEarlier(command, sent, deps);
  if (earlier !== null && 'ended' in earlier) {
    const { ended } = earlier;
    // Whoever ran it has counted a fault of ours.
    const answer = await endedAnswer(ended, command.license, { noFault: true }, deps);
    return { outcome: 'replayed', generation: ended, answer };
  }
  const storedBeside = (made: Generation) => storeTry(made, sent, earlier);
  return acceptGeneration({ ...command, storedBeside }, deps).catch(async (error: unknown) => {
    if (earlier !== null) await take(earlier, command, sent, deps);
    throw error;
  });
}

function take(tries: StoredTries, { requestId }: GenerationCommand, { count }: SdkTry, deps: TryDeps) {
  return takeTries(deps.table, tries, { count, by: requestId, nowMs: deps.clock.now() });
}

/** @returns how the try before ended; where it came to nothing, the tries whose place this one takes; null where there are none. */
async function takeEarlier(
  command: GenerationCommand,
  sent: SdkTry,
  deps: TryDeps,
): Promise<StoredTries | { ended: Generation } | null> {
  for (const pauseMs of [0, ...pausesMs]) {
    const waitMs = pauseMs * Math.min(sent.count, maxPauseFactor);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    for (const tries of await listTries(deps.table, command.keyId, sent, deps.clock.now())) {
      if (await take(tries, command, sent, deps)) return resultOf(tries, command, deps);
    }
  }
  return null;
}

async function resultOf(
  tries: StoredTries,
  { license: { licenseId } }: GenerationCommand,
  deps: TryDeps,
): Promise<StoredTries | { ended: Generation }> {
  const found = await deps.generations.get(licenseId, tries.requestId);
  // It was refused, or it is deleted.
  if (found === null) return tries;
  if (isFinal(found.status)) {
    // Whoever cancelled it meant no single connection.
    const counts = found.status === 'COMPLETED' || found.errorCode === 'CANCELLED';
    return counts ? { ended: found } : tries;
  }
  const ended = await waitForEnd(found, found.leaseUntilMs, deps);
  if (ended === null || !isFinal(ended.status)) throw anotherTryRuns(found.requestId);
  return { ended };
}
