import { useCallback, useEffect, useState } from 'react';
import { useGenerations } from '@/api/queries.ts';
import { countEmptyPages, shouldFetchNext } from './auto-fetch.ts';
import type { HistoryFilters } from './filters.ts';
import { useNearEnd } from './use-near-end.ts';

/** The list so far, which goes on by itself while `endRef`'s element is near the screen. One for each set of filters. */
export function useHistoryList(licenseId: string, filters: HistoryFilters) {
  const query = useGenerations(licenseId, filters);
  const { ref: endRef, nearEnd } = useNearEnd();
  const [emptyPages, setEmptyPages] = useState(0);
  const { hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = query;
  const count = query.data?.length ?? 0;

  const fetchNext = useCallback(
    async (emptyBefore: number): Promise<void> => {
      const result = await fetchNextPage({ cancelRefetch: false });
      if (!result.isFetchNextPageError) {
        setEmptyPages(countEmptyPages(emptyBefore, count, result.data?.length ?? 0));
      }
    },
    [fetchNextPage, count],
  );

  const goOn = shouldFetchNext({
    nearEnd,
    hasMore: hasNextPage,
    fetching: isFetching,
    failed: isFetchNextPageError,
    emptyPages,
  });
  useEffect(() => {
    if (goOn) void fetchNext(emptyPages);
  }, [goOn, fetchNext, emptyPages]);

  return {
    generations: query.data,
    error: query.error,
    refetch: query.refetch,
    fetching: isFetching,
    pending: query.isPending,
    hasMore: hasNextPage,
    fetchingMore: query.isFetchingNextPage,
    moreFailed: isFetchNextPageError,
    /** Several pages in a row held no match: the next waits to be asked for. */
    looksFurther: emptyPages > 0,
    endRef,
    /** Asked for by hand, so a run of empty pages starts anew. */
    loadMore: () => void fetchNext(0),
  };
}
