import { Download, ExternalLink, Lock } from 'lucide-react';
import { useState } from 'react';
import { toast } from 'sonner';
import { useApi } from '@/api/api-context.ts';
import type { Api } from '@/api/client.ts';
import { CopyButton } from '@/components/copy-button.tsx';
import { SignedImage } from '@/components/signed-image.tsx';
import { Button } from '@/components/ui/button.tsx';
import { downloadImage } from '@/lib/download.ts';
import { outputFileName, outputSeed } from '@/lib/outputs.ts';
import { imageSize, shortPrompt, type Result } from './results.ts';
import { formStore, runStore } from './stores.ts';

interface ResultImageProps {
  result: Result;
  src: string;
  index: number;
}

export function ResultImage({ result, src, index }: ResultImageProps) {
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
          <DownloadButton api={api} result={result} index={index} which={which} />
        </div>
      </div>
    </li>
  );
}

function lockSeed(seed: number): void {
  formStore.change({ seed: String(seed) });
  toast(`Seed ${seed} is used for the next images.`);
}

interface DownloadButtonProps {
  api: Api;
  result: Result;
  index: number;
  which: string;
}

function DownloadButton({ api, result, index, which }: DownloadButtonProps) {
  const [pending, setPending] = useState(false);
  const { outputs, requestId, identity, seed } = result;
  const download = async (): Promise<void> => {
    setPending(true);
    const url = outputs[index]!;
    const outcome = await downloadImage({
      url,
      fileName: outputFileName({ requestId, identityName: identity.name, seed }, index, url),
      renew: async () => (await runStore.renewLinks(api, requestId))[index] ?? null,
    });
    setPending(false);
    if (outcome === 'opened') toast('The image was opened in a new tab. Save it from there.');
  };
  return (
    <Button
      variant="ghost"
      size="icon-sm"
      aria-label={`Download ${which}`}
      title="Download"
      pending={pending}
      onClick={() => void download()}
      className="[&_.animate-spin+svg]:hidden"
    >
      <Download aria-hidden />
    </Button>
  );
}
