import { ImageOff } from 'lucide-react';
import { useState } from 'react';
import { cn } from '@/lib/cn.ts';
import { Button } from './ui/button.tsx';

interface SignedImageProps {
  src: string;
  /** The prompt, mostly. */
  alt: string;
  /** Pixels of the image itself: its place is kept before it is loaded. */
  width: number;
  height: number;
  /** Fetches a new link; links are good for an hour. Without it there is no button (inside links, for instance). */
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
  // By its link, not by a remount: a new link for the same image must not blink.
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
