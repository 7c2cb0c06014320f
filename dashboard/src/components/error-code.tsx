import { cn } from '@/lib/cn.ts';
import { ReferenceLink } from '@/layout/reference-link.tsx';
import { errorAdvice } from '../../../shared/openapi/error-advice.ts';

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

/** What to change. A newer service may have codes that this page does not know. */
export function ErrorAdvice({ code }: { code: string | null }) {
  const advice = (errorAdvice as Record<string, string | undefined>)[code ?? ''];
  return advice && <p className="text-pretty text-muted-foreground">{advice}</p>;
}
