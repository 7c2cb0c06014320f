import { ErrorState } from '@/components/error-state.tsx';
import { Button } from '@/components/ui/button.tsx';
import { endOfList } from './list-words.ts';
import type { useHistoryList } from './use-history-list.ts';

interface ListEndProps {
  list: ReturnType<typeof useHistoryList>;
  filtered: boolean;
}

/** What stands below the grid: more to come, an error of the next page, or the end. */
export function ListEnd({ list, filtered }: ListEndProps) {
  const { generations = [], error, hasMore, fetchingMore, moreFailed, loadMore, endRef } = list;
  if (moreFailed) {
    return <ErrorState error={error} onRetry={loadMore} retrying={fetchingMore} className="mt-8" />;
  }
  if (!hasMore) {
    return (
      <p className="mt-10 text-center text-xs text-muted-foreground">
        {endOfList(generations.length, filtered)}
      </p>
    );
  }
  return (
    <div ref={endRef} className="mt-10 flex flex-col items-center gap-3 text-center">
      {list.looksFurther && (
        <p className="max-w-md text-pretty text-muted-foreground">
          {fetchingMore
            ? 'Looking further back for matching requests.'
            : 'Nothing more was found so far. Older requests may still match.'}
        </p>
      )}
      <Button variant="outline" pending={fetchingMore} onClick={loadMore}>
        {fetchingMore ? 'Loading more' : 'Load more'}
      </Button>
    </div>
  );
}
