import { isoTime } from '../base/clock.ts';
import type { Identity } from '../identities/identity.ts';
import type { CreditPeriod } from '../licenses/credit-period.ts';
import { extraLeft, mayHaveExtra, type ExtraLeft } from '../licenses/extra-credits.ts';
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
  /** Null where there are none. */
  extra: ExtraLeft | null;
  rateLog: RateLog;
}

/**
 * Reads a key's use, strongly and at once. Between the end of a period and the next one's first request, the earlier one still
 * counts what is in flight: that takes a second read.
 */
export async function readKeyUse(
  table: Table,
  keyId: string,
  { licenseId, extraUntilMs }: Pick<License, 'licenseId' | 'extraUntilMs'>,
  periodStartMs: number,
  nowMs: number,
): Promise<KeyUse> {
  const [period, inFlight, log, balances] = await batchGet(table, [
    itemKeys.period(licenseId, periodStartMs),
    itemKeys.inFlight(licenseId),
    itemKeys.rateLog(keyId, generateLimit.name),
    ...(mayHaveExtra({ extraUntilMs }, nowMs) ? [itemKeys.extraCredits(licenseId)] : []),
  ]);
  const countingStartMs: number = inFlight?.startMs ?? periodStartMs;
  const [counting] =
    countingStartMs === periodStartMs
      ? [period]
      : await batchGet(table, [itemKeys.period(licenseId, countingStartMs)]);
  return {
    totals: periodFromItem(period ?? null),
    counting: periodFromItem(counting ?? null),
    extra: extraLeft(balances ?? null, nowMs),
    rateLog: toRateLog(log).log,
  };
}

/** Of which license a key is, and what it covers now. */
export interface KeyScope {
  license: License;
  /** See `licenseNames`. */
  licenseName: string;
  period: CreditPeriod;
  /** Those that the license covers. */
  identities: readonly Identity[];
}

/** What a key may still do. */
export function keyAllowance(key: ApiKey, scope: KeyScope, use: KeyUse, nowMs: number): KeyAllowance {
  const { totals, counting, extra, rateLog } = use;
  const { creditsLimit, endMs } = scope.period;
  const { keyId, monthlyCredits } = key;
  const ofKey = totals.byKey[keyId] ?? { credits: 0, committed: 0 };
  const { remaining, resetSeconds } = consumeFromRateLog(rateLog, nowMs, generateLimit, 0);
  return {
    keyId,
    keyPrefix: key.keyPrefix,
    name: key.name,
    expiresAt: isoTime(key.expiresAtMs),
    access: key.access,
    license: licensePart(scope, counting.inFlight),
    credits: {
      limit: creditsLimit,
      used: totals.used,
      remaining: leftOf(creditsLimit, totals.committed - totals.fromExtra),
      ...(extra && { extraRemaining: extra.remaining }),
      resetsAt: isoTime(endMs),
    },
    budget:
      monthlyCredits === null
        ? null
        : {
            monthlyCredits,
            used: ofKey.credits,
            remaining: leftOf(monthlyCredits, ofKey.committed),
          },
    maxInFlight: key.maxInFlight,
    inFlight: key.maxInFlight === null ? null : (counting.inFlightByKey[inFlightName(keyId)] ?? 0),
    requests: { perMinute: generateLimit.quota, remaining, resetSeconds },
    identities: scope.identities.map(identityPart),
  };
}

/** A limit that was lowered leaves nothing, and no less. */
const leftOf = (limit: number, committed: number) => Math.max(0, limit - committed);

function licensePart({ license, licenseName }: KeyScope, inFlight: number): KeyAllowance['license'] {
  const { label, maxOutputs, maxSidePx } = tiers[license.tier];
  return {
    licenseId: license.licenseId,
    name: licenseName,
    tier: label,
    maxOutputs,
    maxSidePx,
    maxInFlight: maxInFlight(license),
    inFlight,
  };
}

function identityPart({ identityId, name, slug, model }: Identity): KeyAllowance['identities'][number] {
  return { id: identityId, name, slug, available: model !== null };
}
