import { useEffect, useId } from 'react';
import { Link } from 'react-router';
import { isFinal, useGeneration, useGenerations, useRefreshAfterGeneration } from '@/api/queries.ts';
import type { StoredGeneration } from '@/api/types.ts';
import { StatusBadge } from '@/components/status-badge.tsx';
import { Time } from '@/components/time.tsx';
import { CardTitle } from '@/components/ui/card.tsx';
import { formatRelative } from '@/lib/format.ts';
import { useNow } from '@/lib/use-now.ts';

/** The license's newest requests that wait or are being made. Renders nothing while there is none. */
export function OpenRequests({ licenseId }: { licenseId: string }) {
  // The same list as the history's. Its requests are followed one by one.
  const { data } = useGenerations(licenseId);
  const open = data?.filter(({ status }) => !isFinal(status)) ?? [];
  const titleId = useId();
  if (open.length === 0) return null;
  return (
    <section aria-labelledby={titleId} className="grid min-w-0 grid-cols-1 gap-2">
      <CardTitle id={titleId}>In progress</CardTitle>
      <ul className="divide-y divide-border rounded-lg border border-border bg-card">
        {open.map((generation) => (
          <li key={generation.id}>
            <OpenRequest listed={generation} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function OpenRequest({ listed }: { listed: StoredGeneration }) {
  const { data = listed } = useGeneration(listed.id);
  const refresh = useRefreshAfterGeneration();
  const nowMs = useNow();
  const { id, licenseId, status, prompt, identity, createdAt } = data;
  const hasEnded = isFinal(status);
  useEffect(() => {
    // It leaves this list, and its images and credits are shown.
    if (hasEnded) void refresh(licenseId);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- `refresh` is another function each time.
  }, [hasEnded, licenseId]);
  return (
    <Link
      to={`/history/${encodeURIComponent(id)}`}
      className="group grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-3 px-4 py-2 sm:grid-cols-[8rem_minmax(0,1fr)_auto]"
    >
      <StatusBadge status={status} className="w-fit" />
      <span dir="auto" className="truncate group-hover:underline">
        {prompt}
      </span>
      <span className="col-start-2 text-xs leading-5 text-muted-foreground sm:col-start-auto">
        <bdi>{identity.name}</bdi>,{' '}
        <Time iso={createdAt}>{formatRelative(createdAt, 'happened', nowMs)}</Time>
      </span>
    </Link>
  );
}
