import { isDeepStrictEqual } from 'node:util';
import { generationTypes, type GenerationType } from '../base/generation-kinds.ts';
import type { UsageTally } from './usage-contract.ts';
import { isAccountCallerId, isKeyId, playgroundKey } from '../base/ids.ts';
import { batchGetAll, getItem, queryAll, type Item, type Table } from '../table/table.ts';
import { extraSortKey, itemKeys } from '../table/keys.ts';
import { transact, type Part } from '../table/transact.ts';
import { creditPeriod } from './credit-period.ts';
import { extraLeft, mayHaveExtra, type ExtraLeft } from './extra-credits.ts';
import type { License } from './license.ts';
import type { UnpaidRun } from './unpaid-runs.ts';

/** A billing period's totals. `committed` is what is used and what is held together; `used` counts COMPLETED only. */
export interface Period {
  committed: number;
  used: number;
  /** The part of `committed` that extra credits pay for: the rest never exceeds the limit. */
  fromExtra: number;
  /** The part of `used` that was imported when the subscription moved to this service. */
  imported: number;
  /** The license's requests that are QUEUED or PROCESSING; 0 in all periods but the one that counts them. */
  inFlight: number;
  /** How many of them are of each key that had a limit of its own, by `inFlightName`. */
  inFlightByKey: Record<string, number>;
  /** The license's calls of the model that nobody paid for; none in all periods but the one that counts `inFlight`. */
  unpaidRuns: UnpaidRun[];
  /** The highest threshold, in percent, that the owner is notified of; 0 for none. The same write stored its notification. */
  notified: number;
  byType: Partial<Record<GenerationType, UsageTally>>;
  byIdentity: Record<string, UsageTally>;
  /** By UTC day of completion, `MMDD`: a period holds each at most once. */
  byDay: Record<string, UsageTally>;
  /** By the key's id, and `playgroundKey`. */
  byKey: Record<string, KeyTally>;
}

/** What one key has of a period. `committed` is what it used and what its running requests hold, as in the whole. */
export interface KeyTally extends UsageTally {
  committed: number;
}

/*
 * Statistics are numbers at the item's top level, because ADD creates such a number when it is missing. They are named
 * by kind, name and `n` (requests) or `c` (credits); what a key has committed is `h`. The names are short: the item is
 * written with every generation, and each started kilobyte of it is paid for.
 */
