import type { Run } from './runs.ts';

/** What a license allowed while a run was under way. */
interface Watch {
  licenseId: string;
  credits: number;
  /** The highest limit of that time. */
  mostAllowed: number;
  /** Whether at some moment of it there was no room for these credits. */
  wasTight: boolean;
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
    const most = Math.max(0, ...(committed.get(watch.licenseId)?.values() ?? []));
    if (most + (watch.holds ? 0 : watch.credits) > limit) watch.wasTight = true;
  }

  function lookAll(licenseId: string): void {
    for (const watch of watches.values()) if (watch.licenseId === licenseId) look(watch);
  }

  return {
    begin(run: Run, licenseId: string, credits: number): void {
      const watch = { licenseId, credits, mostAllowed: 0, wasTight: false, holds: false };
      watches.set(run, watch);
      look(watch);
    },
    of: (run: Run): Watch => watches.get(run)!,
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
