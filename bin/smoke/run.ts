import { asFailure } from '../common/failure.ts';
import type { Stores } from '../common/stores.ts';
import { Mismatch } from './answers.ts';
import { checks } from './checks.ts';
import { cleanUp, tracesOf } from './clean-up.ts';
import { makeFixture, type IssuedKey, type SmokeFixture } from './fixture.ts';
import type { SmokePlace } from './place.ts';

export interface CheckResult {
  name: string;
  status: 'passed' | 'failed' | 'skipped';
  durationMs: number;
  /** Why it failed or was skipped, null for a check that passed. */
  reason: string | null;
}

/**
 * Runs every check, also after a failed one, then removes everything that the run made.
 * @param isInterrupted whether the checks that are left should be skipped
 * @param note gets each result as soon as it is known
 */
export async function runChecks(
  { place, stores, fixture }: { place: SmokePlace; stores: Stores; fixture: SmokeFixture },
  isInterrupted: () => boolean,
  note: (result: CheckResult) => void,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  const add = (name: string, status: CheckResult['status'], durationMs: number, reason: string | null) => {
    const result = { name, status, durationMs, reason };
    results.push(result);
    note(result);
  };
  const measure = async (name: string, work: () => Promise<void>): Promise<void> => {
    const startMs = performance.now();
    const durationMs = () => Math.round(performance.now() - startMs);
    try {
      await work();
      add(name, 'passed', durationMs(), null);
    } catch (error) {
      const { message } = error instanceof Mismatch ? error : asFailure(error, place);
      add(name, 'failed', durationMs(), message);
    }
  };
  let issued: IssuedKey | null = null;
  await measure('a temporary license and key are made', async () => {
    issued = await makeFixture(stores, fixture);
  });
  const context = { place, stores, fixture, issued: issued!, image: null };
  for (const check of issued === null ? [] : checks) {
    const reason = isInterrupted() ? 'the run was interrupted' : (check.skip?.(context) ?? null);
    if (reason === null) await measure(check.name, () => check.run(context));
    else add(check.name, 'skipped', 0, reason);
  }
  await measure('everything made for the checks is removed, and nothing is left', async () => {
    const keyId = (issued as IssuedKey | null)?.key.keyId;
    const left = await cleanUp(place, stores, fixture, keyId).catch((error: unknown) => {
      const { message } = asFailure(error, place);
      throw new Mismatch(`${message} Remove ${tracesOf(fixture)} by hand.`, { cause: error });
    });
    if (left !== null) throw new Mismatch(`${left}: remove them by hand`);
  });
  return results;
}
