import { formatCount, formatNumber } from '../../lib/format.ts';

export interface ListExtent {
  count: number;
  hasMore: boolean;
  filtered: boolean;
}

/** What a screen reader is told once a list has come, or has grown. */
export function announceList({ count, hasMore, filtered }: ListExtent): string {
  if (count === 0) return hasMore ? '' : filtered ? 'No request matches these filters.' : 'No requests yet.';
  const what = filtered ? formatCount(count, 'matching request') : formatCount(count, 'request');
  return hasMore ? `${what} shown. More load as you scroll.` : `${what} shown. That is all.`;
}

/** The last line of a list that is there in full. */
export function endOfList(count: number, filtered: boolean): string {
  const noun = filtered ? 'match' : 'request';
  const all =
    count === 1
      ? `That is the only ${noun}`
      : `That is all: ${formatCount(count, noun, `${noun}${filtered ? 'es' : 's'}`)}`;
  return `${all}. Requests are kept for 90 days.`;
}

/** A card's badge, where there is more than one image. */
export function imageCount(outputs: number): { shown: string; read: string } | null {
  return outputs > 1 ? { shown: formatNumber(outputs), read: formatCount(outputs, 'image') } : null;
}
