import { useState } from 'react';
import type { IdentityAnswer } from '@/lib/types.ts';
import { cn } from '@/lib/cn.ts';

interface IdentityPictureProps {
  identity: Pick<IdentityAnswer, 'name' | 'samples'>;
  className?: string;
  /** For those that are seen first. */
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
