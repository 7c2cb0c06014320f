import { ArrowRight } from 'lucide-react';
import { useId } from 'react';
import { Link } from 'react-router';
import type { StoredGeneration } from '@/api/types.ts';
import { ErrorState } from '@/components/error-state.tsx';
import { SignedImage } from '@/components/signed-image.tsx';
import { Button } from '@/components/ui/button.tsx';
import { CardTitle } from '@/components/ui/card.tsx';
import { formatCount, formatDateTime, formatRelative } from '@/lib/format.ts';
import { NewestSkeleton } from './skeletons.tsx';
import { StaleNote } from './stale-note.tsx';
import type { useNewestImages } from './use-newest-images.ts';

/** The newest completed images; nothing at all for a license that has none. */
export function NewestImages({ images }: { images: ReturnType<typeof useNewestImages> }) {
  const { generations, error, refetch, isFetching, dataUpdatedAt } = images;
  const titleId = useId();
  if (generations?.length === 0 && error === null) return null;
  return (
    <section aria-labelledby={titleId} className="grid min-w-0 grid-cols-1 gap-4">
      <div className="flex items-center justify-between gap-4">
        <CardTitle id={titleId}>Newest images</CardTitle>
        <Button asChild variant="ghost" size="sm" className="-mr-3">
          <Link to="/history">
            All history
            <ArrowRight aria-hidden />
          </Link>
        </Button>
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
        {/* Square, whatever the image is: the grid stays calm, and the whole image is one click away. */}
        <SignedImage src={outputs[0] ?? ''} alt={prompt} width={512} height={512} />
        {outputs.length > 1 && (
          <span className="absolute right-2 bottom-2 rounded-full bg-background px-2 text-xs leading-6 font-medium">
            {formatCount(outputs.length, 'image')}
          </span>
        )}
      </span>
      <span className="mt-2 flex flex-wrap justify-between gap-x-2 text-xs leading-5">
        <span className="font-medium group-hover:underline">{identity.name}</span>
        <time dateTime={at} title={formatDateTime(at)} className="text-muted-foreground">
          {formatRelative(at)}
        </time>
      </span>
    </Link>
  );
}
