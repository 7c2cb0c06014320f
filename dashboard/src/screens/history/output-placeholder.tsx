import { Ban, CircleX, Clock, LoaderCircle, type LucideIcon } from 'lucide-react';
import { isFinal } from '@/api/queries.ts';
import { stateOf } from '@/components/status-badge.tsx';
import type { StoredGeneration } from '@/lib/types.ts';
import { formatCount } from '@/lib/format.ts';
import { viewerWidth } from '@/lib/outputs.ts';

const icons: Partial<Record<string, LucideIcon>> = { FAILED: CircleX, TIMEOUT: Clock, CANCELLED: Ban };

/** Shown in place of images that are not there yet, or never will be. */
export function OutputPlaceholder({ generation }: { generation: StoredGeneration }) {
  const { status, width, height } = generation;
  const { title, text } = textsOf(generation);
  const Icon = icons[stateOf(generation)] ?? LoaderCircle;
  return (
    <div className="flex justify-center rounded-lg bg-muted">
      <div
        className="flex min-h-64 max-w-full flex-col items-center justify-center gap-1 p-6 text-center"
        style={isFinal(status) ? {} : { width: viewerWidth(generation), aspectRatio: `${width} / ${height}` }}
      >
        <Icon
          aria-hidden
          strokeWidth={1.5}
          className={`mb-3 size-8 text-muted-foreground ${isFinal(status) ? '' : 'animate-spin'}`}
        />
        <h2 className="text-base font-semibold">{title}</h2>
        <p className="max-w-md text-pretty wrap-anywhere text-muted-foreground">{text}</p>
      </div>
    </div>
  );
}

function textsOf({ status, errorMessage, numOutputs }: StoredGeneration): { title: string; text: string } {
  const images = numOutputs > 1 ? `${formatCount(numOutputs, 'image')} appear` : 'The image appears';
  const again = 'No credits were charged. Use the request again to have another try.';
  switch (status) {
    case 'QUEUED':
      return {
        title: 'Waiting for its turn',
        text: `${images} here once made. This page updates by itself.`,
      };
    case 'PROCESSING':
      return { title: 'Being made', text: `${images} here once made. This page updates by itself.` };
    case 'TIMEOUT':
      return {
        title: errorMessage ?? 'The image was not finished in time.',
        text: 'No credits were charged. Fewer steps, fewer images or a smaller size finish sooner.',
      };
    case 'FAILED':
      return { title: errorMessage ?? 'The image could not be finished.', text: again };
    case 'COMPLETED':
      return {
        title: 'There is no image',
        text: 'The request has ended, and its images are not there any more.',
      };
  }
}
