import { ArrowLeftRight, Columns2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useSearchParams } from 'react-router';
import { useGeneration } from '@/api/queries.ts';
import type { StoredGeneration } from '@/lib/types.ts';
import { EmptyState } from '@/components/states.tsx';
import { Button, LinkButton } from '@/components/ui/button.tsx';
import { SwitchField } from '@/components/ui/switch.tsx';
import { BackLink, Page } from '@/layout/page.tsx';
import { Badge } from '@/components/ui/badge.tsx';
import { Card, CardHeader, CardTitle } from '@/components/ui/card.tsx';
import { cn } from '@/lib/cn.ts';
import { formatCount } from '@/lib/format.ts';
import { comparedSearch, readCompared, type Compared, compareRequests, type Row } from './compared.ts';
import { Side } from './side.tsx';

/** Two stored requests side by side: `?a=` and `?b=` are their ids. */
export default function CompareScreen() {
  const [parameters] = useSearchParams();
  const compared = readCompared(parameters);
  return (
    <>
      <BackLink to="/history">History</BackLink>
      {compared === null ? (
        <Page wide title="Compare">
          <EmptyState
            icon={Columns2}
            title="Two requests are needed"
            action={
              <LinkButton variant="outline" to="/history">
                Choose them in your history
              </LinkButton>
            }
          >
            This address does not name both requests that it compares.
          </EmptyState>
        </Page>
      ) : (
        <Comparison {...compared} />
      )}
    </>
  );
}

function Comparison({ a, b }: { a: Compared; b: Compared }) {
  const [, setParameters] = useSearchParams();
  const [isFullSize, setFullSize] = useState(false);
  const ofA = useGeneration(a.requestId);
  const ofB = useGeneration(b.requestId);
  const show = (now: { a: Compared; b: Compared }): void =>
    setParameters(comparedSearch(now), { replace: true, preventScrollReset: true });
  const sides = { isFullSize };
  return (
    <Page
      wide
      title="Compare"
      description="Two requests and what is different between them."
      actions={
        <>
          <SwitchField label="Full size" checked={isFullSize} onChange={setFullSize} />
          <Button variant="outline" onClick={() => show({ a: b, b: a })} icon={ArrowLeftRight}>
            Swap
          </Button>
        </>
      }
    >
      <div className="grid grid-cols-1 gap-8">
        <div className="grid grid-cols-1 items-start gap-8 sm:grid-cols-2 sm:gap-6">
          <Side
            {...sides}
            name="A"
            index={a.index}
            query={ofA}
            onShow={(index) => show({ a: { ...a, index }, b })}
          />
          <Side
            {...sides}
            name="B"
            index={b.index}
            query={ofB}
            onShow={(index) => show({ a, b: { ...b, index } })}
          />
        </div>
        {ofA.data !== undefined && ofB.data !== undefined && (
          <Differences a={{ ...a, generation: ofA.data }} b={{ ...b, generation: ofB.data }} />
        )}
      </div>
    </Page>
  );
}

type Loaded = Compared & { generation: StoredGeneration };

function Differences({ a, b }: { a: Loaded; b: Loaded }) {
  const [isShort, setShort] = useState(false);
  return (
    <CompareTable
      a={a}
      b={b}
      onlyDifferences={isShort}
      control={<SwitchField label="Only differences" checked={isShort} onChange={setShort} />}
    />
  );
}

interface Shown {
  generation: StoredGeneration;
  index: number;
}

interface CompareTableProps {
  a: Shown;
  b: Shown;
  onlyDifferences: boolean;
  /** The switch that asks for them. */
  control: ReactNode;
}

// On phones the name of a parameter stands above its two values.
const line = 'grid grid-cols-2 gap-x-4 gap-y-1 sm:grid-cols-[13.5rem_minmax(0,1fr)_minmax(0,1fr)] sm:gap-x-6';

/** The parameters of both, and which are different. */
function CompareTable({ a, b, onlyDifferences, control }: CompareTableProps) {
  const rows = compareRequests(a, b);
  const different = rows.filter(({ isDifferent }) => isDifferent);
  const shown = onlyDifferences ? different : rows;
  return (
    <Card>
      <CardHeader>
        <div className="grid gap-1">
          <CardTitle>Parameters</CardTitle>
          <p role="status" className="text-muted-foreground">
            {summary(different.length)}
          </p>
        </div>
        {control}
      </CardHeader>
      {/* The roles are said again: a browser may drop those of a table that is laid out as a grid. */}
      {shown.length > 0 && (
        <table role="table" aria-label="Parameters of both requests" className="grid text-left">
          <thead role="rowgroup" className="grid">
            <tr role="row" className={cn(line, 'pb-2 text-xs text-muted-foreground')}>
              <th role="columnheader" scope="col" className="font-medium max-sm:sr-only">
                Parameter
              </th>
              <th role="columnheader" scope="col" className="font-medium">
                A
              </th>
              <th role="columnheader" scope="col" className="font-medium">
                B
              </th>
            </tr>
          </thead>
          <tbody role="rowgroup" className="grid">
            {shown.map((row) => (
              <Line key={row.name} row={row} />
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}

function summary(different: number): string {
  if (different === 0) return 'All parameters are the same.';
  return `${formatCount(different, 'parameter is', 'parameters are')} different.`;
}

function Line({ row: { name, a, b, isDifferent } }: { row: Row }) {
  const value = cn('min-w-0 whitespace-pre-wrap wrap-anywhere tabular-nums', isDifferent && 'font-medium');
  return (
    <tr role="row" className={cn(line, 'border-t border-border py-3')}>
      <th
        role="rowheader"
        scope="row"
        className="col-span-2 flex flex-wrap content-start items-center gap-x-2 gap-y-1 font-normal text-muted-foreground sm:col-span-1"
      >
        {name}
        {isDifferent && (
          <Badge className="h-5">
            <span aria-hidden>≠</span> Different
          </Badge>
        )}
      </th>
      <td role="cell" dir="auto" className={value}>
        {a}
      </td>
      <td role="cell" dir="auto" className={value}>
        {b}
      </td>
    </tr>
  );
}
