import { Download, ExternalLink } from 'lucide-react';
import { useState } from 'react';
import { toast } from 'sonner';
import type { StoredGeneration } from '@/api/types.ts';
import { CopyButton } from '@/components/copy-button.tsx';
import { SignedImage } from '@/components/signed-image.tsx';
import { Button } from '@/components/ui/button.tsx';
import { cn } from '@/lib/cn.ts';
import { downloadImage } from '@/lib/download.ts';
import { outputFileName, outputSeed } from '@/lib/outputs.ts';
import { stageWidth } from './request-view.ts';

interface OutputViewerProps {
  generation: StoredGeneration;
  renew: () => Promise<StoredGeneration>;
}

/** One image large, the others of the request in a strip below. */
export function OutputViewer({ generation, renew }: OutputViewerProps) {
  const [shown, setShown] = useState(0);
  const { outputs, prompt, width, height } = generation;
  const index = Math.min(shown, outputs.length - 1);
  const url = outputs[index]!;
  const which = outputs.length > 1 ? `, image ${index + 1} of ${outputs.length}` : '';
  return (
    <figure className="grid gap-4">
      <div className="relative flex justify-center overflow-hidden rounded-lg bg-muted [&_button]:relative [&_button]:z-10">
        <div className="max-w-full" style={{ width: stageWidth(generation) }}>
          <SignedImage
            eager
            src={url}
            alt={`${prompt}${which}`}
            width={width}
            height={height}
            onReload={() => void renew()}
            className="rounded-none"
          />
        </div>
        {/* For the pointer; the button below does the same for everybody. */}
        <a
          href={url}
          target="_blank"
          rel="noopener noreferrer"
          aria-hidden
          tabIndex={-1}
          className="absolute inset-0 cursor-zoom-in"
        />
      </div>
      <figcaption>
        <OutputBar generation={generation} index={index} renew={renew} />
      </figcaption>
      {outputs.length > 1 && <Strip generation={generation} index={index} onShow={setShown} />}
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
        <span className="text-muted-foreground">Seed {ownSeed}</span>
        <CopyButton key={ownSeed} text={String(ownSeed)} label="Copy the image's seed" iconOnly />
      </p>
      <div className="flex flex-wrap gap-2">
        <DownloadButton generation={generation} index={index} renew={renew} />
        <Button asChild variant="outline">
          <a href={outputs[index]} target="_blank" rel="noopener noreferrer">
            <ExternalLink aria-hidden />
            Full size
            <span className="sr-only">, opens a new tab</span>
          </a>
        </Button>
      </div>
    </div>
  );
}

function DownloadButton({ generation, index, renew }: OutputViewerProps & { index: number }) {
  const [pending, setPending] = useState(false);
  const { id: requestId, identity, seed } = generation;
  const download = async (): Promise<void> => {
    setPending(true);
    const url = generation.outputs[index]!;
    const outcome = await downloadImage({
      url,
      fileName: outputFileName({ requestId, identityName: identity.name, seed }, index, url),
      renew: async () => (await renew()).outputs[index] ?? null,
    });
    setPending(false);
    if (outcome === 'opened') toast('The image was opened in a new tab. Save it from there.');
  };
  return (
    <Button variant="outline" pending={pending} onClick={() => void download()}>
      {!pending && <Download aria-hidden />}
      Download
    </Button>
  );
}

interface StripProps {
  generation: StoredGeneration;
  index: number;
  onShow: (index: number) => void;
}

function Strip({ generation, index, onShow }: StripProps) {
  const { outputs, seed } = generation;
  return (
    <ul role="list" aria-label="Images of this request" className="grid max-w-md grid-cols-4 gap-3 p-1">
      {outputs.map((url, i) => (
        <li key={i}>
          <button
            type="button"
            aria-pressed={i === index}
            aria-label={`Show image ${i + 1}, seed ${outputSeed(seed, i)}`}
            onClick={() => onShow(i)}
            className={cn(
              'block aspect-square w-full overflow-hidden rounded-md bg-secondary ring-offset-2 ring-offset-background',
              i === index ? 'ring-2 ring-foreground' : 'hover:ring-1 hover:ring-input',
            )}
          >
            {/* Without words of its own if it can't be loaded: the large image says so. */}
            <img src={url} alt="" referrerPolicy="no-referrer" className="size-full object-cover" />
          </button>
        </li>
      ))}
    </ul>
  );
}
