import { ImageOff } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { cn } from '@/lib/cn.ts';
import { viewerWidth } from '@/lib/outputs.ts';
import { Button } from './ui/button.tsx';

interface SignedImageProps {
  src: string;
  /** Links by width, and how wide the image is shown, where the browser may choose. */
  srcSet?: string | undefined;
  sizes?: string | undefined;
  /** Shown until the image is there. */
  placeholder?: string | undefined;
  /** The prompt, mostly. */
  alt: string;
  /** The image's own size in pixels, so that its place is free before it is loaded. */
  width: number;
  height: number;
  /** Fetches a new link, because links expire after an hour. Leave it out inside of links: there must be no button. */
  onReload?: (() => void) | undefined;
  /** For images that a screen is about, or that are seen first. */
  eager?: boolean;
  className?: string;
}

export function SignedImage(props: SignedImageProps) {
  const { src, srcSet, sizes, placeholder, alt, width, height, onReload, eager = false, className } = props;
  // Kept by link and not by remounting, so that a new link for the same image does not blink.
  const [failedSrc, setFailedSrc] = useState<string | null>(null);
  const frame = cn('block w-full overflow-hidden rounded-md bg-secondary', className);
  const style = { aspectRatio: `${width} / ${height}` };
  if (failedSrc !== src) {
    return (
      <img
        src={src}
        srcSet={srcSet}
        sizes={sizes}
        alt={alt}
        width={width}
        height={height}
        loading={eager ? 'eager' : 'lazy'}
        fetchPriority={eager ? 'high' : 'auto'}
        decoding="async"
        referrerPolicy="no-referrer"
        onError={() => setFailedSrc(src)}
        className={cn(frame, 'h-auto object-cover')}
        style={{ ...style, ...(placeholder && { background: `center / cover url("${placeholder}")` }) }}
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
      <Missing alt={alt} reload={reload} />
    </div>
  );
}

interface LargeImageProps extends SignedImageProps {
  /** Of the ground around the image. */
  ground: string;
  /** Above the image. */
  children?: ReactNode;
}

/** An image that a page is about, as large as it can be seen whole. */
export function LargeImage({ ground, children, ...image }: LargeImageProps) {
  return (
    <div className={cn('flex justify-center rounded-lg bg-muted', ground)}>
      <div className="max-w-full" style={{ width: viewerWidth(image) }}>
        <SignedImage eager {...image} />
      </div>
      {children}
    </div>
  );
}

function Missing({ alt, reload }: { alt: string; reload: (() => void) | undefined }) {
  return (
    <>
      <ImageOff aria-hidden strokeWidth={1.5} className="size-6 text-muted-foreground" />
      <p className="text-xs text-muted-foreground">The image could not be loaded.</p>
      <span className="sr-only">{alt}</span>
      {reload && (
        <Button variant="outline" size="sm" onClick={reload}>
          Reload link
        </Button>
      )}
    </>
  );
}
