import { CircleX, Clock, ExternalLink, ImagePlus, LoaderCircle } from 'lucide-react';
import { useState } from 'react';
import { isFinal } from '@/api/queries.ts';
import type { StoredGeneration } from '@/lib/types.ts';
import { CopyButton } from '@/components/copy-button.tsx';
import { DownloadButton } from '@/components/download-button.tsx';
import { ThumbnailStrip, LargeImage } from '@/components/pictures.tsx';
import { LinkButton, NewTabButton } from '@/components/ui/button.tsx';
import { asReferenceSearch, outputSeed, stripOf, thumbnailOf, viewerWidth } from '@/lib/outputs.ts';
import { formatCount } from '@/lib/format.ts';
import { ZipButton } from './request-actions.tsx';

interface OutputViewerProps {
  generation: StoredGeneration;
  renew: () => Promise<StoredGeneration>;
}

export function OutputViewer({ generation, renew }: OutputViewerProps) {
  const [shown, setShown] = useState(0);
  const { outputs, prompt, width, height } = generation;
  const index = Math.min(shown, outputs.length - 1);
  const url = outputs[index]!;
  const which = outputs.length > 1 ? `, image ${index + 1} of ${outputs.length}` : '';
  return (
    <figure className="grid grid-cols-1 gap-4">
      <LargeImage
        ground="relative sm:p-3 [&_button]:relative [&_button]:z-10"
        src={url}
        placeholder={thumbnailOf(generation, index)}
        alt={`${prompt}${which}`}
        width={width}
        height={height}
        onReload={() => void renew()}
      >
        {/* For pointers. The button below does the same for everybody. */}
        <a
          href={url}
          target="_blank"
          rel="noopener noreferrer"
          aria-hidden
          tabIndex={-1}
          className="absolute inset-0 cursor-zoom-in"
        />
      </LargeImage>
      <figcaption>
        <OutputBar generation={generation} index={index} renew={renew} />
      </figcaption>
      {outputs.length > 1 && <ThumbnailStrip {...stripOf(generation)} index={index} onShow={setShown} />}
    </figure>
  );
}

function OutputBar({ generation, index, renew }: OutputViewerProps & { index: number }) {
  const { outputs, seed } = generation;
  const ownSeed = outputSeed(seed, index);
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
      <p className="flex flex-wrap items-center gap-x-1 tabular-nums">
        {outputs.length > 1 && (
          <span className="mr-2 font-medium">
            Image {index + 1} of {outputs.length}
          </span>
        )}
        <span className="flex items-center gap-x-1">
          <span className="text-muted-foreground">Seed {ownSeed}</span>
          <CopyButton key={ownSeed} text={String(ownSeed)} label="Copy the image's seed" iconOnly />
        </span>
      </p>
      {/* Where they don't fit into one row, their rows end together. */}
      <div className="flex flex-wrap gap-2 *:grow max-sm:w-full lg:max-xl:w-full">
        <LinkButton
          variant="outline"
          to={`/playground${asReferenceSearch({ requestId: generation.id, index })}`}
          icon={ImagePlus}
        >
          Use as reference
        </LinkButton>
        {outputs.length > 1 && <ZipButton requests={[generation]} label="All as ZIP" />}
        <DownloadButton
          variant="outline"
          run={generation}
          index={index}
          renew={async () => (await renew()).outputs}
        >
          Download
        </DownloadButton>
        <NewTabButton variant="outline" href={outputs[index]} icon={ExternalLink}>
          Full size
          <span className="sr-only">, opens a new tab</span>
        </NewTabButton>
      </div>
    </div>
  );
}

/** Shown in place of images that are not there yet, or never will be. */
export function OutputPlaceholder({ generation }: { generation: StoredGeneration }) {
  const { status, width, height } = generation;
  const { title, text } = textsOf(generation);
  const Icon = status === 'FAILED' ? CircleX : status === 'TIMEOUT' ? Clock : LoaderCircle;
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
