/**
 * A filter may match nothing in a thousand requests, and each page looks through as many: after this many pages
 * without a match the person decides whether to look further.
 */
export const maxEmptyPages = 5;

export interface AutoFetchFacts {
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
export function shouldFetchNext({ nearEnd, hasMore, fetching, failed, emptyPages }: AutoFetchFacts): boolean {
  return nearEnd && hasMore && !fetching && !failed && emptyPages < maxEmptyPages;
}

/** The run of empty pages after one more page: `before` and `after` are how long the list was and is. */
export function countEmptyPages(emptyPages: number, before: number, after: number): number {
  return after > before ? 0 : emptyPages + 1;
}
