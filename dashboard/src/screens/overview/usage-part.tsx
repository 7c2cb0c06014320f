import { ImagePlus } from 'lucide-react';
import { useId, type ReactNode } from 'react';
import { Link } from 'react-router';
import { useUsage } from '@/api/queries.ts';
import type { LicenseAnswer, UsageAnswer } from '@/api/types.ts';
import { EmptyState } from '@/components/empty-state.tsx';
import { ErrorState } from '@/components/error-state.tsx';
import { Button } from '@/components/ui/button.tsx';
import { CardTitle } from '@/components/ui/card.tsx';
import { Breakdown } from './breakdown.tsx';
import { CreditsCard } from './credits-card.tsx';
import { DaysCard } from './days-card.tsx';
import { BreakdownSkeleton, TopSkeleton } from './skeletons.tsx';
import { identityRows, isUntouched, typeRows } from './share-rows.ts';
import { StaleNote } from './stale-note.tsx';

/**
 * Credits and statistics, with `children` between them. Fetched anew when the window is looked at again, though at
 * most once a minute (the query's staleTime): the service answers 30 of these a minute.
 */
export function UsagePart({ license, children }: { license: LicenseAnswer; children: ReactNode }) {
  const { data: usage, error, refetch, isFetching, dataUpdatedAt } = useUsage(license.licenseId);
  if (usage === undefined && error !== null) {
    return (
      <>
        <UsageFailure error={error} onRetry={() => void refetch()} retrying={isFetching} />
        {children}
      </>
    );
  }
  if (usage === undefined) {
    return (
      <>
        <TopSkeleton />
        {children}
        <BreakdownSkeleton />
      </>
    );
  }
  const untouched = isUntouched(usage);
  return (
    <>
      <div className="grid min-w-0 grid-cols-1 gap-6 lg:grid-cols-[minmax(0,5fr)_minmax(0,7fr)]">
        {error !== null && (
          <StaleNote
            what="These figures"
            error={error}
            updatedAtMs={dataUpdatedAt}
            className="lg:col-span-2"
          />
        )}
        <CreditsCard license={license} usage={usage} />
        {untouched ? <FirstSteps usable={license.usable} /> : <DaysCard usage={usage} />}
      </div>
      {children}
      {!untouched && <Breakdowns usage={usage} />}
    </>
  );
}

function UsageFailure(props: { error: Error; onRetry: () => void; retrying: boolean }) {
  const titleId = useId();
  return (
    <section aria-labelledby={titleId} className="grid min-w-0 grid-cols-1 gap-4">
      <CardTitle id={titleId}>Credits and usage</CardTitle>
      <ErrorState {...props} />
    </section>
  );
}

function Breakdowns({ usage: { aggregates } }: { usage: UsageAnswer }) {
  return (
    <div className="grid min-w-0 grid-cols-1 gap-6 lg:grid-cols-2">
      <Breakdown title="By identity" column="Identity" rows={identityRows(aggregates.byIdentity)} />
      <Breakdown title="By type" column="Type" rows={typeRows(aggregates.byType)} />
    </div>
  );
}

function FirstSteps({ usable }: { usable: boolean }) {
  const title = 'No requests in this period yet';
  if (!usable) {
    return (
      <EmptyState icon={ImagePlus} title={title} className="justify-center">
        This license generates nothing now. Images that it made before are in the history.
      </EmptyState>
    );
  }
  const links = (
    <div className="flex flex-wrap justify-center gap-2">
      <Button asChild>
        <Link to="/playground">Open the playground</Link>
      </Button>
      <Button asChild variant="outline">
        <Link to="/quickstart">Read the quickstart</Link>
      </Button>
    </div>
  );
  return (
    <EmptyState icon={ImagePlus} title={title} action={links} className="justify-center">
      Make an image in the playground, or call the API from your own code. Credits per day are shown here from
      the first image on.
    </EmptyState>
  );
}
