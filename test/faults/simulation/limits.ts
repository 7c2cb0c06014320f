import { periodFromItem, type KeyTally } from '../../../shared/licenses/period-store.ts';
import { isOpen, type StoredRecord } from './invariants.ts';
import type { Run } from './runs.ts';
import type { Json } from './table-calls.ts';

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

type HasItem = Pick<StoredRecord, 'item'>;

const nothing: KeyTally = { requests: 0, credits: 0, committed: 0 };

/** Follows what each key may commit in a month and what it has committed, as `createLimits` does for licenses. */
export function createKeyBudgets(violation: (sentence: string) => void) {
  const limits = createLimits();
  return {
    begin: limits.begin,
    wasTight: limits.wasTight,
    /** A key without a budget has no limit of its own. */
    keyWritten: ({ keyId, monthlyCredits }: Json): void => limits.limitIs(keyId, monthlyCredits ?? Infinity),
    periodWritten(run: Run, reserves: boolean, before: Json | undefined, period: Json): void {
      if (reserves) limits.reserved(run);
      const earlier = periodFromItem(before ?? null).byKey;
      for (const [keyId, { committed }] of Object.entries(periodFromItem(period).byKey)) {
        limits.takenIs(keyId, period.SK, committed);
        if (!reserves || committed <= (earlier[keyId]?.committed ?? 0)) continue;
        const budget = limits.mostAllowed(run, keyId);
        if (committed > budget) violation(`${keyId} ${period.SK}: ${committed} committed of ${budget}`);
      }
    },
  };
}

/** What is wrong with what a period tells of its keys, given every record that names it. */
export function wrongKeys(period: Json, records: HasItem[]): string | null {
  const { byKey } = periodFromItem(period);
  const keyIds = new Set([...Object.keys(byKey), ...records.map(({ item }) => item.keyId)]);
  for (const keyId of keyIds) {
    const own = records.filter(({ item }) => item.keyId === keyId);
    const wrong = wrongKey(byKey[keyId] ?? nothing, own);
    if (wrong !== null) return `${keyId}: ${wrong}`;
  }
  return null;
}

function wrongKey({ requests, credits: used, committed }: KeyTally, records: HasItem[]): string | null {
  const sum = (of: HasItem[]) => of.reduce((credits, { item }) => credits + item.credits, 0);
  const completed = records.filter(({ item }) => item.status === 'COMPLETED');
  const held = sum(records.filter(isOpen));
  if (used < 0 || used > committed) return `used ${used}, committed ${committed}`;
  if (used !== sum(completed)) return `used ${used}, but ${sum(completed)} were charged`;
  if (requests !== completed.length) return `${requests} requests, but ${completed.length} completed`;
  return committed - used === held ? null : `${committed - used} are held, but ${held} by requests`;
}
