import type { Run } from './runs.ts';

/** What a license allowed while a run was under way. */
interface Observation {
  licenseId: string;
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

export type Limits = ReturnType<typeof createLimits>;

/**
 * Follows a limit (credits, or requests in flight) and what is taken of it for each request under way, so that a refusal can
 * be judged by what was true meanwhile.
 */
export function createLimits() {
  const limits = new Map<string, number>();
  /** By license, then by period. */
  const taken = new Map<string, Map<string, number>>();
  const observations = new Map<Run, Observation>();

  function observe(observation: Observation): void {
    const limit = limits.get(observation.licenseId) ?? 0;
    observation.mostAllowed = Math.max(observation.mostAllowed, limit);
    observation.leastAllowed = Math.min(observation.leastAllowed, limit);
    const most = Math.max(0, ...(taken.get(observation.licenseId)?.values() ?? []));
    observation.mostTaken = Math.max(
      observation.mostTaken,
      most - (observation.holds ? observation.wanted : 0),
    );
  }

  function observeAll(licenseId: string): void {
    for (const observation of observations.values())
      if (observation.licenseId === licenseId) observe(observation);
  }

  return {
    begin(run: Run, licenseId: string, wanted: number): void {
      const observation: Observation = {
        licenseId,
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
    limitIs(licenseId: string, limit: number): void {
      limits.set(licenseId, limit);
      observeAll(licenseId);
    },
    takenIs(licenseId: string, period: string, amount: number): void {
      const periods = taken.get(licenseId) ?? taken.set(licenseId, new Map()).get(licenseId)!;
      periods.set(period, amount);
      observeAll(licenseId);
    },
    /** The highest limit while a run was under way. A write of it that comes late was decided then. */
    mostAllowed: (run: Run, licenseId: string): number =>
      observations.get(run)?.mostAllowed ?? limits.get(licenseId) ?? 0,
  };
}
