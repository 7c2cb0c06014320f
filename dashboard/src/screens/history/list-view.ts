import { formatCount, formatNumber } from '../../lib/format.ts';

interface ListExtent {
  count: number;
  hasMore: boolean;
  filtered: boolean;
}

/** For screen readers, when a list is loaded or grows. */
export function announceList({ count, hasMore, filtered }: ListExtent): string {
  if (count === 0) return hasMore ? '' : filtered ? 'No request matches these filters.' : 'No requests yet.';
  const what = filtered ? formatCount(count, 'matching request') : formatCount(count, 'request');
  return hasMore ? `${what} shown. More load as you scroll.` : `${what} shown. That is all.`;
}

/** The line below a complete list. `retention` says how long requests are kept: `90 days`. */
export function endOfList(count: number, filtered: boolean, retention: string): string {
  const noun = filtered ? 'match' : 'request';
  const all =
    count === 1
      ? `That is the only ${noun}`
      : `That is all: ${formatCount(count, noun, `${noun}${filtered ? 'es' : 's'}`)}`;
  return `${all}. Requests are kept for ${retention}.`;
}

/** A card's badge, where there is more than one image. */
export function imageCount(outputs: number): { shown: string; read: string } | null {
  return outputs > 1 ? { shown: formatNumber(outputs), read: formatCount(outputs, 'image') } : null;
}

/**
 * A filtered page searches up to a thousand requests and may match none of them. After this many pages without a match
 * the person decides whether to go on.
 */
export const maxEmptyPages = 5;

interface AutoFetchState {
  /** The end of the list is on the screen or near it. */
  nearEnd: boolean;
  hasMore: boolean;
  fetching: boolean;
  /** The last page could not be loaded: it waits for its own retry. */
  failed: boolean;
  /** Pages that were fetched one after another and brought nothing. */
  emptyPages: number;
}

/** Whether the next page is fetched without being asked for. */
export function shouldFetchNext({ nearEnd, hasMore, fetching, failed, emptyPages }: AutoFetchState): boolean {
  return nearEnd && hasMore && !fetching && !failed && emptyPages < maxEmptyPages;
}

/** The number of empty pages in a row after one more page. `before` and `after` are the lengths of the list. */
export function countEmptyPages(emptyPages: number, before: number, after: number): number {
  return after > before ? 0 : emptyPages + 1;
}
