import { ImageOff } from 'lucide-react';
import { useState, type ReactNode, useRef, type KeyboardEvent } from 'react';
import { cn } from '@/lib/cn.ts';
import { viewerWidth } from '@/lib/outputs.ts';
import type { IdentityAnswer } from '@/lib/types.ts';
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

interface ThumbnailStripProps {
  label: string;
  /** `label` is what the button of a picture does. */
  pictures: readonly { src: string; label: string }[];
  /** Of the picture that is shown large. */
  index: number;
  onShow: (index: number) => void;
}

const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };

/** Pictures in small, to choose the one that is shown large. The arrow keys go from one to the next. */
export function ThumbnailStrip({ label, pictures, index, onShow }: ThumbnailStripProps) {
  const list = useRef<HTMLUListElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (index + step + pictures.length) % pictures.length;
    onShow(next);
    list.current?.querySelectorAll('button')[next]?.focus();
  };
  return (
    <ul ref={list} role="list" aria-label={label} className="grid max-w-md grid-cols-4 gap-3 p-1">
      {pictures.map((picture, i) => (
        <li key={i}>
          <button
            type="button"
            aria-pressed={i === index}
            aria-label={picture.label}
            onClick={() => onShow(i)}
            onKeyDown={onKeyDown}
            className={cn(
              'block aspect-square w-full overflow-hidden rounded-md bg-secondary ring-offset-2 ring-offset-background',
              i === index ? 'ring-2 ring-foreground' : 'hover:ring-1 hover:ring-input',
            )}
          >
            {/* No alternative text: the button says what it is. */}
            <img src={picture.src} alt="" referrerPolicy="no-referrer" className="size-full object-cover" />
          </button>
        </li>
      ))}
    </ul>
  );
}

interface IdentityPictureProps {
  identity: Pick<IdentityAnswer, 'name' | 'samples'>;
  className?: string;
  eager?: boolean;
}

/** The first sample of an identity in small, beside its name. Without one, or where it can't be loaded, the name's first letter. */
export function IdentityPicture({ identity, className, eager = false }: IdentityPictureProps) {
  const src = identity.samples[0]?.thumbnailUrl;
  const [failedSrc, setFailedSrc] = useState<string | null>(null);
  const frame = cn('block shrink-0 overflow-hidden bg-secondary', className);
  if (src === undefined || src === failedSrc) {
    return (
      <span
        aria-hidden
        className={cn(frame, '@container flex items-center justify-center text-muted-foreground')}
      >
        {/* Not text: no name of a control around it has this letter. */}
        <span
          data-initial={Array.from(identity.name)[0]}
          className="text-[max(1rem,16cqw)] leading-none font-medium uppercase before:content-[attr(data-initial)]"
        />
      </span>
    );
  }
  return (
    <img
      src={src}
      alt=""
      loading={eager ? 'eager' : 'lazy'}
      decoding="async"
      referrerPolicy="no-referrer"
      onError={() => setFailedSrc(src)}
      className={cn(frame, 'object-cover')}
    />
  );
}
