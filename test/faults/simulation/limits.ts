import type { Run } from './runs.ts';

/** What a limit allowed, and what was taken of it, while a run was under way. */
interface Observation {
  /** What the run asks for. */
  wanted: number;
  mostAllowed: number;
  leastAllowed: number;
  /** The most that was taken then, without its own reservation. */
  mostTaken: number;
  /** Its own reservation is among what is taken. */
  holds: boolean;
}

/**
 * Follows limits (a license's credits and requests in flight, a key's budget) and what is taken of each while requests are
 * under way, so that a refusal can be judged by what was true meanwhile. A limit has a name, as `credits lic_1`.
 */
export function createLimits() {
  const limits = new Map<string, number>();
  /** By limit, then by period. */
  const taken = new Map<string, Map<string, number>>();
  /** By limit, then by run. */
  const observations = new Map<string, Map<Run, Observation>>();

  function observe(name: string, observation: Observation): void {
    const limit = limits.get(name) ?? 0;
    const most = Math.max(0, ...(taken.get(name)?.values() ?? []));
    observation.mostAllowed = Math.max(observation.mostAllowed, limit);
    observation.leastAllowed = Math.min(observation.leastAllowed, limit);
    const own = observation.holds ? observation.wanted : 0;
    observation.mostTaken = Math.max(observation.mostTaken, most - own);
  }

  function observeAll(name: string): void {
    for (const observation of observations.get(name)?.values() ?? []) observe(name, observation);
  }

  return {
    begin(run: Run, name: string, wanted: number): void {
      const observation = { wanted, mostAllowed: 0, leastAllowed: Infinity, mostTaken: 0, holds: false };
      const others = observations.get(name) ?? new Map<Run, Observation>();
      observations.set(name, others.set(run, observation));
      observe(name, observation);
    },
    /**
     * Whether a run may have found no room. It reads the limit first and meets the totals later, which on a
     * machine that stood still may be of two moments.
     */
    wasTight(run: Run, name: string): boolean {
      const { mostTaken, wanted, leastAllowed } = observations.get(name)!.get(run)!;
      return mostTaken + wanted > leastAllowed;
    },
    limitIs(name: string, limit: number): void {
      limits.set(name, limit);
      observeAll(name);
    },
    /** @param reservedBy the run whose reservation is among it now */
    takenIs(name: string, period: string, amount: number, reservedBy: Run | null): void {
      const observation = reservedBy && observations.get(name)?.get(reservedBy);
      if (observation) observation.holds = true;
      const periods = taken.get(name) ?? new Map<string, number>();
      taken.set(name, periods.set(period, amount));
      observeAll(name);
    },
    /** The highest limit while a run was under way. A write of it that comes late was decided then. */
    mostAllowed: (run: Run, name: string): number =>
      observations.get(name)?.get(run)?.mostAllowed ?? limits.get(name) ?? 0,
  };
}
