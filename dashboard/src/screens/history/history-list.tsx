import { Images, SearchX } from 'lucide-react';
import { useCallback, useEffect, useState } from 'react';
import { isFinal, useFollowed, useGenerations, useSearchedBackTo } from '@/api/queries.ts';
import { Loading, Skeleton } from '@/components/loading.tsx';
import { EmptyState, ErrorState, FirstImageLinks, QueryError } from '@/components/states.tsx';
import { useLicense } from '@/license/license-choice.ts';
import { Time } from '@/components/time.tsx';
import { Button } from '@/components/ui/button.tsx';
import { useRetention } from '@/lib/config.ts';
import { isFiltered, isSearching, writeFilters, type HistoryFilters } from './filters.ts';
import { HistoryCard } from './history-card.tsx';
import { SelectionBar, choiceOf, type Selecting } from './selection-bar.tsx';
import { useApiFilters } from './back-to-list.tsx';
import { announceList, countEmptyPages, endOfList, shouldFetchNext } from './list-view.ts';

interface HistoryListProps {
  licenseId: string;
  filters: HistoryFilters;
  onOpen: (requestId: string) => void;
  /** Null while nothing is filtered. */
  onClear: (() => void) | null;
  /** Null while requests are opened, and not selected. */
  selecting: Selecting | null;
}

/** So many images are seen at once, mostly. They are loaded before those below. */
const firstRows = 8;

const gridClasses =
  'grid grid-cols-2 gap-x-2 gap-y-6 sm:grid-cols-3 sm:gap-x-4 sm:gap-y-8 lg:grid-cols-4 2xl:grid-cols-5 min-[112rem]:grid-cols-6';

export function HistoryList({ licenseId, filters, onOpen, onClear, selecting }: HistoryListProps) {
  const list = useHistoryList(licenseId, filters);
  const { data, error, isPending, hasNextPage: hasMore } = list;
  const filtered = isFiltered(filters);
  const retry = (): void => void list.refetch();
  const known = useFollowed(data);
  const count = data?.length ?? 0;
  return (
    <>
      <p role="status" className="sr-only">
        {data && announceList({ count, hasMore, filtered })}
      </p>
      {isPending && <GridSkeleton />}
      {error !== null && !list.isFetchNextPageError && <QueryError query={list} className="mb-6" />}
      {count > 0 && (
        <ul role="list" className={gridClasses}>
          {known?.map((generation, index) => (
            <li key={generation.id} className="min-w-0">
              <HistoryCard
                generation={generation}
                wasRunning={!isFinal(data![index]!.status)}
                eager={index < firstRows}
                listSearch={writeFilters(filters)}
                onOpen={onOpen}
                onReload={retry}
                choice={choiceOf(selecting, known, generation.id)}
              />
            </li>
          ))}
        </ul>
      )}
      {data && count === 0 && !hasMore && (onClear ? <NoMatch onClear={onClear} /> : <EmptyHistory />)}
      {data && (count > 0 || hasMore) && (
        <ListEnd list={list} count={count} filtered={filtered} searches={isSearching(filters)} />
      )}
      {selecting && (
        <SelectionBar
          list={known ?? []}
          hasMore={hasMore}
          licenseId={licenseId}
          filters={list.apiFilters}
          selecting={selecting}
        />
      )}
    </>
  );
}

function GridSkeleton() {
  return (
    <Loading label="Loading your history">
      <div className={gridClasses}>
        {Array.from({ length: 12 }, (_, i) => (
          <div key={i} className="grid gap-2">
            <Skeleton className="aspect-square" />
            <Skeleton className="h-4 w-5/6" />
            <Skeleton className="h-4 w-1/2" />
          </div>
        ))}
      </div>
    </Loading>
  );
}

interface ListEndProps {
  list: ReturnType<typeof useHistoryList>;
  count: number;
  filtered: boolean;
  /** Whether the service reads back through the history. */
  searches: boolean;
}

function ListEnd({ list, count, filtered, searches }: ListEndProps) {
  const retention = useRetention();
  const { error, isFetchingNextPage: fetching, loadMore, searchedBackTo, watchEnd } = list;
  if (list.isFetchNextPageError) {
    return <ErrorState error={error} onRetry={loadMore} retrying={fetching} className="mt-8" />;
  }
  if (!list.hasNextPage) {
    return (
      <p className="mt-10 text-center text-xs text-muted-foreground">
        {endOfList(count, filtered, retention)}
      </p>
    );
  }
  return (
    <div ref={watchEnd} className="mt-10 flex flex-col items-center gap-3 text-center">
      {searches && searchedBackTo !== null && (
        <p className="max-w-md text-pretty text-muted-foreground">
          Searched back to <Time iso={searchedBackTo} />. Older requests may match, too.
        </p>
      )}
      <Button variant="outline" pending={fetching} onClick={loadMore}>
        {searches
          ? fetching
            ? 'Searching'
            : 'Search further back'
          : fetching
            ? 'Loading more'
            : 'Load more'}
      </Button>
    </div>
  );
}

function EmptyHistory() {
  const { usable } = useLicense();
  const retention = useRetention();
  return (
    <EmptyState
      icon={Images}
      title={usable ? 'Your images will be here' : 'There are no images'}
      action={usable ? <FirstImageLinks /> : undefined}
    >
      This license has made no image in the last {retention}.{' '}
      {usable && 'Make the first one in the playground, or with a few lines of code.'}
    </EmptyState>
  );
}

function NoMatch({ onClear }: { onClear: () => void }) {
  return (
    <EmptyState
      icon={SearchX}
      title="No request matches these filters"
      action={
        <Button variant="outline" onClick={onClear}>
          Clear filters
        </Button>
      }
    >
      Choose other filters or fewer words, or clear them to see every request of this license. Requests are
      kept for {useRetention()}; a search looks for words in the prompt only.
    </EmptyState>
  );
}

/** The loaded part of the list. It loads more while the element of `watchEnd` is near the screen. */
function useHistoryList(licenseId: string, filters: HistoryFilters) {
  const apiFilters = useApiFilters(filters);
  const query = useGenerations(licenseId, apiFilters);
  const searchedBackTo = useSearchedBackTo(licenseId, apiFilters);
  const { ref: watchEnd, nearEnd } = useNearEnd();
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
    ...query,
    apiFilters,
    searchedBackTo,
    watchEnd,
    /** Somebody pressed the button, so the count of empty pages starts at 0. */
    loadMore: () => void fetchNext(0),
  };
}

/** Whether the element of `ref` is on the screen or less than a screen below it. */
function useNearEnd(): { ref: (element: Element | null) => void; nearEnd: boolean } {
  const [element, ref] = useState<Element | null>(null);
  const [nearEnd, setNearEnd] = useState(false);
  useEffect(() => {
    if (element === null || typeof IntersectionObserver === 'undefined') return;
    const observer = new IntersectionObserver(
      (entries) => setNearEnd(entries.at(-1)?.isIntersecting ?? false),
      { rootMargin: '0px 0px 100% 0px' },
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      setNearEnd(false);
    };
  }, [element]);
  return { ref, nearEnd };
}
