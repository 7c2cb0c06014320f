import { asFailure } from '../common/failure.ts';
import type { Stores } from '../common/stores.ts';
import { cleanUp, tracesOf } from './clean-up.ts';
import type { Interruption } from './interruption.ts';
import { Mismatch } from './mismatch.ts';
import type { SmokePlace } from './place.ts';
import type { SmokeContext, Step, StepResult } from './step.ts';
import { steps } from './steps/all.ts';
import { makeWorld, type SmokeWorld } from './world.ts';

/** Where each result goes as soon as it is known. */
export type Tell = (result: StepResult) => void;

/** Runs every check, also after a failed one, then removes everything that the run made. */
export async function runSteps(
  place: SmokePlace,
  stores: Stores,
  world: SmokeWorld,
  interruption: Interruption,
  tell: Tell,
): Promise<StepResult[]> {
  const results: StepResult[] = [];
  const note = (result: StepResult) => {
    results.push(result);
    tell(result);
  };
  const made = await measured('a temporary license and key are made', place, async () => {
    const issued = await makeWorld(stores, world, Date.now());
    const context: SmokeContext = { place, stores, world, issued, image: null };
    return context;
  });
  note(made.result);
  if (made.value !== null) {
    for (const step of steps) {
      if (interruption.exitCode() !== null) note(skipped(step, 'the run was interrupted'));
      else note(await runStep(step, made.value));
    }
  }
  const issuedKeyId = made.value?.issued.key.keyId ?? null;
  const removed = await measured(
    'everything made for the checks is removed, and nothing is left',
    place,
    async () => {
      const left = await cleanUp(place, stores, world, issuedKeyId).catch((error: unknown) => {
        const { message } = asFailure(error, place);
        throw new Mismatch(`${message} Remove ${tracesOf(world)} by hand.`, { cause: error });
      });
      if (left !== null) throw new Mismatch(`${left}: remove them by hand`);
    },
  );
  note(removed.result);
  return results;
}

async function runStep(step: Step, context: SmokeContext): Promise<StepResult> {
  const reason = step.skip?.(context) ?? null;
  if (reason !== null) return skipped(step, reason);
  return (await measured(step.name, context.place, () => step.run(context))).result;
}

function skipped({ name }: Step, reason: string): StepResult {
  return { name, status: 'skipped', durationMs: 0, reason };
}

/** Runs a check and times it. The value is null when it failed. */
async function measured<T>(
  name: string,
  place: SmokePlace,
  work: () => Promise<T>,
): Promise<{ result: StepResult; value: T | null }> {
  const startMs = performance.now();
  const ended = (status: 'passed' | 'failed', reason: string | null): StepResult => ({
    name,
    status,
    durationMs: Math.round(performance.now() - startMs),
    reason,
  });
  try {
    const value = await work();
    return { result: ended('passed', null), value };
  } catch (error) {
    const { message } = error instanceof Mismatch ? error : asFailure(error, place);
    return { result: ended('failed', message), value: null };
  }
}
