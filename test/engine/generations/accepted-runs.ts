import type { Generation } from '../../../shared/generations/generation.ts';
import type { Identity } from '../../../shared/identities/identity.ts';
import { recordingMeter } from '../../../shared/base/meter.ts';
import { acceptGeneration } from '../../../shared/generations/create.ts';
import { runAccepted, type AcceptedRunDeps } from '../../../shared/generations/run-accepted.ts';
import { identity, newCommand, type Fixture } from './fixture.ts';

/** Requests that nobody waits for, and the worker's runs of them. */
export function acceptedRuns(fixture: Fixture) {
  /** A request that was accepted, and that nobody runs yet. */
  async function accepted(changes: Parameters<typeof newCommand>[1] = {}) {
    const command = newCommand(fixture, { respondAsync: true, ...changes });
    const acceptance = await acceptGeneration(command, fixture.deps);
    if (acceptance.outcome !== 'accepted') throw new Error('it was replayed');
    return { command, generation: acceptance.generation };
  }

  /** A run of the worker, with a meter of its own; pauses pass at once. */
  function work(generation: Generation, changes: Partial<AcceptedRunDeps> = {}) {
    const meter = recordingMeter();
    const clock = {
      now: () => fixture.clock.now(),
      timeout(ms: number) {
        if (ms > 15_000) return new AbortController().signal;
        fixture.clock.shiftMs += ms;
        return AbortSignal.abort();
      },
    };
    const identities = { get: async (): Promise<Identity | null> => identity };
    const deps: AcceptedRunDeps = { ...fixture.deps, clock, identities, meter, ...changes };
    const { licenseId, requestId } = generation;
    return { meter, ended: runAccepted({ licenseId, requestId }, deps) };
  }

  return { accepted, work };
}

/** The credits that a run counted. */
export const sums = ({ values }: ReturnType<typeof recordingMeter>) =>
  Object.fromEntries(values.filter(([name]) => name.startsWith('credits')));