const tallyKinds = { byType: 't', byIdentity: 'i', byDay: 'd', byKey: 'k' } as const;
const tallyShape = /^(?:([tid])#(.+)#([nc])|(k)#([\w-]{22}|p)#([nch]))$/;

/** The names of the statistics that one COMPLETED generation adds to: [requests, credits] pairs. */
export function tallyNames(of: {
  type: GenerationType;
  identityId: string;
  completedAtMs: number;
  /** Null for one that is not counted by key. */
  keyId: string | null;
}) {
  const day = new Date(of.completedAtMs).toISOString();
  return [
    `${tallyKinds.byType}#${of.type}`,
    `${tallyKinds.byIdentity}#${of.identityId}`,
    `${tallyKinds.byDay}#${day.slice(5, 7)}${day.slice(8, 10)}`,
    ...(of.keyId === null ? [] : [`${tallyKinds.byKey}#${shortKey(of.keyId)}`]),
  ].map((name) => [`${name}#n`, `${name}#c`] as const);
}

/** The name of what a key has committed: used and held together. It is counted for every key, so that a budget is exact at once. */
export function committedName(keyId: string): string {
  return `${tallyKinds.byKey}#${shortKey(keyId)}#h`;
}

/** Begins the names of what keys with a limit of their own have in flight, and of the sum of those. */
export const inFlightPrefix = 'f#';

/** The name of how many requests of a key are in flight, of those that began while it had a limit. 66 bits tell a license's keys apart. */
export function inFlightName(keyId: string): string {
  return `${inFlightPrefix}${shortKey(keyId).slice(0, 11)}`;
}

/** A key by the 22 characters of its id's 16 bytes in base64url, and every account's playground by one. */
function shortKey(keyId: string): string {
  if (isAccountCallerId(keyId)) return 'p';
  if (!isKeyId(keyId)) throw new Error('this id is neither that of a key nor that of an account');
  return Buffer.from(keyId.slice('key_'.length), 'hex').toString('base64url');
}

function keyOfTally(name: string): string {
  return name === 'p' ? playgroundKey : `key_${Buffer.from(name, 'base64url').toString('hex')}`;
}

interface ListedPeriod extends Period {
  startMs: number;
  /** Where `keepEnd` kept it; null where the license says it. */
  endMs: number | null;
}

/**
 * A license says only of its present count when it ends, where that is not the anchor's own month. So what a change of it
 * ends, or finds ended, is kept with the period: it is in the books of one month, whatever the license says later.
 */
export function keepEnd(before: License | null, after: License, nowMs: number): Part | null {
  const carried = before?.carried ?? null;
  if (carried === null) return null;
  const goesOn = nowMs < carried.endMs && creditPeriod(after, nowMs).startMs === carried.startMs;
  if (goesOn || isDeepStrictEqual(after.carried, carried)) return null;
  return {
    key: itemKeys.period(after.licenseId, carried.startMs),
    update: { SET: 'endMs = :end' },
    values: { ':end': Math.min(carried.endMs, nowMs) },
  };
}

export type PeriodStore = ReturnType<typeof periodStore>;

export function periodStore(table: Table) {
  return {
    /** A strong read: every charge that was settled before is in it. */
    async get(licenseId: string, startMs: number): Promise<Period> {
      const item = await getItem(table, itemKeys.period(licenseId, startMs));
      return periodFromItem(item);
    },

    /** What is left of a license's extra credits: read only where there may be some. Null where there are none. */
    async extraLeft(
      { licenseId, extraUntilMs }: Pick<License, 'licenseId' | 'extraUntilMs'>,
      nowMs: number,
    ): Promise<ExtraLeft | null> {
      if (!mayHaveExtra({ extraUntilMs }, nowMs)) return null;
      return extraLeft(await getItem(table, itemKeys.extraCredits(licenseId)), nowMs);
    },

    /** Those of several licenses, read as strongly as one, in their order. */
    async getMany(of: { licenseId: string; startMs: number }[]): Promise<Period[]> {
      const keys = of.map(({ licenseId, startMs }) => itemKeys.period(licenseId, startMs));
      const items = await batchGetAll(table, keys);
      return items.map((item) => periodFromItem(item ?? null));
    },

    /** All periods of a license that anything was counted in, oldest first: for the operator's CLI, never for a request. */
    async list(licenseId: string): Promise<ListedPeriod[]> {
      const { PK } = itemKeys.inFlight(licenseId);
      const query = {
        ConsistentRead: true,
        KeyConditionExpression: 'PK = :license AND SK < :other',
        ExpressionAttributeValues: { ':license': PK, ':other': extraSortKey },
      };
      return queryAll(table, query, (item) => {
        return { ...periodFromItem(item), startMs: Date.parse(item.SK), endMs: item.endMs ?? null };
      });
    },

    /**
     * Adds credits that were used elsewhere, when a subscription moves to this service in mid-period. It is a
     * transaction because that has a token: when the SDK sends it again after a lost answer, nothing is added twice.
     */
    async importUsage(licenseId: string, startMs: number, credits: number): Promise<void> {
      const key = itemKeys.period(licenseId, startMs);
      const update = { ADD: 'committed :credits, used :credits, imported :credits' };
      await transact(table, [{ key, update, values: { ':credits': credits } }]);
    },
  };
}

export function periodFromItem(item: Item | null): Period {
  const period: Period = {
    committed: item?.committed ?? 0,
    used: item?.used ?? 0,
    fromExtra: item?.fromExtra ?? 0,
    imported: item?.imported ?? 0,
    inFlight: item?.inFlight ?? 0,
    inFlightByKey: {},
    unpaidRuns: item?.unpaid ?? [],
    notified: item?.told ?? 0,
    byType: {},
    // Without a prototype, because an identity's id may be any word, such as `constructor`.
    byIdentity: Object.create(null),
    byDay: {},
    byKey: {},
  };
  for (const [name, value] of Object.entries(item ?? {})) {
    if (name.startsWith(inFlightPrefix)) period.inFlightByKey[name] = value;
    const [kind, of, unit] = (tallyShape.exec(name) ?? []).slice(1).filter((part) => part !== undefined);
    if (kind === undefined || of === undefined) continue;
    if (kind === tallyKinds.byKey) {
      const tally = (period.byKey[keyOfTally(of)] ??= { requests: 0, credits: 0, committed: 0 });
      tally[keyUnits[unit as keyof typeof keyUnits]] = value;
      continue;
    }
    const tally = tallyOf(period, kind, of);
    if (tally) tally[unit === 'n' ? 'requests' : 'credits'] = value;
  }
  return period;
}

const keyUnits = { n: 'requests', c: 'credits', h: 'committed' } as const;

function tallyOf(period: Period, kind: string, of: string): UsageTally | null {
  if (kind === tallyKinds.byIdentity) return (period.byIdentity[of] ??= { requests: 0, credits: 0 });
  if (kind === tallyKinds.byDay) return (period.byDay[of] ??= { requests: 0, credits: 0 });
  const type = generationTypes.find((known) => known === of);
  return type === undefined ? null : (period.byType[type] ??= { requests: 0, credits: 0 });
}
