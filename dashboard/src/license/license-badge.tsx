import { ChevronsUpDown } from 'lucide-react';
import type { LicenseAnswer } from '@/lib/types.ts';
import { Badge } from '@/components/ui/card.tsx';
import { cn } from '@/lib/cn.ts';
import { shortId } from '@/lib/format.ts';
import { lazyMenu } from '@/components/lazy-menu.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Skeleton } from '@/components/loading.tsx';
import { useLicenseChoice } from './license-choice.ts';
import { problemOf, type LicenseProblem } from './license-message.ts';

/** Why a license can't generate, now or soon. Renders nothing for a license that can. */
export function LicenseBadge({ license }: { license: LicenseAnswer }) {
  const problem = licenseProblem(license);
  if (problem === null) return null;
  return <Badge variant={license.status === 'past_due' ? 'warning' : 'default'}>{problem}</Badge>;
}

const labels: Record<LicenseProblem, string> = {
  ended: 'Ended',
  suspended: 'Suspended',
  past_due: 'Past due',
  no_api_access: 'No API access',
};

export function licenseProblem(license: LicenseAnswer): string | null {
  const problem = problemOf(license);
  return problem && labels[problem];
}

/** For good: it is not only suspended, and neither without API access only. */
export function isEnded(license: LicenseAnswer): boolean {
  return problemOf(license) === 'ended';
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

const Dropdown = lazyMenu(() => import('./license-dropdown.tsx'));

/** Chooses the license for all screens. Of an account with one license it shows the name only. */
export function LicenseSwitcher({ compact = false }: { compact?: boolean }) {
  const { license, licenses, query } = useLicenseChoice();
  const size = compact ? 'h-10 w-fit max-w-full' : 'h-12 w-full';
  if (query.isPending) return <Skeleton className={cn(size, compact && 'w-32')} />;
  if (license === null) return null;
  if (licenses.length === 1) {
    return (
      <div className={cn('flex items-center px-2 text-sm', size)}>
        <LicenseName license={license} compact={compact} />
      </div>
    );
  }
  const button = (
    <Button variant="outline" className={cn('justify-between px-2 text-left', size)}>
      <span className="sr-only">License</span>
      <LicenseName license={license} compact={compact} />
      <ChevronsUpDown aria-hidden className="text-muted-foreground" />
    </Button>
  );
  return <Dropdown trigger={button} />;
}
