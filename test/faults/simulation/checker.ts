import { isDeepStrictEqual } from 'node:util';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { isFinal } from '../../../shared/generations/generation.ts';
import { idempotencyHours } from '../../../shared/generations/idempotency.ts';
import { billingPeriod, isPeriodStart } from '../../../shared/licenses/billing-period.ts';
import { creditPeriod } from '../../../shared/licenses/credit-period.ts';
import { maxInFlight, type License } from '../../../shared/licenses/license.ts';
import { inFlightName, periodFromItem } from '../../../shared/licenses/period-store.ts';
import type { ModelRequest } from '../../../shared/model/contract.ts';
import { routes } from '../../../shared/routes/routes.ts';
import { extraSortKey, inFlightSortKey, licenseIdOfGeneration } from '../../../shared/table/keys.ts';
import { keyOfLink, type Copy } from './bucket.ts';
import { createDeletions } from './deletions.ts';
import { createExtraRules } from './extra-rules.ts';
import { isOpen, isPeriod, wrongCounts, wrongTallies, type StoredRecord } from './invariants.ts';
import { createLimits } from './limits.ts';
import type { Outside } from './outside.ts';
import { createColdStartRules, createRunRules } from './run-rules.ts';
import type { Run } from './runs.ts';
import type { Setup } from './setup.ts';
import { createUnpaidRules } from './unpaid-rules.ts';
import type { Json, TableCall } from './table-calls.ts';

export type Checker = ReturnType<typeof createChecker>;

/** How far behind eventually consistent reads may be. */
const lagMs = 2000;
const { quota, windowSeconds } = routes.createGeneration.limit;

const waysOn: Record<string, readonly string[]> = {
  QUEUED: ['QUEUED', 'PROCESSING', 'FAILED', 'TIMEOUT'],
  PROCESSING: ['PROCESSING', 'COMPLETED', 'FAILED', 'TIMEOUT'],
};
const fixed = [
  'credits',
  'periodStartMs',
  'createdAtMs',
  'keyId',
  'numOutputs',
  'leaseUntilMs',
  'identityVersion',
];
const fixedByStart = [...fixed, 'runId', 'startedAtMs'];

/** What is wrong with a record's change, null when nothing is. A final state never changes. */
function wrongChange(before: Json | undefined, after: Json): string | null {
  if (before === undefined) return after.status === 'QUEUED' ? null : `it was stored as ${after.status}`;
  const { status } = before;
  if (isFinal(status))
    return isDeepStrictEqual(before, after) ? null : `it was ${status} and changed (now ${after.status})`;
  if (!waysOn[status]!.includes(after.status)) return `it went from ${status} to ${after.status}`;
  const changed = (status === 'PROCESSING' ? fixedByStart : fixed).find(
    (name) => before[name] !== after[name] && after[name] !== undefined,
  );
  return changed === undefined ? null : `its ${changed} changed`;
}

/**
 * Why a copy of a reference image may not be there once nothing runs; null when only the bucket's own rule can remove it:
 * its deletion was lost on the way, it was stored after it, the machine died on which its request ended, or whoever ended it
 * never learned so while it was enqueued for a worker.
 */
function wrongCopy({ wasAskedToGo, cameLate, by }: Copy, record: StoredRecord | undefined): string | null {
  const last = record?.endedBy ?? by;
  const neverLearned = last.isUnsure && last.calls.includes('enqueue');
  if (wasAskedToGo || cameLate || !last.ended || last.failed || neverLearned) return null;
  return `a copy that ${last.name} left behind`;
}

