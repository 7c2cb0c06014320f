import { Image, Sparkles } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'react-router';
import type { IdentityAnswer } from '@/api/types.ts';
import { SignedImage } from '@/components/signed-image.tsx';
import { ThumbnailStrip } from '@/components/thumbnail-strip.tsx';
import { Button } from '@/components/ui/button.tsx';
import { playgroundAddress, sampleText } from './included.ts';

interface SampleViewerProps {
  identity: IdentityAnswer;
  /** Fetches new links, because links expire after an hour. */
  renew: () => void;
}

/** One sample large, all of them in a strip below. */
export function SampleViewer({ identity, renew }: SampleViewerProps) {
  const [shown, setShown] = useState(0);
  const { samples } = identity;
  if (samples.length === 0) return <NoSamples identity={identity} />;
  const index = Math.min(shown, samples.length - 1);
  const sample = samples[index]!;
  const text = sampleText(identity, index);
  return (
    <figure className="grid grid-cols-1 content-start gap-4">
      <div className="flex justify-center rounded-lg bg-muted sm:p-3">
        {/* Never higher than the window, so that the strip is seen too. */}
        <div
          className="max-w-full"
          style={{ width: `min(${sample.width}px, ${(70 * sample.width) / sample.height}dvh)` }}
        >
          <SignedImage
            key={index}
            eager
            src={sample.url}
            placeholder={sample.thumbnailUrl}
            alt={text}
            width={sample.width}
            height={sample.height}
            onReload={renew}
          />
        </div>
      </div>
      <figcaption className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <p dir="auto" className="min-w-0 text-pretty wrap-anywhere text-muted-foreground">
          {text}
        </p>
        {sample.prompt !== null && identity.available && (
          <Button asChild variant="outline" size="sm">
            <Link to={playgroundAddress(identity.id, sample.prompt)}>
              <Sparkles aria-hidden />
              Try this prompt
            </Link>
          </Button>
        )}
      </figcaption>
      {samples.length > 1 && <ThumbnailStrip {...stripOf(identity)} index={index} onShow={setShown} />}
    </figure>
  );
}

function stripOf(identity: IdentityAnswer) {
  const pictures = identity.samples.map(({ thumbnailUrl }, i) => ({
    src: thumbnailUrl,
    label: `Show sample ${i + 1}: ${sampleText(identity, i)}`,
  }));
  return { label: `Samples of ${identity.name}`, pictures };
}

function NoSamples({ identity }: Pick<SampleViewerProps, 'identity'>) {
  return (
    <div className="flex aspect-4/3 max-h-96 w-full flex-col items-center justify-center gap-1 rounded-lg bg-muted p-6 text-center">
      <Image aria-hidden strokeWidth={1.5} className="mb-3 size-8 text-muted-foreground" />
      <h2 className="text-base font-semibold">No samples yet</h2>
      <p className="max-w-xs text-pretty text-muted-foreground">
        {identity.available
          ? 'Make an image with it in the playground to see how it paints.'
          : 'Its pictures come with its model.'}
      </p>
    </div>
  );
}
