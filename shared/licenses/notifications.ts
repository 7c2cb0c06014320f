/** The parts of a period's credits, in percent, whose use is told to the license's owner. They rise. */
export const noticePercents = [80, 100] as const;
export type NoticePercent = (typeof noticePercents)[number];

/** What the owner is told, once in each period. */
export interface CreditNotice {
  licenseId: string;
  periodStartMs: number;
  percent: NoticePercent;
}

/** The used credits with which a part of the limit is reached. */
export function reachedAt(percent: NoticePercent, creditsLimit: number): number {
  return Math.ceil((creditsLimit * percent) / 100);
}

/**
 * The part that the owner must be told of: the highest that is reached, unless this one or a higher one was told. A
 * charge that reaches both tells of the higher one only.
 * @param told the highest part that the period's owner was told of, 0 for none.
 */
export function noticeDue(used: number, creditsLimit: number, told: number): NoticePercent | null {
  const reached = noticePercents.findLast((percent) => used >= reachedAt(percent, creditsLimit));
  return reached !== undefined && reached > told ? reached : null;
}

/** Whether the owner is told of a higher part that is still reached: that e-mail says all that this notice would. */
export function isOvertaken(notice: CreditNotice, used: number, creditsLimit: number, told: number): boolean {
  return noticePercents.some(
    (percent) => percent > notice.percent && percent <= told && used >= reachedAt(percent, creditsLimit),
  );
}
