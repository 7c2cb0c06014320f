import { ExternalLink, ImagePlus } from 'lucide-react';
import { useState } from 'react';
import type { StoredGeneration } from '@/lib/types.ts';
import { CopyButton } from '@/components/copy-button.tsx';
import { DownloadButton } from '@/components/download-button.tsx';
import { ThumbnailStrip, LargeImage } from '@/components/pictures.tsx';
import { LinkButton, NewTabButton } from '@/components/ui/button.tsx';
import { asReferenceSearch, outputSeed, stripOf, thumbnailOf } from '@/lib/outputs.ts';
import { isolated } from '@/lib/text.ts';
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
        alt={`${isolated(prompt)}${which}`}
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
