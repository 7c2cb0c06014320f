import { isDeepStrictEqual } from 'node:util';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { ModelRequest } from '../../../shared/model/contract.ts';
import { creditPeriod } from '../../../shared/licenses/credit-period.ts';
import { idempotencyHours } from '../../../shared/generations/idempotency.ts';
import { maxInFlight, type License } from '../../../shared/licenses/license.ts';
import { routes } from '../../../shared/routes/routes.ts';
import { inFlightSortKey, licenseIdOfGeneration } from '../../../shared/table/keys.ts';
import { keyOf, type Bucket } from './bucket.ts';
import { createDeletions } from './deletions.ts';
import * as invariants from './invariants.ts';
import { isOpen, type StoredRecord } from './invariants.ts';
import { createKeyBudgets, wrongKeys, createLimits } from './limits.ts';
import type { Sleep } from './model.ts';
import { createRunRules, createWakingRules } from './run-rules.ts';
import type { Run } from './runs.ts';
import type { Tenant, Subscription } from './setup.ts';
import type { Database, Json, TableCall } from './table-calls.ts';

export interface CheckerDeps {
  now: () => number;
  violation: (sentence: string) => void;
  sleep: Pick<Sleep, 'awakeSinceMs'>;
}

export type Checker = ReturnType<typeof createChecker>;

/** How far behind eventually consistent reads may be. */
const lagMs = 2000;
const { quota, windowSeconds } = routes.createGeneration.limit;

