import { cn } from '@/lib/cn.ts';
import { ReferenceLink } from './reference-link.tsx';

/** A code of an error, as a link to what the reference says of it. */
export function ErrorCode({ code, className }: { code: string; className?: string }) {
  return (
    <ReferenceLink
      at={`description/${code.toLowerCase().replaceAll('_', '-')}`}
      className={cn('font-medium underline underline-offset-4 wrap-anywhere hover:decoration-2', className)}
    >
      {code}
    </ReferenceLink>
  );
}
