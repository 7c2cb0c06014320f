import type { Run } from './runs.ts';

/** What a license allowed while a run was under way. */
interface Watch {
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

export type Watches = ReturnType<typeof createWatches>;

/** Follows limits and books for each request under way, so that a refusal can be judged by what was true meanwhile. */
export function createWatches() {
  const limits = new Map<string, number>();
  /** By license, then by period. */
  const committed = new Map<string, Map<string, number>>();
  const watches = new Map<Run, Watch>();

  function look(watch: Watch): void {
    const limit = limits.get(watch.licenseId) ?? 0;
    watch.mostAllowed = Math.max(watch.mostAllowed, limit);
    watch.leastAllowed = Math.min(watch.leastAllowed, limit);
    const most = Math.max(0, ...(committed.get(watch.licenseId)?.values() ?? []));
    watch.mostCommitted = Math.max(watch.mostCommitted, most - (watch.holds ? watch.credits : 0));
  }

  function lookAll(licenseId: string): void {
    for (const watch of watches.values()) if (watch.licenseId === licenseId) look(watch);
  }

  return {
    begin(run: Run, licenseId: string, credits: number): void {
      const watch: Watch = {
        licenseId,
        credits,
        mostAllowed: 0,
        leastAllowed: Infinity,
        mostCommitted: 0,
        holds: false,
      };
      watches.set(run, watch);
      look(watch);
    },
    /**
     * Whether a run may have found no room for its credits. It reads the limit first and meets the books later, which on a
     * machine that stood still may be of two moments.
     */
    wasTight(run: Run): boolean {
      const { mostCommitted, credits, leastAllowed } = watches.get(run)!;
      return mostCommitted + credits > leastAllowed;
    },
    reserved(run: Run): void {
      const watch = watches.get(run);
      if (watch) watch.holds = true;
    },
    limitIs(licenseId: string, limit: number): void {
      limits.set(licenseId, limit);
      lookAll(licenseId);
    },
    committedIs(licenseId: string, period: string, credits: number): void {
      const periods = committed.get(licenseId) ?? committed.set(licenseId, new Map()).get(licenseId)!;
      periods.set(period, credits);
      lookAll(licenseId);
    },
    /** The highest limit while a run was under way. A write of it that comes late was decided then. */
    mostAllowed: (run: Run, licenseId: string): number =>
      watches.get(run)?.mostAllowed ?? limits.get(licenseId) ?? 0,
  };
}