/** Holds what the table should be beside what it is: after every write, what was written is read again and judged. */
export function createChecker(database: Database, bucket: Bucket, { now, violation, sleep }: CheckerDeps) {
  const items = new Map<string, Json>();
  const records = new Map<string, StoredRecord>();
  /** Each item as it was before it was last written. */
  const older = new Map<string, { item: Json | undefined; untilMs: number }>();
  const uses = new Map<string, number[]>();
  const calls = new Map<string, number>();
  const subscriptions = new Map<string, Subscription>();
  const creditLimits = createLimits();
  const flightLimits = createLimits();
  const keyBudgets = createKeyBudgets(violation);
  const waking = createWakingRules(violation);
  const deletions = createDeletions(bucket, violation);
  const runs = createRunRules({ now, violation, record: (requestId) => records.get(requestId) });

  const read = async (operation: string, body: Json): Promise<Json> =>
    (
      await database.send(
        operation,
        JSON.stringify({ TableName: database.tableName, ConsistentRead: true, ...body }),
      )
    ).body;

  async function reread(PK: string, SK: string): Promise<Json | undefined> {
    const { Item } = await read('GetItem', { Key: { PK: { S: PK }, SK: { S: SK } } });
    return Item && unmarshall(Item);
  }

  function recordWritten(before: Json | undefined, item: Json, run: Run): void {
    const licenseId = licenseIdOfGeneration(item);
    const requestId = String(item.SK);
    const known = records.get(requestId);
    const record: StoredRecord = {
      PK: item.PK,
      SK: item.SK,
      licenseId,
      requestId,
      item,
      endedAtMs: known?.endedAtMs ?? null,
      endedBy: known?.endedBy ?? null,
      startedBy: known?.startedBy ?? null,
      modelAwakeSinceMs: known?.modelAwakeSinceMs ?? null,
    };
    if (item.status === 'PROCESSING') record.startedBy ??= run;
    records.set(requestId, record);
    if (!isOpen(record) && record.endedBy === null) {
      record.endedAtMs = now();
      record.endedBy = run;
      record.modelAwakeSinceMs = sleep.awakeSinceMs();
      runs.ended(before!, record, run);
    }
    const { periodAnchorMs } = items.get(`LICENSE#${licenseId} LICENSE`)!;
    const subscription = subscriptions.get(licenseId);
    const wrong =
      invariants.wrongChange(before, item) ??
      invariants.wrongLease(record) ??
      (subscription?.isMoved
        ? invariants.unpaidPeriod(record, subscription.paidAnchorsMs)
        : invariants.wrongMonth(record, periodAnchorMs));
    if (wrong !== null) violation(`request ${requestId}: ${wrong}`);
    if (item.status === 'COMPLETED' && before?.status !== 'COMPLETED') completed(record);
  }

  function completed({ licenseId, requestId, item }: StoredRecord): void {
    for (let i = 0; i < item.numOutputs; i++) {
      const stored = bucket.size(`generations/${licenseId}/${requestId}/output-${i}.png`);
      if (stored === null) violation(`request ${requestId}: COMPLETED without its image ${i}`);
      if (item.previews[i] !== true) continue;
      const preview = bucket.size(`generations/${licenseId}/${requestId}/preview-${i}.webp`);
      if (preview === null)
        violation(`request ${requestId}: a preview of image ${i} is told that is not there`);
    }
    if (item.onceId === undefined) return;
    for (const { requestId: other, item: its } of records.values()) {
      if (other === requestId || its.status !== 'COMPLETED') continue;
      const sameKey = its.keyId === item.keyId && its.onceId === item.onceId;
      const apartMs = Math.abs(its.createdAtMs - item.createdAtMs);
      if (sameKey && apartMs < idempotencyHours * 3600_000) {
        violation(`requests ${other} and ${requestId} were both charged for one idempotency key`);
      }
    }
  }

  function periodsOf(licenseId: string): Json[] {
    const prefix = `PERIOD#${licenseId} `;
    return [...items]
      .filter(([key]) => key.startsWith(prefix) && !key.endsWith(inFlightSortKey))
      .map(([, item]) => item);
  }

  function recordsIn(licenseId: string, period: Json): StoredRecord[] {
    const startMs = Date.parse(period.SK);
    return [...records.values()].filter(
      (record) => record.licenseId === licenseId && record.item.periodStartMs === startMs,
    );
  }

  function checkLicense(licenseId: string): void {
    for (const period of periodsOf(licenseId)) {
      const named = recordsIn(licenseId, period);
      const wrong = invariants.wrongPeriod(period, named) ?? wrongKeys(period, named);
      if (wrong !== null) violation(`${licenseId} ${period.SK}: ${wrong}`);
    }
    const open = [...records.values()].filter((record) => record.licenseId === licenseId && isOpen(record));
    const counting = items.get(`PERIOD#${licenseId} ${inFlightSortKey}`)?.startMs;
    const wrong = invariants.wrongInFlight(periodsOf(licenseId), open.length, counting);
    if (wrong !== null) violation(`${licenseId}: ${wrong}`);
    const inPeriods = periodsOf(licenseId).map(({ SK }) => Date.parse(SK));
    for (const record of records.values()) {
      if (record.licenseId !== licenseId || inPeriods.includes(record.item.periodStartMs)) continue;
      violation(`request ${record.requestId} names a period without totals`);
    }
  }

  function periodWritten(
    call: TableCall,
    run: Run,
    { licenseId, before, item }: { licenseId: string; before: Json | undefined; item: Json },
  ): void {
    const reserves = call.purpose === 'reserve';
    const { committed = 0, inFlight, SK } = item;
    if (reserves) for (const limits of [creditLimits, flightLimits]) limits.reserved(run);
    keyBudgets.periodWritten(run, reserves, before, item);
    creditLimits.takenIs(licenseId, SK, committed);
    if (inFlight !== undefined) flightLimits.takenIs(licenseId, 'in flight', inFlight);
    // A reservation that comes again under the same token does nothing.
    if (!reserves || committed <= (before?.committed ?? 0)) return;
    const limit = creditLimits.mostAllowed(run, licenseId);
    if (committed > limit) violation(`${licenseId} ${SK}: ${committed} committed of ${limit}`);
    const most = flightLimits.mostAllowed(run, licenseId);
    if (inFlight > most) violation(`${licenseId}: ${inFlight} requests in flight of ${most}`);
  }

  function rateWritten(key: string, item: Json): void {
    const entries = uses.get(key) ?? uses.set(key, []).get(key)!;
    entries.push(item.usedAtMs.at(-1));
    if (!key.endsWith(' generate')) return;
    const wrong = invariants.wrongRate(entries, quota, windowSeconds * 1000);
    if (wrong !== null) violation(`${key}: ${wrong}`);
  }

  return {
    runs,
    deletions,
    waking,
    creditLimits,
    flightLimits,
    keyBudgets,
    /** A license whose anchor may move. */
    followSubscription: (licenseId: string, subscription: Subscription) =>
      void subscriptions.set(licenseId, subscription),
    /** A write reached the table, whoever still waits for its answer. */
    async applied(call: TableCall, run: Run, status: number): Promise<void> {
      if (status !== 200) return;
      const licenses = new Set<string>();
      for (const { PK, SK } of call.keys) {
        const key = `${PK} ${SK}`;
        const before = items.get(key);
        const item = await reread(PK, SK);
        older.set(key, { item: before, untilMs: now() });
        if (item === undefined) items.delete(key);
        else items.set(key, item);
        const [kind, licenseId = ''] = PK.split('#');
        if (['LICENSE', 'PERIOD', 'GEN'].includes(kind!)) licenses.add(licenseId);
        if (kind === 'GEN') deletions.written(before, item);
        if (item === undefined) continue;
        if (kind === 'GEN') recordWritten(before, item, run);
        else deletions.elsewhereWritten(item);
        if (kind === 'RATE') rateWritten(key, item);
        if (kind === 'KEY') keyBudgets.keyWritten(item);
        if (kind === 'MODEL') waking.written(before, item);
        if (SK === 'LICENSE') {
          creditLimits.limitIs(item.licenseId, creditPeriod(item as License, now()).creditsLimit);
          flightLimits.limitIs(item.licenseId, maxInFlight(item as License));
        }
        if (kind === 'PERIOD' && SK !== inFlightSortKey)
          periodWritten(call, run, { licenseId, before, item });
      }
      for (const licenseId of licenses) checkLicense(licenseId);
    },
    /** The model is asked to paint: once, and only what holds credits or did. */
    painted({ requestId, references }: Pick<ModelRequest, 'requestId' | 'references'>, run: Run): void {
      for (const { url } of references) {
        if (bucket.size(keyOf(new URL(url).pathname)) !== null) continue;
        // Whoever died, or whose request has ended, gets nothing for it.
        const stored = records.get(requestId);
        if (run.dead || (stored !== undefined && !isOpen(stored))) continue;
        violation(`request ${requestId}: painted without one of its references`);
      }
      if (!records.has(requestId)) violation(`request ${requestId}: painted without a reservation`);
      const times = (calls.get(requestId) ?? 0) + 1;
      calls.set(requestId, times);
      // One that nobody waits for asks again until its model begins.
      if (times > 1 && run.kind !== 'worker') violation(`request ${requestId}: painted ${times} times`);
    },
    /** What a reader that does not insist may still be told of an item; null when that is what is there. */
    lagging(PK: string, SK: string): { item: Json | undefined } | null {
      const found = older.get(`${PK} ${SK}`);
      return found !== undefined && found.untilMs > now() - lagMs ? found : null;
    },
    record: (requestId: string): StoredRecord | undefined => records.get(requestId),
    open: () => [...records.values()].filter(isOpen),
    ended: () => [...records.values()].filter((record) => !isOpen(record)).slice(-20),
    hasDeletions: () => [...items.keys()].some((key) => key.startsWith('DELETION#')),
    count: (status: string) => [...records.values()].filter(({ item }) => item.status === status).length,
    /** Requests that hold credits this long after their lease. */
    overdue: (afterMs: number) =>
      [...records.values()].filter((record) => isOpen(record) && record.item.leaseUntilMs + afterMs < now()),
    /** Once nothing runs: nothing is held, the statistics add up, and the table is what was seen of it. */
    async atRest(tenants: Pick<Tenant, 'license' | 'imported'>[]): Promise<void> {
      for (const { license, imported } of tenants) {
        const credits = periodsOf(license.licenseId).reduce((sum, period) => sum + (period.imported ?? 0), 0);
        if (credits >= imported.sure && credits <= imported.sure + imported.unsure) continue;
        violation(`${license.licenseId}: ${credits} credits imported, not ${imported.sure}`);
      }
      for (const { requestId, item } of this.open())
        violation(`request ${requestId} is ${item.status} at rest`);
      for (const [key, item] of items) {
        if (!key.startsWith('PERIOD#') || key.endsWith(inFlightSortKey)) continue;
        const licenseId = key.slice('PERIOD#'.length).split(' ')[0]!;
        const wrong = invariants.wrongTallies(item, recordsIn(licenseId, item));
        if (wrong !== null) violation(`${key}: ${wrong}`);
      }
      for (const copy of bucket.copies()) {
        const wrong = invariants.wrongCopy(copy, records.get(copy.requestId));
        if (wrong !== null) violation(`${copy.key}: ${wrong}`);
      }
      runs.atRest();
      deletions.atRest(items.values());
      const { Items: stored, LastEvaluatedKey: more } = await read('Scan', {});
      if (more !== undefined) throw new Error('the table is larger than one scan reads');
      for (const item of (stored as Json[]).map((found) => unmarshall(found))) {
        const seen = items.get(`${item.PK} ${item.SK}`);
        if (!isDeepStrictEqual(seen, item)) violation(`${item.PK} ${item.SK} is not what was written`);
      }
      if (stored.length !== items.size)
        violation(`${items.size} items were written, ${stored.length} are there`);
    },
  };
}
