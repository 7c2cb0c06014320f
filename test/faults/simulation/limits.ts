import type { Run } from './runs.ts';

/** What a license, or a key, allowed while a run was under way. */
interface Observation {
  /** The license, or the key. */
  holder: string;
  /** What the run asks for. */
  wanted: number;
  /** The highest limit of that time. */
  mostAllowed: number;
  /** The lowest. */
  leastAllowed: number;
  /** The most that was taken then, without its own reservation. */
  mostTaken: number;
  /** Its own reservation is among what is taken. */
  holds: boolean;
}

/**
 * Follows a limit (credits, or requests in flight) and what is taken of it for each request under way, so that a refusal can
 * be judged by what was true meanwhile.
 */
export function createLimits() {
  const limits = new Map<string, number>();
  /** By license or key, then by period. */
  const taken = new Map<string, Map<string, number>>();
  const observations = new Map<Run, Observation>();

  function observe(observation: Observation): void {
    const limit = limits.get(observation.holder) ?? 0;
    observation.mostAllowed = Math.max(observation.mostAllowed, limit);
    observation.leastAllowed = Math.min(observation.leastAllowed, limit);
    const most = Math.max(0, ...(taken.get(observation.holder)?.values() ?? []));
    observation.mostTaken = Math.max(
      observation.mostTaken,
      most - (observation.holds ? observation.wanted : 0),
    );
  }

  function observeAll(holder: string): void {
    for (const observation of observations.values()) if (observation.holder === holder) observe(observation);
  }

  return {
    begin(run: Run, holder: string, wanted: number): void {
      const observation: Observation = {
        holder,
        wanted,
        mostAllowed: 0,
        leastAllowed: Infinity,
        mostTaken: 0,
        holds: false,
      };
      observations.set(run, observation);
      observe(observation);
    },
    /**
     * Whether a run may have found no room. It reads the limit first and meets the totals later, which on a
     * machine that stood still may be of two moments.
     */
    wasTight(run: Run): boolean {
      const { mostTaken, wanted, leastAllowed } = observations.get(run)!;
      return mostTaken + wanted > leastAllowed;
    },
    reserved(run: Run): void {
      const observation = observations.get(run);
      if (observation) observation.holds = true;
    },
    limitIs(holder: string, limit: number): void {
      limits.set(holder, limit);
      observeAll(holder);
    },
    takenIs(holder: string, period: string, amount: number): void {
      const periods = taken.get(holder) ?? taken.set(holder, new Map()).get(holder)!;
      periods.set(period, amount);
      observeAll(holder);
    },
    /** The highest limit while a run was under way. A write of it that comes late was decided then. */
    mostAllowed: (run: Run, holder: string): number =>
      observations.get(run)?.mostAllowed ?? limits.get(holder) ?? 0,
  };
}
