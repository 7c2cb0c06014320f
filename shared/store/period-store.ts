import { generationTypes, type GenerationType } from '../contracts/generation.ts';
import type { UsageTally } from '../contracts/usage.ts';
import { getItem, type Item, type Table } from './table.ts';
import { itemKeys } from './table-keys.ts';
import { transact } from './transact.ts';

/** A billing period's totals. `committed` is what is used and what is held together; `used` counts COMPLETED only. */
export interface Period {
  committed: number;
  used: number;
  /** The part of `used` that was imported when the subscription moved to this service. */
  imported: number;
  /** The license's requests that are QUEUED or PROCESSING; 0 in all periods but the one that counts them. */
  inFlight: number;
  byType: Partial<Record<GenerationType, UsageTally>>;
  byIdentity: Record<string, UsageTally>;
  /** By UTC day of completion, `MMDD`: a period holds each at most once. */
  byDay: Record<string, UsageTally>;
}

/*
 * Statistics are numbers at the item's top level, because ADD creates such a number when it is missing. They are named
 * by kind, name and `n` (requests) or `c` (credits). The names are short: the item is written with every generation, and
 * each started kilobyte of it is paid for.
 */
const tallyKinds = { byType: 't', byIdentity: 'i', byDay: 'd' } as const;
const tallyShape = /^([tid])#(.+)#([nc])$/;

/** The names of the statistics that one COMPLETED generation adds to: [requests, credits] pairs. */
export function tallyNames(of: { type: GenerationType; identityId: string; completedAtMs: number }) {
  const day = new Date(of.completedAtMs).toISOString();
  return [
    `${tallyKinds.byType}#${of.type}`,
    `${tallyKinds.byIdentity}#${of.identityId}`,
    `${tallyKinds.byDay}#${day.slice(5, 7)}${day.slice(8, 10)}`,
  ].map((name) => [`${name}#n`, `${name}#c`] as const);
}

export type PeriodStore = ReturnType<typeof periodStore>;

export function periodStore(table: Table) {
  return {
    /** A strong read: every charge that was settled before is in it. */
    async get(licenseId: string, startMs: number): Promise<Period> {
      const item = await getItem(table, itemKeys.period(licenseId, startMs));
      return periodFromItem(item);
    },

    /**
     * Adds credits that were used elsewhere, when a subscription moves to this service in mid-period. It is a
     * transaction because that has a token: when the SDK sends it again after a lost answer, nothing is added twice.
     */
    async importUsage(licenseId: string, startMs: number, credits: number): Promise<void> {
      await transact(table, [
        {
          Update: {
            TableName: table.name,
            Key: itemKeys.period(licenseId, startMs),
            UpdateExpression: 'ADD committed :c, used :c, imported :c',
            ExpressionAttributeValues: { ':c': credits },
          },
        },
      ]);
    },
  };
}

export function periodFromItem(item: Item | null): Period {
  const period: Period = {
    committed: item?.committed ?? 0,
    used: item?.used ?? 0,
    imported: item?.imported ?? 0,
    inFlight: item?.inFlight ?? 0,
    byType: {},
    // Without a prototype, because an identity's id may be any word, such as `constructor`.
    byIdentity: Object.create(null),
    byDay: {},
  };
  for (const [name, value] of Object.entries(item ?? {})) {
    const [, kind, of, unit] = tallyShape.exec(name) ?? [];
    if (kind === undefined || of === undefined) continue;
    const tally = tallyOf(period, kind, of);
    if (tally) tally[unit === 'n' ? 'requests' : 'credits'] = value;
  }
  return period;
}

function tallyOf(period: Period, kind: string, of: string): UsageTally | null {
  if (kind === tallyKinds.byIdentity) return (period.byIdentity[of] ??= { requests: 0, credits: 0 });
  if (kind === tallyKinds.byDay) return (period.byDay[of] ??= { requests: 0, credits: 0 });
  const type = generationTypes.find((known) => known === of);
  return type === undefined ? null : (period.byType[type] ??= { requests: 0, credits: 0 });
}
