import type { LicenseAnswer } from '@/api/types.ts';
import { cn } from '@/lib/cn.ts';
import { shortId } from '@/lib/format.ts';
import { LicenseBadge } from './license-badge.tsx';

/** A license as people tell it from others: its tier, the end of its id, and what is wrong with it. */
export function LicenseName({ license, compact = false }: { license: LicenseAnswer; compact?: boolean }) {
  return (
    <span className="flex min-w-0 flex-1 items-center gap-2">
      <span className={cn('min-w-0', compact ? 'flex items-baseline gap-2' : 'grid leading-4')}>
        <span className="truncate font-medium">{license.tier}</span>
        <span className="truncate text-xs font-normal text-muted-foreground">
          {shortId(license.licenseId)}
        </span>
      </span>
      <span className={compact ? '' : 'ml-auto'}>
        <LicenseBadge license={license} />
      </span>
    </span>
  );
}
