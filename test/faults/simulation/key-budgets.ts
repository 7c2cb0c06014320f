import { periodFromItem, type KeyTally } from '../../../shared/licenses/period-store.ts';
import type { Json } from './database.ts';
import { isOpen, type StoredRecord } from './invariants.ts';
import { createLimits } from './limits.ts';
import type { Run } from './runs.ts';

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
