import type { LicenseAnswer } from '@/lib/types.ts';
import { Badge } from '@/components/ui/badge.tsx';
import { cn } from '@/lib/cn.ts';
import { shortId } from '@/lib/format.ts';

/** Why a license can't generate, now or soon. Renders nothing for a license that can. */
export function LicenseBadge({ license }: { license: LicenseAnswer }) {
  const problem = licenseProblem(license);
  if (problem === null) return null;
  return <Badge variant={license.status === 'past_due' ? 'warning' : 'default'}>{problem}</Badge>;
}

export function licenseProblem({ status, usable, apiAccess }: LicenseAnswer): string | null {
  if (status === 'past_due') return 'Past due';
  if (status === 'ended') return 'Ended';
  if (usable) return null;
  return apiAccess ? 'Ended' : 'No API access';
}

/** For good: it is not only suspended, and neither without API access only. */
export function isEnded(license: LicenseAnswer): boolean {
  return licenseProblem(license) === 'Ended';
}

/** A license's name, its problem if it has one, and, where there is room, its tier, or the end of its id. */
export function LicenseName({ license, compact = false }: { license: LicenseAnswer; compact?: boolean }) {
  return (
    <span className="flex min-w-0 flex-1 items-center gap-2">
      <span className={cn('min-w-0', compact ? 'flex' : 'grid leading-4')}>
        <bdi title={license.name} className="truncate font-medium">
          {license.name}
        </bdi>
        {!compact && (
          <span className="truncate text-xs font-normal text-muted-foreground">
            {license.name === license.tier ? shortId(license.licenseId) : license.tier}
          </span>
        )}
      </span>
      <span className={cn('shrink-0', !compact && 'ml-auto')}>
        <LicenseBadge license={license} />
      </span>
    </span>
  );
}
