import {
  notificationDue,
  notificationPercents,
  reachedAt,
  type NotificationPercent,
} from './notifications.ts';
import type { Item } from '../table/table.ts';
import { itemKeys, ttlAttribute } from '../table/keys.ts';
import type { Part, Parts } from '../table/transact.ts';

/*
 * A charge that reaches a threshold, 80 or 100% of the credits, stores a notification in the same transaction. A job sends it
 * later. The period remembers the highest threshold that was notified as `told`. Every other charge has the condition that
 * it reaches neither, so no charge passes one unseen. Conditions have no arithmetic: `used + credits < threshold` is written
 * as `used < threshold - credits`.
 */

/** A notification is worth nothing after the end of its period. */
const keptDays = 40;

/** What a charge says of itself. */
interface Charge {
  licenseId: string;
  periodStartMs: number;
  credits: number;
  /** Null in a record of before there were notifications. */
  creditsLimit: number | null;
  completedAtMs: number | null;
}

/**
 * Refused where the charge reaches another threshold than was expected.
 * @param period as a refused attempt found it; null before the first attempt, which expects to reach none.
 */
export function notifyOwner(charge: Charge, period: Item | null): Parts<{ period: Item }> {
  const { licenseId, periodStartMs, credits, creditsLimit } = charge;
  if (creditsLimit === null) return [];
  const percent =
    period === null ? null : notificationDue((period.used ?? 0) + credits, creditsLimit, period.told ?? 0);
  const onPeriod: Part<{ period: Item }> = {
    key: itemKeys.period(licenseId, periodStartMs),
    ...thresholdCondition(percent, credits, creditsLimit),
    refusal: (found = {}) => ({ period: found }),
  };
  if (percent === null) return [onPeriod];
  const values = { ...onPeriod.values, ':told': percent };
  return [{ ...onPeriod, update: { SET: 'told = :told' }, values }, waitingNotification(charge, percent)];
}

/**
 * The condition that what the last attempt found still holds: the charge reaches just this threshold, or none. `used` and
 * `told` only rise, so a threshold once reached stays reached.
 */
function thresholdCondition(
  percent: NotificationPercent | null,
  credits: number,
  creditsLimit: number,
): Pick<Part, 'condition' | 'values'> {
  const [some, all] = notificationPercents;
  const [belowSome, belowAll] = notificationPercents.map(
    (threshold) => reachedAt(threshold, creditsLimit) - credits,
  );
  // The first charge of a period finds no `used`.
  const isBelow = (name: string, most: number) =>
    most > 0 ? `(attribute_not_exists(used) OR used < ${name})` : `used < ${name}`;
  const isBelowSome = isBelow(':belowSome', belowSome!);
  const isBelowAll = isBelow(':belowAll', belowAll!);
  if (percent === all)
    return { condition: '(attribute_not_exists(told) OR told < :all)', values: { ':all': all } };
  if (percent === some)
    return { condition: `attribute_not_exists(told) AND ${isBelowAll}`, values: { ':belowAll': belowAll } };
  return {
    condition: `(told = :all OR (told = :some AND ${isBelowAll}) OR ${isBelowSome})`,
    values: { ':some': some, ':all': all, ':belowSome': belowSome, ':belowAll': belowAll },
  };
}

function waitingNotification(
  { licenseId, periodStartMs, completedAtMs }: Charge,
  percent: NotificationPercent,
): Part {
  const notification = { licenseId, periodStartMs, percent };
  const removeAtMs = completedAtMs! + keptDays * 24 * 3600 * 1000;
  return {
    key: itemKeys.notification(notification),
    put: { ...notification, [ttlAttribute]: Math.ceil(removeAtMs / 1000) },
  };
}
