import { ArrowRight } from 'lucide-react';
import { useEffect, useId, useState } from 'react';
import { Link } from 'react-router';
import { useGenerations } from '@/api/queries.ts';
import type { StoredGeneration } from '@/lib/types.ts';
import { SignedImage } from '@/components/signed-image.tsx';
import { Loading, Skeleton } from '@/components/loading.tsx';
import { ErrorState, StaleNote } from '@/components/states.tsx';
import { Time } from '@/components/time.tsx';
import { LinkButton } from '@/components/ui/button.tsx';
import { CardTitle } from '@/components/ui/card.tsx';
import { formatCount } from '@/lib/format.ts';
import { thumbnailOf } from '@/lib/outputs.ts';

const newestCount = 8;

/** How many pages are searched for images. Most requests of a page may have failed. */
const mostPages = 4;

/** The newest completed generations of a license that have an image, at most `newestCount`. */
export function useNewestImages(licenseId: string) {
  const query = useGenerations(licenseId, { status: 'COMPLETED' }, newestCount);
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = query;
  const generations = data?.filter(({ outputs }) => outputs.length > 0).slice(0, newestCount);
  const [pages, setPages] = useState(1);
  const tooFew = generations !== undefined && generations.length < newestCount;
  const goOn = tooFew && pages < mostPages && hasNextPage && !isFetching && !isError;
  useEffect(() => {
    if (!goOn) return;
    setPages((count) => count + 1);
    void fetchNextPage();
  }, [goOn, fetchNextPage]);
  // There may be images on the next page.
  const searching = generations?.length === 0 && (goOn || isFetching);
  return { ...query, generations: searching ? undefined : generations };
}

/** The newest completed images. Renders nothing for a license that has none. */
export function NewestImages({ images }: { images: ReturnType<typeof useNewestImages> }) {
  const { generations, error, refetch, isFetching, dataUpdatedAt } = images;
  const titleId = useId();
  if (generations?.length === 0 && error === null) return null;
  return (
    <section aria-labelledby={titleId} className="grid min-w-0 grid-cols-1 gap-4">
      <div className="flex items-center justify-between gap-4">
        <CardTitle id={titleId}>Newest images</CardTitle>
        <LinkButton variant="ghost" size="sm" className="-mr-3" to="/history">
          All history
          <ArrowRight aria-hidden />
        </LinkButton>
      </div>
      {generations === undefined && error === null && <NewestSkeleton />}
      {generations === undefined && error !== null && (
        <ErrorState error={error} onRetry={() => void refetch()} retrying={isFetching} />
      )}
      {generations !== undefined && error !== null && (
        <StaleNote what="These images" error={error} updatedAtMs={dataUpdatedAt} />
      )}
      {generations !== undefined && generations.length > 0 && (
        <ul className="grid grid-cols-2 gap-x-2 gap-y-4 sm:gap-x-4 md:grid-cols-4">
          {generations.map((generation) => (
            <li key={generation.id} className="min-w-0">
              <Tile generation={generation} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Tile({ generation }: { generation: StoredGeneration }) {
  const { id, prompt, outputs, identity, completedAt, createdAt } = generation;
  const at = completedAt ?? createdAt;
  return (
    <Link to={`/history/${encodeURIComponent(id)}`} className="group block rounded-md">
      <span className="relative block overflow-hidden rounded-md">
        {/* All tiles are square. A click shows the whole image. */}
        <SignedImage eager src={thumbnailOf(generation, 0)} alt={prompt} width={512} height={512} />
        {outputs.length > 1 && (
          <span className="absolute right-2 bottom-2 rounded-full bg-background px-2 text-xs leading-6 font-medium">
            {formatCount(outputs.length, 'image')}
          </span>
        )}
      </span>
      <span className="mt-2 flex flex-wrap justify-between gap-x-2 text-xs leading-5">
        <span dir="auto" className="font-medium group-hover:underline">
          {identity.name}
        </span>
        <Time iso={at} relative className="text-muted-foreground" />
      </span>
    </Link>
  );
}

function NewestSkeleton() {
  return (
    <Loading
      label="Loading your newest images"
      className="grid-cols-2 gap-x-2 gap-y-4 sm:gap-x-4 md:grid-cols-4"
    >
      {Array.from({ length: newestCount }, (_, index) => (
        <div key={index}>
          <Skeleton className="aspect-square" />
          <Skeleton className="mt-2 h-5 w-2/3" />
        </div>
      ))}
    </Loading>
  );
}
