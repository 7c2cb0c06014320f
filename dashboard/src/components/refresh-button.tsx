import { useQueryClient } from '@tanstack/react-query';
import { RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { cn } from '@/lib/cn.ts';
import { Button } from './ui/button.tsx';

interface RefreshButtonProps {
  licenseId: string;
  /** Whether phones get its icon only. */
  compact?: boolean;
}

/** Fetches what the screen shows of a license once more. */
export function RefreshButton({ licenseId, compact = false }: RefreshButtonProps) {
  const queries = useQueryClient();
  const [pending, setPending] = useState(false);
  const [outcome, setOutcome] = useState('');
  const refresh = async (): Promise<void> => {
    setPending(true);
    setOutcome('');
    const keys = [['usage', licenseId], ['generations', licenseId], ['refused', licenseId], ['licenses']];
    const shown = keys.map((queryKey) => ({ queryKey, type: 'active' as const }));
    await Promise.all(shown.map((filter) => queries.refetchQueries(filter)));
    const all = shown.flatMap((filter) => queries.getQueryCache().findAll(filter));
    // A part that failed shows its own error.
    setOutcome(all.some(({ state }) => state.status === 'error') ? '' : 'This page is up to date.');
    setPending(false);
  };
  return (
    <>
      <span role="status" className="sr-only">
        {outcome}
      </span>
      <Button
        variant="outline"
        pending={pending}
        onClick={() => void refresh()}
        className={cn(compact && 'max-sm:size-10 max-sm:px-0')}
        icon={RefreshCw}
      >
        <span className={cn(compact && 'max-sm:sr-only')}>Refresh</span>
      </Button>
    </>
  );
}
