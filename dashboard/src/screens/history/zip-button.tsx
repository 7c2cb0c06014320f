import { FolderDown, X } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { toast } from 'sonner';
import type { StoredGeneration } from '@/lib/types.ts';
import { Button } from '@/components/ui/button.tsx';
import { useApi } from '@/api/client.ts';
import { generationOptions } from '@/api/queries.ts';
import { formatCount } from '@/lib/format.ts';
import { chooseZipFile } from '@/lib/download.ts';

interface ZipButtonProps {
  requests: readonly StoredGeneration[];
  label: ReactNode;
  className?: string;
}

/** Saves the images of requests as one ZIP. While it does, it stops that. */
export function ZipButton({ requests, label, className }: ZipButtonProps) {
  const { progress, start, stop } = useZipDownload();
  const hasImages = requests.some(({ outputs }) => outputs.length > 0);
  return (
    // One button for both, so that the focus stays.
    <Button
      variant="outline"
      disabled={progress === null && !hasImages}
      onClick={() => (progress === null ? start(requests) : stop())}
      className={className}
    >
      {progress === null ? <FolderDown aria-hidden /> : <X aria-hidden />}
      {progress === null ? (
        label
      ) : (
        <span className="tabular-nums">
          Stop<span className="sr-only"> the download</span> ({progress.done}/{progress.total})
        </span>
      )}
    </Button>
  );
}

interface ZipDownload {
  /** Null while none is made. */
  progress: { done: number; total: number } | null;
  start: (requests: readonly StoredGeneration[]) => void;
  stop: () => void;
}

/** Saves the images of requests as one ZIP. It is stopped when the page is left. */
function useZipDownload(): ZipDownload {
  const api = useApi();
  const queries = useQueryClient();
  const [progress, setProgress] = useState<ZipDownload['progress']>(null);
  const stopping = useRef(new AbortController());
  useEffect(() => () => stopping.current.abort(), []);
  const renew = (id: string): Promise<StoredGeneration> =>
    queries.query({ ...generationOptions(api, queries, id), staleTime: 0 });

  const save = async (requests: readonly StoredGeneration[]): Promise<void> => {
    const total = requests.reduce((sum, { outputs }) => sum + outputs.length, 0);
    const fileName = zipFileName(requests);
    const target = await chooseZipFile(fileName);
    if (target === null) return;
    const { signal } = (stopping.current = new AbortController());
    let done = 0;
    setProgress({ done, total });
    const onImage = (): void => setProgress({ done: ++done, total });
    try {
      const { archiveImages } = await import('@/lib/image-archive.ts');
      const { maxBytes } = target;
      const { stream, missing } = archiveImages({ requests, renew, maxBytes, onImage, signal });
      await target.write(stream);
      tellEnd(total, missing);
    } catch {
      if (!signal.aborted) toast.error('The ZIP could not be saved. Try again, or select fewer requests.');
    } finally {
      setProgress(null);
    }
  };
  return { progress, start: (requests) => void save(requests), stop: () => stopping.current.abort() };
}

/** `images-9c8f2b1d.zip` for one request, `images-2026-11-24.zip` for several. */
function zipFileName(requests: readonly StoredGeneration[]): string {
  const [only] = requests;
  if (requests.length === 1 && only !== undefined) return `images-${only.id.slice(-8)}.zip`;
  return `images-${new Date().toISOString().slice(0, 10)}.zip`;
}

const namedMissing = 3;

function tellEnd(total: number, missing: readonly string[]): void {
  const saved = total - missing.length;
  if (missing.length === 0) {
    toast.success(`The ZIP has ${formatCount(saved, 'image')}.`);
    return;
  }
  const named = missing.slice(0, namedMissing).join('. ');
  const more = missing.length > namedMissing ? ` And ${missing.length - namedMissing} more.` : '.';
  toast.warning(`The ZIP has ${saved} of ${formatCount(total, 'image')}.`, {
    description: `${named}${more} The file missing.txt in it names all that are missing.`,
    duration: 20_000,
  });
}
