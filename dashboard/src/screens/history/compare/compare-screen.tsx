import { ArrowLeftRight, Columns2, ExternalLink, Sparkles } from 'lucide-react';
import { useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import { isFinal, useGeneration } from '@/api/queries.ts';
import type { StoredGeneration } from '@/lib/types.ts';
import { Loading } from '@/components/loading.tsx';
import { LargeImage, ThumbnailStrip } from '@/components/pictures.tsx';
import { EmptyState, Loaded, MissingRequest } from '@/components/states.tsx';
import { Made } from '@/components/time.tsx';
import { Badge, Card, CardHeader, CardTitle } from '@/components/ui/card.tsx';
import { Button, LinkButton, NewTabButton } from '@/components/ui/button.tsx';
import { SwitchField } from '@/components/ui/switch.tsx';
import { BackLink, Page } from '@/layout/page.tsx';
import { cn } from '@/lib/cn.ts';
import { chargedText } from '@/lib/credits.ts';
import { formatCount } from '@/lib/format.ts';
import { stripOf, thumbnailOf } from '@/lib/outputs.ts';
import { isolated, shorten } from '@/lib/text.ts';
import { OutputPlaceholder } from '../output-placeholder.tsx';
import {
  comparedSearch,
  compareRequests,
  readCompared,
  type Compared,
  type Row,
  type Shown,
} from './compared.ts';

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
            name="A"
            index={a.index}
            query={ofA}
            onShow={(index) => show({ a: { ...a, index }, b })}
            isFullSize={isFullSize}
          />
          <Side
            name="B"
            index={b.index}
            query={ofB}
            onShow={(index) => show({ a, b: { ...b, index } })}
            isFullSize={isFullSize}
          />
        </div>
        {ofA.data !== undefined && ofB.data !== undefined && (
          <Differences
            a={{ generation: ofA.data, index: a.index }}
            b={{ generation: ofB.data, index: b.index }}
          />
        )}
      </div>
    </Page>
  );
}

interface SideProps {
  name: string;
  query: ReturnType<typeof useGeneration>;
  /** The image to show, from 0. */
  index: number;
  onShow: (index: number) => void;
  /** Whether the image itself is loaded, and not its preview. */
  isFullSize: boolean;
}

function Side({ query, ...props }: SideProps) {
  return (
    <section aria-label={`Request ${props.name}`} className="grid min-w-0 grid-cols-1 gap-4">
      <Loaded
        query={query}
        skeleton={
          <Loading
            label={`Loading request ${props.name}`}
            bars={['h-12', 'aspect-square max-h-[72dvh] w-full']}
          />
        }
        missing={
          <MissingRequest
            title={`Request ${props.name} is not among your stored ones`}
            action="Choose another in your history"
          />
        }
      >
        {(generation) => <Found {...props} generation={generation} renew={() => void query.refetch()} />}
      </Loaded>
    </section>
  );
}

type FoundProps = Omit<SideProps, 'query'> & { generation: StoredGeneration; renew: () => void };

function Found({ name, generation, index: wanted, onShow, isFullSize, renew }: FoundProps) {
  const { id, prompt, outputs, width, height } = generation;
  const index = Math.max(0, Math.min(wanted, outputs.length - 1));
  const url = outputs[index];
  const which = outputs.length > 1 ? `, image ${index + 1} of ${outputs.length}` : '';
  const preview = thumbnailOf(generation, index);
  return (
    <>
      <Heading name={name} generation={generation} />
      {url === undefined ? (
        <OutputPlaceholder generation={generation} />
      ) : (
        <LargeImage
          ground="overflow-hidden"
          src={isFullSize ? url : preview}
          placeholder={isFullSize ? preview : undefined}
          alt={`${name}: ${isolated(prompt)}${which}`}
          width={width}
          height={height}
          onReload={renew}
          className="rounded-none"
        />
      )}
      {outputs.length > 1 && <ThumbnailStrip {...stripOf(generation)} index={index} onShow={onShow} />}
      <div className="flex flex-wrap gap-2">
        <LinkButton variant="outline" to={`/playground?from=${encodeURIComponent(id)}`} icon={Sparkles}>
          Use these settings
          <span className="sr-only"> of {name}</span>
        </LinkButton>
        {url !== undefined && (
          <NewTabButton variant="outline" href={url} icon={ExternalLink}>
            Open
            <span className="sr-only"> the picture of {name} in full size, in a new tab</span>
          </NewTabButton>
        )}
      </div>
    </>
  );
}

function Heading({ name, generation }: { name: string; generation: StoredGeneration }) {
  const { id, prompt, status } = generation;
  return (
    // Room for two lines of prompt, so that the pictures of both begin at the same height.
    <header className="flex min-w-0 items-start gap-3 sm:min-h-22">
      <Badge variant="outline" className="text-foreground">
        {name}
      </Badge>
      <div className="min-w-0">
        <h2 dir="auto" className="line-clamp-2 font-semibold wrap-anywhere">
          <Link to={`/history/${id}`} className="underline-offset-4 hover:underline">
            {shorten(prompt, 60)}
          </Link>
        </h2>
        <p className="text-xs leading-5 text-muted-foreground">
          <Made generation={generation} />
        </p>
        {/* A line of its own from the beginning, so that nothing moves once it has ended. */}
        <p className="text-xs leading-5 text-muted-foreground">
          {isFinal(status) ? chargedText(generation) : 'Nothing charged so far'}
        </p>
      </div>
    </header>
  );
}

// On phones the name of a parameter stands above its two values.
const line = 'grid grid-cols-2 gap-x-4 gap-y-1 sm:grid-cols-[13.5rem_minmax(0,1fr)_minmax(0,1fr)] sm:gap-x-6';

function Differences({ a, b }: { a: Shown; b: Shown }) {
  const [onlyDifferences, setOnlyDifferences] = useState(false);
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
        <SwitchField label="Only differences" checked={onlyDifferences} onChange={setOnlyDifferences} />
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