/** Holds what the table should be beside what it is: after every write, what was written is read again and checked. */
export function createChecker(outside: Outside, { tenants, keys }: Setup) {
  const { database, bucket, capacity, complain, must, violation, watch } = outside;
  const { now } = outside.scheduler;
  const items = new Map<string, Json>();
  const records = new Map<string, StoredRecord>();
  /** Each item as it was before it was last written. */
  const older = new Map<string, { item: Json | undefined; untilMs: number }>();
  /** When each rate log was used. */
  const uses = new Map<string, number[]>();
  /** How often the model was asked for each request. */
  const asked = new Map<string, number>();
  const limits = createLimits();
  const coldStarts = createColdStartRules(outside);
  const deletions = createDeletions(outside);
  const unpaid = createUnpaidRules(outside);
  const runs = createRunRules(outside, (requestId) => records.get(requestId));
  const extra = createExtraRules(outside, items, limits);

  async function read(operation: string, query: Json): Promise<Json> {
    const request = JSON.stringify({ TableName: database.tableName, ConsistentRead: true, ...query });
    return (await database.send(operation, request)).body;
  }

  async function reread(PK: string, SK: string): Promise<Json | undefined> {
    const { Item } = await read('GetItem', { Key: { PK: { S: PK }, SK: { S: SK } } });
    return Item && unmarshall(Item);
  }

  function recordWritten(before: Json | undefined, item: Json, run: Run): void {
    const { PK, SK, status, periodStartMs, createdAtMs } = item;
    const licenseId = licenseIdOfGeneration(item);
    const nobody = { endedAtMs: null, endedBy: null, startedBy: null, capacitySinceMs: null };
    const record = records.get(SK) ?? { PK, SK, licenseId, requestId: SK, item, ...nobody };
    records.set(SK, Object.assign(record, { item }));
    if (before === undefined) {
      unpaid.accepted(record);
      extra.reserved(item, run);
      const isLimited = limits.mostAllowed(run, `places of ${item.keyId}`) < Infinity;
      must(item.keyInFlight === true || !isLimited, `request ${SK}: its key's limit does not count it`);
    }
    if (status === 'PROCESSING') record.startedBy ??= run;
    if (isOpen(record)) watch.touched(SK);
    if (!isOpen(record) && record.endedBy === null) {
      Object.assign(record, { endedAtMs: now(), endedBy: run, capacitySinceMs: capacity.sinceMs() });
      runs.ended(before!, record, run);
      unpaid.ended(record, run);
    }
    complain(`request ${SK}`, wrongChange(before, item));
    const isIndexed = item.leaseShard !== undefined && item.leaseUntilMs !== undefined;
    const place = isIndexed ? 'in the lease index' : 'not in the lease index';
    must(isOpen(record) === isIndexed, `request ${SK}: ${status} and ${place}`);
    const booked = `request ${SK}: it is booked in the period from ${new Date(periodStartMs).toISOString()}`;
    const { subscription } = tenants.find(({ license }) => license.licenseId === licenseId)!;
    if (subscription?.isMoved) {
      // Once an anchor has moved, credits are held in periods that were paid, and in no others.
      const isPaid = subscription.paidAnchorsMs.some((anchorMs) => isPeriodStart(anchorMs, periodStartMs));
      must(isPaid && periodStartMs <= createdAtMs, `${booked}, which nobody paid`);
    } else {
      // A reservation belongs to the month in which it was made, by its license's own calendar.
      const { periodAnchorMs } = items.get(`LICENSE#${licenseId} LICENSE`)!;
      must(billingPeriod(periodAnchorMs, createdAtMs).startMs === periodStartMs, booked);
    }
    if (status === 'COMPLETED' && before?.status !== 'COMPLETED') completed(record);
  }

  function completed({ licenseId, requestId, item }: StoredRecord): void {
    const folder = `generations/${licenseId}/${requestId}`;
    for (let i = 0; i < item.numOutputs; i++) {
      const isThere = (name: string) => bucket.size(`${folder}/${name}`) !== null;
      must(isThere(`output-${i}.png`), `request ${requestId}: COMPLETED without its image ${i}`);
      const hasPreview = item.previews[i] !== true || isThere(`preview-${i}.webp`);
      must(hasPreview, `request ${requestId}: it names a preview of image ${i} that is not there`);
    }
    if (item.onceId === undefined) return;
    for (const { requestId: other, item: its } of records.values()) {
      if (other === requestId || its.status !== 'COMPLETED') continue;
      const isSameKey = its.keyId === item.keyId && its.onceId === item.onceId;
      const apartMs = Math.abs(its.createdAtMs - item.createdAtMs);
      if (isSameKey && apartMs < idempotencyHours * 3600_000)
        violation(`requests ${other} and ${requestId} were both charged for one idempotency key`);
    }
  }

  const recordsOf = (id: string) => [...records.values()].filter(({ licenseId }) => licenseId === id);
  const periodsOf = (id: string) =>
    [...items.values()].filter(({ PK, SK }) => isPeriod({ PK, SK }) && PK === `PERIOD#${id}`);

  function recordsIn({ PK, SK }: Json): StoredRecord[] {
    const startMs = Date.parse(SK);
    return recordsOf(PK.slice('PERIOD#'.length)).filter(({ item }) => item.periodStartMs === startMs);
  }

  function checkLicense(licenseId: string): void {
    const periods = periodsOf(licenseId);
    for (const period of periods) {
      const open = period.inFlight === undefined ? [] : recordsOf(licenseId).filter(isOpen);
      complain(`${licenseId} ${period.SK}`, wrongCounts(period, recordsIn(period), open));
    }
    const own = recordsOf(licenseId);
    extra.check(licenseId, own);
    // One period has the count of the requests in flight, and it is true.
    const [counting, ...others] = periods.filter(({ inFlight }) => inFlight !== undefined);
    const countingStartMs = items.get(`PERIOD#${licenseId} ${inFlightSortKey}`)?.startMs;
    const isTheOne = others.length === 0 && (counting && Date.parse(counting.SK)) === countingStartMs;
    must(isTheOne, `${licenseId}: another period counts what is in flight`);
    unpaid.stored(licenseId, counting);
    const counted = counting?.inFlight ?? 0;
    const open = own.filter(isOpen).length;
    must(counted === open, `${licenseId}: ${counted} requests are counted in flight, and ${open} are`);
    const startsMs = periods.map(({ SK }) => Date.parse(SK));
    for (const { requestId, item } of own)
      must(startsMs.includes(item.periodStartMs), `request ${requestId} names a period without totals`);
  }

  function periodWritten(call: TableCall, run: Run, before: Json | undefined, item: Json): void {
    const licenseId = item.PK.slice('PERIOD#'.length);
    const reserves = call.purpose === 'reserve';
    const take = (name: string, period: string, amount: number, earlier: number) => {
      limits.takenIs(name, period, amount, reserves ? run : null);
      // A reservation that comes again under the same token does nothing.
      if (!reserves || amount <= earlier) return;
      const most = limits.mostAllowed(run, name);
      must(amount <= most, `${name} ${item.SK}: ${amount} committed of ${most}`);
    };
    const [own = 0, earlierOwn = 0] = [item, before].map((of) => (of?.committed ?? 0) - (of?.fromExtra ?? 0));
    take(`credits of ${licenseId}`, item.SK, own, earlierOwn);
    limits.takenIs(`all credits of ${licenseId}`, item.SK, own, reserves ? run : null);
    if (item.inFlight !== undefined)
      take(`in flight of ${licenseId}`, 'now', item.inFlight, before?.inFlight ?? 0);
    const earlier = periodFromItem(before ?? null).byKey;
    for (const [keyId, { committed }] of Object.entries(periodFromItem(item).byKey))
      take(`budget of ${keyId}`, item.SK, committed, earlier[keyId]?.committed ?? 0);
    for (const { stored } of keys) {
      const [is = 0, was = 0] = [item, before].map((of) => of?.[inFlightName(stored.keyId)]);
      if (is !== was && item.inFlight !== undefined) take(`places of ${stored.keyId}`, 'now', is, was);
    }
  }

  function rateWritten(key: string, { usedAtMs }: Json): void {
    const entriesMs = uses.get(key) ?? [];
    uses.set(key, entriesMs);
    const newest: number = usedAtMs.at(-1);
    const last = entriesMs.at(-1) ?? 0;
    entriesMs.push(newest);
    if (!key.endsWith(' generate')) return;
    must(newest >= last, `${key}: its log went back in time`);
    const withinMs = newest - (entriesMs.at(-1 - quota) ?? -Infinity);
    must(withinMs >= windowSeconds * 1000, `${key}: ${quota + 1} uses within ${withinMs} ms`);
  }

  async function itemWritten(call: TableCall, run: Run, PK: string, SK: string): Promise<void> {
    const key = `${PK} ${SK}`;
    const before = items.get(key);
    const item = await reread(PK, SK);
    older.set(key, { item: before, untilMs: now() });
    if (item === undefined) items.delete(key);
    else items.set(key, item);
    const kind = PK.split('#')[0]!;
    if (kind === 'GEN') deletions.written(before, item);
    if (item === undefined) return;
    if (kind === 'GEN') recordWritten(before, item, run);
    else deletions.elsewhereWritten(item);
    if (kind === 'RATE') rateWritten(key, item);
    if (kind === 'KEY') {
      // A key without them has no limits of its own.
      limits.limitIs(`budget of ${item.keyId}`, item.monthlyCredits ?? Infinity);
      limits.limitIs(`places of ${item.keyId}`, item.maxInFlight ?? Infinity);
    }
    if (kind === 'MODEL') coldStarts.written(before, item, run);
    if (SK === 'LICENSE') {
      limits.limitIs(`credits of ${item.licenseId}`, creditPeriod(item as License, now()).creditsLimit);
      extra.look(item.licenseId);
      limits.limitIs(`in flight of ${item.licenseId}`, maxInFlight(item as License));
    }
    if (isPeriod({ PK, SK })) periodWritten(call, run, before, item);
    if (SK === extraSortKey) extra.written(call, run, before ?? {}, item);
  }

  return {
    runs,
    deletions,
    coldStarts,
    limits,
    unpaid,
    extra,
    /** A write reached the table, whoever still waits for its answer. */
    async applied(call: TableCall, run: Run, status: number): Promise<void> {
      if (status !== 200) return;
      for (const { PK, SK } of call.keys) await itemWritten(call, run, PK, SK);
      const partitions = call.keys.map(({ PK }) => PK.split('#'));
      const ofLicenses = partitions.filter(([kind]) => ['LICENSE', 'PERIOD', 'GEN'].includes(kind!));
      new Set(ofLicenses.map(([, licenseId]) => licenseId!)).forEach(checkLicense);
    },
    /** The model is asked for images: once, and only for what holds credits or did. */
    generates({ requestId, references, identity }: ModelRequest, run: Run): void {
      const stored = records.get(requestId);
      // Whoever died, or whose request has ended, gets nothing for it.
      const isOver = run.dead || (stored !== undefined && !isOpen(stored));
      const isComplete = references.every(({ url }) => bucket.size(keyOfLink(url)) !== null);
      must(isComplete || isOver, `request ${requestId}: generated without one of its references`);
      must(stored !== undefined, `request ${requestId}: generated without a reservation`);
      const isOwn = isOver || stored?.item.identityVersion === identity.version;
      must(isOwn, `request ${requestId}: generated by version ${identity.version}, which is not its own`);
      const times = (asked.get(requestId) ?? 0) + 1;
      asked.set(requestId, times);
      // One that nobody waits for is tried again until its model begins.
      must(times === 1 || run.kind === 'worker', `request ${requestId}: generated ${times} times`);
    },
    /** What a reader that does not insist may still learn of an item; null when that is what is there. */
    lagging(PK: string, SK: string): { item: Json | undefined } | null {
      const found = older.get(`${PK} ${SK}`);
      return found !== undefined && found.untilMs > now() - lagMs ? found : null;
    },
    record: (requestId: string): StoredRecord | undefined => records.get(requestId),
    open: () => [...records.values()].filter(isOpen),
    ended: () => [...records.values()].filter((record) => !isOpen(record)).slice(-20),
    hasDeletions: () => [...items.keys()].some((key) => key.startsWith('DELETION#')),
    numberOf: (status: string) => [...records.values()].filter(({ item }) => item.status === status).length,
    /** Once nothing runs: nothing is held, the statistics add up, and the table is what was seen of it. */
    async atRest(): Promise<void> {
      for (const { license, imported } of tenants) {
        const credits = periodsOf(license.licenseId).reduce((sum, period) => sum + (period.imported ?? 0), 0);
        const isTrue = credits >= imported.sure && credits <= imported.sure + imported.unsure;
        must(isTrue, `${license.licenseId}: ${credits} credits imported, not ${imported.sure}`);
      }
      for (const { requestId, item } of this.open())
        violation(`request ${requestId} is ${item.status} at rest`);
      for (const [key, item] of items)
        if (isPeriod({ PK: item.PK, SK: item.SK })) complain(key, wrongTallies(item, recordsIn(item)));
      for (const copy of bucket.copies()) complain(copy.key, wrongCopy(copy, records.get(copy.requestId)));
      runs.atRest();
      deletions.atRest(items.values());
      const { Items, LastEvaluatedKey: more } = await read('Scan', {});
      if (more !== undefined) throw new Error('the table is larger than one scan reads');
      const stored = (Items as Json[]).map((item) => unmarshall(item));
      for (const item of stored) {
        const key = `${item.PK} ${item.SK}`;
        must(isDeepStrictEqual(items.get(key), item), `${key} is not what was written`);
      }
      must(stored.length === items.size, `${items.size} items were written, ${stored.length} are there`);
    },
  };
}
