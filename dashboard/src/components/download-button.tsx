import { Download } from 'lucide-react';
import { useState } from 'react';
import { toast } from 'sonner';
import type { StoredGeneration } from '@/lib/types.ts';
import { fetchPicture, follow, saveFile } from '@/lib/download.ts';
import { outputFileName } from '@/lib/outputs.ts';
import { Button, type ButtonProps } from './ui/button.tsx';

interface DownloadButtonProps extends ButtonProps {
  run: StoredGeneration;
  index: number;
  renew: () => Promise<string[]>;
}

/**
 * Saves an image. A link to another origin can't have a file name, so the bytes are fetched. If that fails, the link is
 * opened in a new tab.
 */
export function DownloadButton({ run, index, renew, ...props }: DownloadButtonProps) {
  const { id, identity, seed, outputs } = run;
  const [pending, setPending] = useState(false);
  const save = async (): Promise<void> => {
    const request = { requestId: id, identityName: identity.name, seed };
    const fileName = outputFileName(request, index, outputs[index]!);
    setPending(true);
    const { blob, link } = await fetchPicture({ outputs, index, renew });
    setPending(false);
    if (blob !== null) return saveFile(blob, fileName);
    follow(link, { target: '_blank' });
    toast('The image was opened in a new tab. Save it from there.');
  };
  return <Button {...props} pending={pending} onClick={() => void save()} icon={Download} />;
}
