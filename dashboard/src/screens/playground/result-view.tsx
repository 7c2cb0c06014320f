import { ExternalLink, ImagePlus, Lock } from 'lucide-react';
import { toast } from 'sonner';
import type { StoredGeneration } from '@/lib/types.ts';
import { CopyButton } from '@/components/copy-button.tsx';
import { DownloadButton } from '@/components/download-button.tsx';
import { SignedImage } from '@/components/signed-image.tsx';
import { Button, LinkButton, NewTabButton } from '@/components/ui/button.tsx';
import { cn } from '@/lib/cn.ts';
import { asReferenceSearch, outputSeed, sourcesOf } from '@/lib/outputs.ts';
import { shorten } from '@/lib/text.ts';
import { gridColumns, resultSizes } from './sizes.ts';
import { formStore } from './stores.ts';

interface ResultProps {
  run: StoredGeneration;
  /** Fetches the request anew, with new links. @returns them */
  renew: () => Promise<string[]>;
}

/** The images of one generation, as large as the window lets them be. */
export function ResultView({ run, renew }: ResultProps) {
  const { outputs } = run;
  return (
    <ul className={cn('grid gap-x-2 gap-y-4 sm:gap-x-4', gridColumns(outputs.length))}>
      {outputs.map((_, index) => (
        <ResultImage key={index} run={run} renew={renew} index={index} />
      ))}
    </ul>
  );
}

interface ResultImageProps extends ResultProps {
  index: number;
}

function ResultImage({ run, renew, index }: ResultImageProps) {
  const { prompt, outputs, width, height } = run;
  const seed = outputSeed(run.seed, index);
  const which = outputs.length > 1 ? `image ${index + 1}` : 'the image';
  const alt = `${shorten(prompt, 80)}${outputs.length > 1 ? `, ${index + 1} of ${outputs.length}` : ''}`;
  return (
    <li className="grid min-w-0 content-start gap-1">
      <SignedImage
        {...sourcesOf(run, index)}
        sizes={resultSizes(outputs.length)}
        alt={alt}
        width={width}
        height={height}
        eager
        onReload={() => void renew()}
      />
      <div className="flex min-w-0 flex-wrap items-center justify-between gap-x-2">
        <div className="flex items-center text-xs tabular-nums">
          <span className="mr-1 text-muted-foreground">Seed {seed}</span>
          <CopyButton text={String(seed)} label={`Copy seed ${seed}`} iconOnly />
          <Button
            variant="ghost"
            size="icon-sm"
            aria-label={`Use seed ${seed}`}
            title="Use this seed"
            onClick={() => lockSeed(seed)}
            icon={Lock}
          />
        </div>
        <ImageActions run={run} renew={renew} index={index} which={which} />
      </div>
    </li>
  );
}

interface ImageActionsProps extends ResultImageProps {
  /** `image 2`, for labels. */
  which: string;
}

function ImageActions({ run, renew, index, which }: ImageActionsProps) {
  return (
    <div className="flex items-center">
      <NewTabButton
        variant="ghost"
        size="icon-sm"
        href={run.outputs[index]}
        aria-label={`Open ${which} in full size, in a new tab`}
        title="Open full size"
        icon={ExternalLink}
      />
      <LinkButton
        variant="ghost"
        size="icon-sm"
        to={{ search: asReferenceSearch({ requestId: run.id, index }) }}
        aria-label={`Use ${which} as a reference`}
        title="Use as reference"
        icon={ImagePlus}
      />
      <DownloadButton
        variant="ghost"
        size="icon-sm"
        run={run}
        index={index}
        renew={renew}
        aria-label={`Download ${which}`}
        title="Download"
      />
    </div>
  );
}

function lockSeed(seed: number): void {
  formStore.change({ seed: String(seed) });
  toast(`Seed ${seed} is used for the next images.`);
}
