import { ImagePlus } from 'lucide-react';
import { useId, useState, type ComponentProps, type ReactNode } from 'react';
import { useUsage } from '@/api/queries.ts';
import type { LicenseAnswer, UsageAnswer } from '@/lib/types.ts';
import { Loading, Skeleton } from '@/components/loading.tsx';
import { EmptyState, FirstImageLinks, QueryError, StaleNote } from '@/components/states.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Card, CardHeader, CardTitle } from '@/components/ui/card.tsx';
import { formatNumber } from '@/lib/format.ts';
import { CreditsCard } from './credits-card.tsx';
import { CsvCard } from './csv-card.tsx';
import { DaysCard } from './days-card.tsx';
import { identityRows, isUntouched, keyRows, shareText, typeRows, type ShareRow } from './share-rows.ts';

/**
 * Credits and statistics, with `children` between them. They are fetched again when the window gets the focus, at most
 * once a minute (`staleTime`): the service allows 30 requests a minute.
 */
export function UsageSection({ license, children }: { license: LicenseAnswer; children: ReactNode }) {
  const query = useUsage(license.licenseId);
  const { data: usage, error, dataUpdatedAt } = query;
  if (usage === undefined) {
    return (
      <>
        {error === null ? <TopSkeleton /> : <UsageFailure query={query} />}
        {children}
        {error === null && <BreakdownSkeleton />}
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
      {!untouched && <CsvCard usage={usage} />}
    </>
  );
}

function UsageFailure({ query }: ComponentProps<typeof QueryError>) {
  const titleId = useId();
  return (
    <section aria-labelledby={titleId} className="grid min-w-0 grid-cols-1 gap-4">
      <CardTitle id={titleId}>Credits and usage</CardTitle>
      <QueryError query={query} />
    </section>
  );
}

// The third card takes the whole second row, where there are two in a row.
const breakdownGrid =
  'grid min-w-0 grid-cols-1 gap-6 lg:grid-cols-2 lg:max-xl:[&>section:last-child]:col-span-2 xl:grid-cols-3';

function Breakdowns({ usage: { aggregates } }: { usage: UsageAnswer }) {
  return (
    <div className={breakdownGrid}>
      <Breakdown title="By identity" column="Identity" rows={identityRows(aggregates.byIdentity)} />
      <Breakdown title="By key" column="Key" rows={keyRows(aggregates.byKey)} />
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
  return (
    <EmptyState icon={ImagePlus} title={title} action={<FirstImageLinks />} className="justify-center">
      Make an image in the playground, or call the API from your own code. Credits per day are shown here from
      the first image on.
    </EmptyState>
  );
}

function TopSkeleton() {
  return (
    <Loading label="Loading your usage" className="gap-6 lg:grid-cols-[minmax(0,5fr)_minmax(0,7fr)]">
      <Card className="grid content-start gap-4">
        <Skeleton className="h-6 w-20" />
        <Skeleton className="h-8 w-56" />
        <Skeleton className="h-2 rounded-full" />
        <div className="mt-2 grid grid-cols-2 gap-x-4 gap-y-6">
          {[0, 1, 2, 3].map((index) => (
            <Skeleton key={index} className="h-20" />
          ))}
        </div>
      </Card>
      <Card className="flex flex-col gap-4">
        <Skeleton className="h-12 w-36" />
        <Skeleton className="min-h-56 flex-1" />
      </Card>
    </Loading>
  );
}

function BreakdownSkeleton() {
  return (
    <Loading label="Loading your usage by identity, key and type" className={breakdownGrid}>
      {['identity', 'key', 'type'].map((name) => (
        <Card key={name} className="grid gap-4">
          <Skeleton className="h-6 w-28" />
          {[0, 1, 2].map((index) => (
            <Skeleton key={index} className="h-8" />
          ))}
        </Card>
      ))}
    </Loading>
  );
}

const fewRows = 8;

interface BreakdownProps {
  title: string;
  column: string;
  rows: ShareRow[];
}

/** Requests and credits by identity, key or type, with bars for the share of the credits. */
function Breakdown({ title, column, rows }: BreakdownProps) {
  const [all, setAll] = useState(false);
  const titleId = useId();
  const used = rows.some(({ requests }) => requests > 0);
  const shown = all || rows.length <= fewRows + 1 ? rows : rows.slice(0, fewRows);
  return (
    <Card aria-labelledby={titleId}>
      <CardHeader className="mb-2">
        <CardTitle id={titleId}>{title}</CardTitle>
      </CardHeader>
      {used ? (
        <table aria-labelledby={titleId} className="w-full text-right">
          <Head column={column} />
          <tbody>
            {shown.map((row) => (
              <Row key={row.id} row={row} />
            ))}
          </tbody>
        </table>
      ) : (
        <p className="text-muted-foreground">No request was completed in this period yet.</p>
      )}
      {rows.length > fewRows + 1 && (
        <Button
          variant="ghost"
          size="sm"
          className="mt-2 -ml-3"
          aria-expanded={all}
          onClick={() => setAll(!all)}
        >
          {all ? 'Show fewer' : `Show all ${rows.length}`}
        </Button>
      )}
    </Card>
  );
}

function Head({ column }: { column: string }) {
  return (
    <thead>
      <tr className="text-xs text-muted-foreground">
        <th scope="col" className="w-full pb-1 text-left font-normal">
          {column}
        </th>
        {['Requests', 'Credits', 'Share'].map((name) => (
          <th key={name} scope="col" className="pb-1 pl-4 font-normal whitespace-nowrap">
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function Row({ row: { name, requests, credits, share } }: { row: ShareRow }) {
  const cell = 'py-2 pl-4 align-top whitespace-nowrap';
  return (
    <tr className="border-t border-border">
      <th scope="row" className="py-2 text-left font-normal">
        <span dir="auto" className="line-clamp-2 font-medium break-words">
          {name}
        </span>
        <span aria-hidden className="mt-1 block h-1 overflow-hidden rounded-full bg-secondary">
          <span className="block h-full rounded-full bg-primary" style={{ width: `${share * 100}%` }} />
        </span>
      </th>
      <td className={cell}>{formatNumber(requests)}</td>
      <td className={cell}>{formatNumber(credits)}</td>
      <td className={`${cell} text-muted-foreground`}>{shareText(share)}</td>
    </tr>
  );
}
