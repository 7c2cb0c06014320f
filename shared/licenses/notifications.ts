/** The thresholds, in percent of a period's credits, that the license's owner is notified of. They rise. */
export const notificationPercents = [80, 100] as const;
export type NotificationPercent = (typeof notificationPercents)[number];

/** What the owner is notified of, once in each period. */
export interface CreditNotification {
  licenseId: string;
  periodStartMs: number;
  percent: NotificationPercent;
}

/** The used credits with which a threshold is reached. */
export function reachedAt(percent: NotificationPercent, creditsLimit: number): number {
  return Math.ceil((creditsLimit * percent) / 100);
}

/**
 * The threshold that the owner must be notified of: the highest that is reached, unless this one or a higher one was
 * notified. A charge that reaches both notifies of the higher one only.
 * @param notified the highest threshold that the period's owner was notified of, 0 for none.
 */
export function notificationDue(
  used: number,
  creditsLimit: number,
  notified: number,
): NotificationPercent | null {
  const reached = notificationPercents.findLast((percent) => used >= reachedAt(percent, creditsLimit));
  return reached !== undefined && reached > notified ? reached : null;
}

/** Whether the owner is notified of a higher threshold that is still reached: that e-mail says all that this one would. */
export function isOvertaken(
  notification: CreditNotification,
  used: number,
  creditsLimit: number,
  notified: number,
): boolean {
  return notificationPercents.some(
    (percent) =>
      percent > notification.percent && percent <= notified && used >= reachedAt(percent, creditsLimit),
  );
}
