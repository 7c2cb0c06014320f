import { FolderDown, X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { StoredGeneration } from '@/api/types.ts';
import { Button } from '@/components/ui/button.tsx';
import { useZipDownload } from './use-zip-download.ts';

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
