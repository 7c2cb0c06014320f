import { serviceBusy } from '../base/errors.ts';
import { requestIdTimeMs } from '../base/ids.ts';
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
import { listTries, placeTry, storeTry, takeTries, type SdkTry, type StoredTries } from './sdk-try-store.ts';
import { waitForEnd } from './wait-for-end.ts';

type TryDeps = GenerationDeps & { table: Table };

/** A first try holds its credits by then, or is refused: it may not come after a later one that has looked for it in vain. */
const firstWithinMs = 3000;
/** Between a later try's looks, longer than that in all. */
const pausesMs = [500, 1000, 1500, 1500];

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
  const storedBeside = (made: Generation) => {
    const ageMs = deps.clock.now() - requestIdTimeMs(command.requestId);
    // It may be its caller who is slow, by references.
    if (earlier === null && ageMs > firstWithinMs) throw serviceBusy(undefined, true);
    return storeTry(made, sent, earlier);
  };
  return acceptGeneration({ ...command, storedBeside }, deps);
}

/** @returns how the try before ended; where it came to nothing, the place that this one takes: its own if it found none. */
async function takeEarlier(
  command: GenerationCommand,
  { digest, count }: SdkTry,
  deps: TryDeps,
): Promise<StoredTries | { ended: Generation }> {
  const { keyId, requestId } = command;
  for (const pauseMs of [0, ...pausesMs]) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const atMs = deps.clock.now();
    const all = await listTries(deps.table, keyId, digest, atMs);
    // Most likely its own program's, which has given this one up: it must not take what another's will look for.
    const isLate = ({ lastTry, atMs: at }: StoredTries) =>
      lastTry > count && at >= requestIdTimeMs(requestId);
    if (pauseMs > 0 && all.some(isLate)) throw anotherTryRuns();
    for (const tries of all.filter(({ lastTry }) => lastTry < count)) {
      if (await takeTries(deps.table, tries, { count, by: requestId, atMs }))
        return resultOf(tries, command, deps);
    }
  }
  return placeTry(deps.table, keyId, { digest, count }, { requestId, atMs: deps.clock.now() });
}

/**
 * Notes a try that was refused before it had a reservation, so that the next one takes no other wish's result. A later one that
 * finds no place leaves none, as two places for one wish may be paid twice.
 * @param dueAtMs when its program was told to try again
 */
export async function noteRefusedTry(
  table: Table,
  { keyId, requestId, receivedAtMs }: { keyId: string; requestId: string; receivedAtMs: number },
  sent: SdkTry,
  dueAtMs: number,
): Promise<void> {
  const { digest, count } = sent;
  if (count === 0) return void (await placeTry(table, keyId, sent, { requestId, atMs: dueAtMs }));
  const all = await listTries(table, keyId, digest, receivedAtMs);
  const own = all.find(({ takenBy }) => takenBy === requestId);
  for (const tries of own ? [own] : all.filter(({ lastTry }) => lastTry < count)) {
    if (await takeTries(table, tries, { count, by: requestId, atMs: dueAtMs })) return;
  }
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
