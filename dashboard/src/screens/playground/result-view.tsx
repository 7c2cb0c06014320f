import { Download, ExternalLink, History, Lock, RotateCcw } from 'lucide-react';
import { Link } from 'react-router';
import { toast } from 'sonner';
import { useApi } from '@/api/client.ts';
import { CopyButton } from '@/components/copy-button.tsx';
import { SignedImage } from '@/components/signed-image.tsx';
import { Button } from '@/components/ui/button.tsx';
import { cn } from '@/lib/cn.ts';
import { useImageDownload } from '@/lib/download.ts';
import { formatCount, formatCredits } from '@/lib/format.ts';
import { outputSeed } from '@/lib/outputs.ts';
import { fitToIdentities, fitToTier, fromBody } from './fill-form.ts';
import { imageSize, shortPrompt, timeTaken, type Result } from './results.ts';
import { frameStyle, gridColumns } from './sizes.ts';
import { formStore, referenceStore, runStore } from './stores.ts';
import type { Playground } from './use-playground.ts';

/** The images of one generation, as large as the window lets them be, and its details. */
export function ResultView({ result, playground }: { result: Result; playground: Playground }) {
  const { outputs, body } = result;
  return (
    <div
      className="mx-auto grid w-full min-w-0 grid-cols-1 gap-6"
      style={frameStyle(imageSize(body), outputs.length)}
    >
      <ul className={cn('grid gap-x-2 gap-y-4 sm:gap-x-4', gridColumns(outputs.length))}>
        {outputs.map((src, index) => (
          <ResultImage key={index} result={result} src={src} index={index} />
        ))}
      </ul>
      <Details result={result} playground={playground} />
    </div>
  );
}

function Details({ result, playground }: { result: Result; playground: Playground }) {
  const { body, identity, requestId, creditsCharged } = result;
  const { width, height } = imageSize(body);
  const details = [
    identity.name,
    `${width} × ${height}`,
    ...usedReferences(result),
    timeTaken(result),
    `${formatCredits(creditsCharged)} charged`,
  ];
  return (
    <div className="grid gap-4 border-t border-border pt-4">
      <div className="grid min-w-0 gap-1">
        <p className="line-clamp-3 text-pretty break-words">{body.prompt}</p>
        <ul className="flex flex-wrap gap-x-4 text-xs leading-5 text-muted-foreground tabular-nums">
          {details.map((detail) => (
            <li key={detail}>{detail}</li>
          ))}
        </ul>
      </div>
      <div className="flex flex-wrap gap-2">
        <Button variant="outline" size="sm" asChild>
          <Link to={`/history/${requestId}`}>
            <History aria-hidden />
            Open in history
          </Link>
        </Button>
        <Button variant="outline" size="sm" onClick={() => reuse(result, playground)}>
          <RotateCcw aria-hidden />
          Use these settings
        </Button>
      </div>
    </div>
  );
}

function usedReferences({ body, references }: Result): string[] {
  if (references.length === 0) return [];
  const exact = body.referenceMode === 'exact_product';
  return [formatCount(references.length, exact ? 'exact product image' : 'reference image')];
}

function reuse(result: Result, { license, identities, change, uploadTo }: Playground): void {
  const { body, seed, identity, references } = result;
  const tier = fitToTier(fromBody(body, seed), license);
  const { values, notes } = fitToIdentities(tier.values, identities, identity.name);
  change(values);
  const chosen = identities.find(({ id }) => id === values.identityId);
  if (chosen?.productPhotos) referenceStore.replace(references, uploadTo);
  toast('The form has these settings again, with their seed.', {
    description: [...notes, ...tier.notes].join(' ') || undefined,
  });
}

interface ResultImageProps {
  result: Result;
  src: string;
  index: number;
}

function ResultImage({ result, src, index }: ResultImageProps) {
  const api = useApi();
  const { body, requestId, outputs } = result;
  const seed = outputSeed(result.seed, index);
  const which = outputs.length > 1 ? `image ${index + 1}` : 'the image';
  const alt =
    outputs.length > 1
      ? `${shortPrompt(body.prompt)}, ${index + 1} of ${outputs.length}`
      : shortPrompt(body.prompt);
  const renew = (): void => void runStore.renewLinks(api, requestId).catch(() => {});
  return (
    <li className="grid min-w-0 content-start gap-1">
      <SignedImage src={src} alt={alt} {...imageSize(body)} eager onReload={renew} />
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
          >
            <Lock aria-hidden />
          </Button>
        </div>
        <div className="flex items-center">
          <Button variant="ghost" size="icon-sm" asChild>
            <a
              href={src}
              target="_blank"
              rel="noreferrer"
              aria-label={`Open ${which} in full size, in a new tab`}
              title="Open full size"
            >
              <ExternalLink aria-hidden />
            </a>
          </Button>
          <DownloadButton result={result} index={index} which={which} />
        </div>
      </div>
    </li>
  );
}

function lockSeed(seed: number): void {
  formStore.change({ seed: String(seed) });
  toast(`Seed ${seed} is used for the next images.`);
}

function DownloadButton({ result, index, which }: { result: Result; index: number; which: string }) {
  const api = useApi();
  const { pending, save } = useImageDownload({
    request: result,
    index,
    renew: () => runStore.renewLinks(api, result.requestId),
  });
  return (
    <Button
      variant="ghost"
      size="icon-sm"
      aria-label={`Download ${which}`}
      title="Download"
      pending={pending}
      onClick={save}
      className="[&_.animate-spin+svg]:hidden"
    >
      <Download aria-hidden />
    </Button>
  );
}
