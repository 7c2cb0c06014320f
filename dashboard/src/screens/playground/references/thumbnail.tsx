import { FileX, ImageOff, Link2 } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { Size } from '../sizes.ts';
import type { Reference } from './reference.ts';

/** A file's picture. An address is not loaded by the page: only the service goes there. */
export function Thumbnail({ item, onSize }: { item: Reference; onSize: (size: Size) => void }) {
  const Icon = item.kind === 'url' ? Link2 : FileX;
  return (
    <div className="flex size-14 items-center justify-center overflow-hidden rounded-sm bg-secondary text-muted-foreground">
      {item.kind === 'file' ? (
        <Preview file={item.file} onSize={onSize} />
      ) : (
        <Icon aria-hidden className="size-5" />
      )}
    </div>
  );
}

/** The browser holds a file for as long as an object URL names it. */
function Preview({ file, onSize }: { file: File; onSize: (size: Size) => void }) {
  const [url, setUrl] = useState<string | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  if (failed) return <ImageOff aria-hidden className="size-5" />;
  if (url === null) return null;
  return (
    <img
      src={url}
      alt=""
      decoding="async"
      onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) =>
        onSize({ width, height })
      }
      onError={() => setFailed(true)}
      className="size-full object-cover"
    />
  );
}
