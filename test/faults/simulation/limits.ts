import type { Run } from './runs.ts';

/**
 * Follows limits (credits and requests in flight of a license and of a key) and what is taken of each while requests are
 * under way, so that a refusal can be judged by what was true meanwhile. A limit has a name, as `credits of lic_1`.
 */
export function createLimits() {
  const limits = new Map<string, number>();
  /** What there is beside a limit, where there is anything. */
  const spare = new Map<string, number>();
  /** By limit, then by period. */
  const taken = new Map<string, Map<string, number>>();
  const observations: ReturnType<typeof newObservation>[] = [];

  /** What a limit allowed, and what was taken of it, while a run was under way. */
  function newObservation(run: Run, name: string, wanted: number) {
    /** Taken is without its own reservation, which it `holds` once it is among what is taken. */
    const least = { leastAllowed: Infinity, leastSpare: Infinity };
    return { run, name, wanted, mostAllowed: 0, ...least, mostTaken: 0, holds: false };
  }

  const observationOf = (run: Run | null, name: string) =>
    observations.find((observation) => observation.run === run && observation.name === name);

  function observe(name: string): void {
    const limit = limits.get(name) ?? 0;
    const most = Math.max(0, ...(taken.get(name)?.values() ?? []));
    for (const observation of observations) {
      if (observation.name !== name) continue;
      observation.mostAllowed = Math.max(observation.mostAllowed, limit);
      observation.leastAllowed = Math.min(observation.leastAllowed, limit);
      observation.leastSpare = Math.min(observation.leastSpare, spare.get(name) ?? 0);
      const own = observation.holds ? observation.wanted : 0;
      observation.mostTaken = Math.max(observation.mostTaken, most - own);
    }
  }

  return {
    begin(run: Run, name: string, wanted: number): void {
      observations.push(newObservation(run, name, wanted));
      observe(name);
    },
    /**
     * Whether a run may have found no room. It reads the limit first and meets the totals and what is spare later, which on a
     * machine that stood still may be of two moments.
     */
    wasTight(run: Run, name: string): boolean {
      const { mostTaken, wanted, leastAllowed, leastSpare } = observationOf(run, name)!;
      return mostTaken + wanted > leastAllowed + leastSpare;
    },
    limitIs(name: string, limit: number): void {
      limits.set(name, limit);
      observe(name);
    },
    spareIs(name: string, amount: number): void {
      spare.set(name, amount);
      observe(name);
    },
    /** @param reservedBy the run whose reservation is among it now */
    takenIs(name: string, period: string, amount: number, reservedBy: Run | null): void {
      const observation = observationOf(reservedBy, name);
      if (observation) observation.holds = true;
      taken.set(name, (taken.get(name) ?? new Map<string, number>()).set(period, amount));
      observe(name);
    },
    /** The highest limit while a run was under way. A write of it that comes late was decided then. */
    mostAllowed: (run: Run, name: string): number =>
      observationOf(run, name)?.mostAllowed ?? limits.get(name) ?? 0,
  };
}
