import { ChevronsUpDown } from 'lucide-react';
import { lazyMenu } from '@/components/lazy-menu.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Skeleton } from '@/components/loading.tsx';
import { cn } from '@/lib/cn.ts';
import { useLicenseChoice } from './license-choice.ts';
import { LicenseName } from './license-badge.tsx';

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
