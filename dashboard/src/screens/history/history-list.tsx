import { ErrorState } from '@/components/error-state.tsx';
import { Loading } from '@/components/loading.tsx';
import { Skeleton } from '@/components/ui/skeleton.tsx';
import { isFiltered, writeFilters, type HistoryFilters } from './filters.ts';
import { HistoryCard } from './history-card.tsx';
import { EmptyHistory, NoMatch } from './history-empty.tsx';
import { ListEnd } from './list-end.tsx';
import { announceList } from './list-words.ts';
import { useHistoryList } from './use-history-list.ts';
import { useNow } from '@/lib/use-now.ts';

interface HistoryListProps {
  licenseId: string;
  filters: HistoryFilters;
  onOpen: (requestId: string) => void;
  /** Null while nothing is filtered. */
  onClear: (() => void) | null;
}

const gridLooks =
  'grid grid-cols-2 gap-x-2 gap-y-6 sm:grid-cols-3 sm:gap-x-4 sm:gap-y-8 lg:grid-cols-4 2xl:grid-cols-5 min-[112rem]:grid-cols-6';

export function HistoryList({ licenseId, filters, onOpen, onClear }: HistoryListProps) {
  const list = useHistoryList(licenseId, filters);
  const nowMs = useNow();
  const { generations = [], error, refetch, fetching, pending, hasMore } = list;
  const filtered = isFiltered(filters);
  const retry = (): void => void refetch();
  const count = generations.length;
  return (
    <>
      <p role="status" className="sr-only">
        {list.generations && announceList({ count, hasMore, filtered })}
      </p>
      {pending && <GridSkeleton />}
      {error !== null && !list.moreFailed && (
        <ErrorState error={error} onRetry={retry} retrying={fetching} className="mb-6" />
      )}
      {count > 0 && (
        <ul role="list" className={gridLooks}>
          {generations.map((generation) => (
            <li key={generation.id} className="min-w-0">
              <HistoryCard
                generation={generation}
                nowMs={nowMs}
                listSearch={writeFilters(filters)}
                onOpen={onOpen}
                onReload={retry}
              />
            </li>
          ))}
        </ul>
      )}
      {list.generations &&
        count === 0 &&
        !hasMore &&
        (onClear ? <NoMatch onClear={onClear} /> : <EmptyHistory />)}
      {list.generations && (count > 0 || hasMore) && <ListEnd list={list} filtered={filtered} />}
    </>
  );
}

function GridSkeleton() {
  return (
    <Loading label="Loading your history">
      <div className={gridLooks}>
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
