import type { Run } from './runs.ts';

/** What a license allowed while a run was under way. */
interface Observation {
  licenseId: string;
  credits: number;
  /** The highest limit of that time. */
  mostAllowed: number;
  /** The lowest. */
  leastAllowed: number;
  /** The most that was committed then, without its own reservation. */
  mostCommitted: number;
  /** Its own reservation is among what is committed. */
  holds: boolean;
}

export type CreditLimits = ReturnType<typeof createCreditLimits>;

/** Follows limits and period totals for each request under way, so that a refusal can be judged by what was true meanwhile. */
export function createCreditLimits() {
  const limits = new Map<string, number>();
  /** By license, then by period. */
  const committed = new Map<string, Map<string, number>>();
  const observations = new Map<Run, Observation>();

  function observe(observation: Observation): void {
    const limit = limits.get(observation.licenseId) ?? 0;
    observation.mostAllowed = Math.max(observation.mostAllowed, limit);
    observation.leastAllowed = Math.min(observation.leastAllowed, limit);
    const most = Math.max(0, ...(committed.get(observation.licenseId)?.values() ?? []));
    observation.mostCommitted = Math.max(
      observation.mostCommitted,
      most - (observation.holds ? observation.credits : 0),
    );
  }

  function observeAll(licenseId: string): void {
    for (const observation of observations.values())
      if (observation.licenseId === licenseId) observe(observation);
  }

  return {
    begin(run: Run, licenseId: string, credits: number): void {
      const observation: Observation = {
        licenseId,
        credits,
        mostAllowed: 0,
        leastAllowed: Infinity,
        mostCommitted: 0,
        holds: false,
      };
      observations.set(run, observation);
      observe(observation);
    },
    /**
     * Whether a run may have found no room for its credits. It reads the limit first and meets the totals later, which on a
     * machine that stood still may be of two moments.
     */
    wasTight(run: Run): boolean {
      const { mostCommitted, credits, leastAllowed } = observations.get(run)!;
      return mostCommitted + credits > leastAllowed;
    },
    reserved(run: Run): void {
      const observation = observations.get(run);
      if (observation) observation.holds = true;
    },
    limitIs(licenseId: string, limit: number): void {
      limits.set(licenseId, limit);
      observeAll(licenseId);
    },
    committedIs(licenseId: string, period: string, credits: number): void {
      const periods = committed.get(licenseId) ?? committed.set(licenseId, new Map()).get(licenseId)!;
      periods.set(period, credits);
      observeAll(licenseId);
    },
    /** The highest limit while a run was under way. A write of it that comes late was decided then. */
    mostAllowed: (run: Run, licenseId: string): number =>
      observations.get(run)?.mostAllowed ?? limits.get(licenseId) ?? 0,
  };
}
