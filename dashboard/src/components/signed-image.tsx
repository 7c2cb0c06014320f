import { ImageOff } from 'lucide-react';
import { useState } from 'react';
import { cn } from '@/lib/cn.ts';
import { Button } from './ui/button.tsx';

interface SignedImageProps {
  src: string;
  /** The prompt, mostly. */
  alt: string;
  /** The image's own size in pixels, so that its place is free before it is loaded. */
  width: number;
  height: number;
  /** Fetches a new link, because links expire after an hour. Leave it out inside of links: there must be no button. */
  onReload?: (() => void) | undefined;
  /** For the one image that a screen is about. */
  eager?: boolean;
  className?: string;
}

export function SignedImage({
  src,
  alt,
  width,
  height,
  onReload,
  eager = false,
  className,
}: SignedImageProps) {
  // Kept by link and not by remounting, so that a new link for the same image does not blink.
  const [failedSrc, setFailedSrc] = useState<string | null>(null);
  const frame = cn('block w-full overflow-hidden rounded-md bg-secondary', className);
  const style = { aspectRatio: `${width} / ${height}` };
  if (failedSrc !== src) {
    return (
      <img
        src={src}
        alt={alt}
        width={width}
        height={height}
        loading={eager ? 'eager' : 'lazy'}
        decoding="async"
        referrerPolicy="no-referrer"
        onError={() => setFailedSrc(src)}
        className={cn(frame, 'h-auto object-cover')}
        style={style}
      />
    );
  }
  const reload =
    onReload &&
    (() => {
      setFailedSrc(null);
      onReload();
    });
  return (
    <div
      className={cn(frame, 'flex flex-col items-center justify-center gap-2 p-2 text-center')}
      style={style}
    >
      <ImageOff aria-hidden strokeWidth={1.5} className="size-6 text-muted-foreground" />
      <p className="text-xs text-muted-foreground">The image could not be loaded.</p>
      <span className="sr-only">{alt}</span>
      {reload && (
        <Button variant="outline" size="sm" onClick={reload}>
          Reload link
        </Button>
      )}
    </div>
  );
}
