import { ExternalLink, Sparkles } from 'lucide-react';
import { Link } from 'react-router';
import { isGone, type useGeneration } from '@/api/queries.ts';
import type { StoredGeneration } from '@/lib/types.ts';
import { Loading, Skeleton } from '@/components/loading.tsx';
import { ThumbnailStrip } from '@/components/thumbnail-strip.tsx';
import { Made } from '@/components/time.tsx';
import { SignedImage } from '@/components/signed-image.tsx';
import { ErrorState, MissingRequest } from '@/components/states.tsx';
import { Badge } from '@/components/ui/badge.tsx';
import { LinkButton, NewTabButton } from '@/components/ui/button.tsx';
import { stripOf, thumbnailOf } from '@/lib/outputs.ts';
import { shorten } from '@/lib/text.ts';
import { OutputPlaceholder } from '../output-viewer.tsx';
import { viewerWidth } from '../request-view.ts';

interface SideProps {
  /** `A` or `B`, as in the table's columns. */
  name: string;
  query: ReturnType<typeof useGeneration>;
  /** The image to show, from 0. */
  index: number;
  onShow: (index: number) => void;
  /** Whether the image itself is loaded, and not its preview. */
  isFullSize: boolean;
}

/** One of the two requests: its picture, and where it leads. */
export function Side({ query, ...props }: SideProps) {
  const { data, error, isFetching, refetch } = query;
  return (
    <section aria-label={`Request ${props.name}`} className="grid min-w-0 grid-cols-1 gap-4">
      {data !== undefined && <Loaded {...props} generation={data} renew={() => void refetch()} />}
      {data === undefined && error === null && (
        <Loading label={`Loading request ${props.name}`}>
          <Skeleton className="h-12" />
          <Skeleton className="aspect-square max-h-[72dvh] w-full" />
        </Loading>
      )}
      {data === undefined && isGone(error) && (
        <MissingRequest
          title={`Request ${props.name} is not among your stored ones`}
          action="Choose another in your history"
        />
      )}
      {data === undefined && error !== null && !isGone(error) && (
        <ErrorState error={error} onRetry={() => void refetch()} retrying={isFetching} />
      )}
    </section>
  );
}

type LoadedProps = Omit<SideProps, 'query'> & { generation: StoredGeneration; renew: () => void };

function Loaded({ name, generation, index: wanted, onShow, isFullSize, renew }: LoadedProps) {
  const { id, prompt, outputs, width, height } = generation;
  const index = Math.max(0, Math.min(wanted, outputs.length - 1));
  const url = outputs[index];
  const which = outputs.length > 1 ? `, image ${index + 1} of ${outputs.length}` : '';
  const preview = thumbnailOf(generation, index);
  return (
    <>
      <Heading name={name} generation={generation} />
      {url === undefined ? (
        <OutputPlaceholder generation={generation} />
      ) : (
        <div className="flex justify-center overflow-hidden rounded-lg bg-muted">
          <div className="max-w-full" style={{ width: viewerWidth(generation) }}>
            <SignedImage
              eager
              src={isFullSize ? url : preview}
              placeholder={isFullSize ? preview : undefined}
              alt={`${name}: ${prompt}${which}`}
              width={width}
              height={height}
              onReload={renew}
              className="rounded-none"
            />
          </div>
        </div>
      )}
      {outputs.length > 1 && <ThumbnailStrip {...stripOf(generation)} index={index} onShow={onShow} />}
      <div className="flex flex-wrap gap-2">
        <LinkButton variant="outline" to={`/playground?from=${encodeURIComponent(id)}`} icon={Sparkles}>
          Use these settings
          <span className="sr-only"> of {name}</span>
        </LinkButton>
        {url !== undefined && (
          <NewTabButton variant="outline" href={url} icon={ExternalLink}>
            Open
            <span className="sr-only"> the picture of {name} in full size, in a new tab</span>
          </NewTabButton>
        )}
      </div>
    </>
  );
}

function Heading({ name, generation }: { name: string; generation: StoredGeneration }) {
  const { id, prompt } = generation;
  return (
    // Room for two lines of prompt, so that the pictures of both begin at the same height.
    <header className="flex min-w-0 items-start gap-3 sm:min-h-17">
      <Badge variant="outline" className="text-foreground">
        {name}
      </Badge>
      <div className="min-w-0">
        <h2 dir="auto" className="line-clamp-2 font-semibold wrap-anywhere">
          <Link to={`/history/${id}`} className="underline-offset-4 hover:underline">
            {shorten(prompt, 60)}
          </Link>
        </h2>
        <p className="text-xs leading-5 text-muted-foreground">
          <Made generation={generation} />
        </p>
      </div>
    </header>
  );
}
