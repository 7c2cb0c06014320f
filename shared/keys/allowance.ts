import { isoTime } from '../base/clock.ts';
import type { Identity } from '../identities/identity.ts';
import type { CreditPeriod } from '../licenses/credit-period.ts';
import { maxInFlight, type License } from '../licenses/license.ts';
import { inFlightName, periodFromItem, type Period } from '../licenses/period-store.ts';
import { tiers } from '../licenses/tiers.ts';
import { consumeFromRateLog, type RateLog } from '../limits/rate-limit.ts';
import { toRateLog } from '../limits/rate-log-store.ts';
import { generateLimit } from '../routes/limits.ts';
import { itemKeys } from '../table/keys.ts';
import { batchGet, type Table } from '../table/table.ts';
import type { KeyAllowance } from './answer-contract.ts';
import type { ApiKey } from './item.ts';

/** What a key and its license have used, as far as it limits the key's next request. */
export interface KeyUse {
  totals: Period;
  /** The totals of the period that counts what is in flight. */
  counting: Period;
  rateLog: RateLog;
}

/**
 * Reads a key's use, strongly and at once. Between the end of a period and the next one's first request, the earlier one still
 * counts what is in flight: that takes a second read.
 */
export async function readKeyUse(
  table: Table,
  { keyId, licenseId }: Pick<ApiKey, 'keyId' | 'licenseId'>,
  periodStartMs: number,
): Promise<KeyUse> {
  const [period, inFlight, log] = await batchGet(table, [
    itemKeys.period(licenseId, periodStartMs),
    itemKeys.inFlight(licenseId),
    itemKeys.rateLog(keyId, generateLimit.name),
  ]);
  const countingStartMs: number = inFlight?.startMs ?? periodStartMs;
  const [counting] =
    countingStartMs === periodStartMs
      ? [period]
      : await batchGet(table, [itemKeys.period(licenseId, countingStartMs)]);
  return {
    totals: periodFromItem(period ?? null),
    counting: periodFromItem(counting ?? null),
    rateLog: toRateLog(log).log,
  };
}

/**
 * What a key may still do.
 * @param licenseName see `licenseNames`
 * @param identities those that its license covers
 */
export function keyAllowance(
  key: ApiKey,
  of: { license: License; licenseName: string; period: CreditPeriod; identities: readonly Identity[] },
  { totals, counting, rateLog }: KeyUse,
  nowMs: number,
): KeyAllowance {
  const { license, licenseName: name, period } = of;
  const { label: tier, maxOutputs, maxSidePx } = tiers[license.tier];
  const ofKey = totals.byKey[key.keyId] ?? { credits: 0, committed: 0 };
  const requests = consumeFromRateLog(rateLog, nowMs, generateLimit, 0);
  return {
    keyId: key.keyId,
    keyPrefix: key.keyPrefix,
    name: key.name,
    expiresAt: isoTime(key.expiresAtMs),
    access: key.access,
    license: {
      licenseId: license.licenseId,
      name,
      tier,
      maxOutputs,
      maxSidePx,
      maxInFlight: maxInFlight(license),
      inFlight: counting.inFlight,
    },
    credits: {
      limit: period.creditsLimit,
      used: totals.used,
      // A limit that was lowered leaves no less than nothing.
      remaining: Math.max(0, period.creditsLimit - totals.committed),
      resetsAt: isoTime(period.endMs),
    },
    budget:
      key.monthlyCredits === null
        ? null
        : {
            monthlyCredits: key.monthlyCredits,
            used: ofKey.credits,
            remaining: Math.max(0, key.monthlyCredits - ofKey.committed),
          },
    maxInFlight: key.maxInFlight,
    inFlight: key.maxInFlight === null ? null : (counting.inFlightByKey[inFlightName(key.keyId)] ?? 0),
    requests: {
      perMinute: generateLimit.quota,
      remaining: requests.remaining,
      resetSeconds: requests.resetSeconds,
    },
    identities: of.identities.map(({ identityId: id, name, slug, model }) => ({
      id,
      name,
      slug,
      available: model !== null,
    })),
  };
}
