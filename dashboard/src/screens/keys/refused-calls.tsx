import { useId, useState } from 'react';
import { useRefusals } from '@/api/queries.ts';
import type { KeyAnswer, RefusalDay } from '@/lib/types.ts';
import { Loading } from '@/components/loading.tsx';
import { Loaded } from '@/components/states.tsx';
import { Tabs, TabsContent, TabsList, TabsTrigger } from '@/components/ui/tabs.tsx';
import { ReferenceLink } from '@/layout/reference-link.tsx';
import { formatCount, formatNumber, formatUtcDay, shortId } from '@/lib/format.ts';
import { useNow } from '@/lib/use-now.ts';
import { useLicense } from '@/license/license-choice.ts';
import { errorAdvice } from '../../../../shared/openapi/error-advice.ts';
import { refusalRanges, refusalsIn, sumOf, type CallerRefusals, type CodeCount } from './refusals-view.ts';

/** What the API refused of the chosen license's calls, and what to change. */
export function RefusedCalls({ keys }: { keys: readonly KeyAnswer[] }) {
  const { licenseId, name } = useLicense();
  const titleId = useId();
  return (
    <section aria-labelledby={titleId} className="mt-12 grid grid-cols-1 gap-4">
      <div className="grid gap-1">
        <h2 id={titleId} className="text-base font-semibold">
          Refused calls
        </h2>
        <p className="max-w-3xl text-pretty text-muted-foreground">
          How often the API refused calls of the license{' '}
          <bdi className="font-medium wrap-anywhere">{name}</bdi>, and what to change. A call with a key that
          is mistyped, revoked or expired is not counted here. Days are in UTC.
        </p>
      </div>
      <Loaded
        query={useRefusals(licenseId)}
        stale="These counts"
        skeleton={<Loading label="Loading the refused calls" bars={['h-10 w-72 max-w-full', 'h-24']} />}
      >
        {(days) => <Ranges days={days} keys={keys} />}
      </Loaded>
    </section>
  );
}

function Ranges({ days, keys }: { days: readonly RefusalDay[]; keys: readonly KeyAnswer[] }) {
  const nowMs = useNow();
  // Tabs make ids of their values, so these have no spaces.
  const [shown, setShown] = useState('7');
  const ranges = refusalRanges.map((range) => ({ range, callers: refusalsIn(days, range, nowMs) }));
  return (
    <Tabs value={shown} onValueChange={setShown}>
      <TabsList aria-label="Refused calls of which days">
        {ranges.map(({ range: { days: count, label }, callers }) => (
          <TabsTrigger key={count} value={String(count)}>
            {label}
            <span className="text-muted-foreground tabular-nums">{formatNumber(sumOf(callers))}</span>
          </TabsTrigger>
        ))}
      </TabsList>
      {ranges.map(({ range, callers }) => (
        <TabsContent key={range.days} value={String(range.days)} className="grid gap-4">
          {callers.length === 0 && <p>No call was refused {range.words}.</p>}
          {callers.map((caller) => (
            <Caller
              key={caller.keyId}
              caller={caller}
              item={keys.find(({ keyId }) => keyId === caller.keyId)}
              isOneDay={range.days === 1}
            />
          ))}
        </TabsContent>
      ))}
    </Tabs>
  );
}

interface CallerProps {
  caller: CallerRefusals;
  /** Undefined for the playground, and for a key that is not loaded or was removed. */
  item: KeyAnswer | undefined;
  isOneDay: boolean;
}

function Caller({ caller: { keyId, count, codes }, item, isOneDay }: CallerProps) {
  return (
    <article className="rounded-lg border border-border bg-card">
      <header className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1 border-b border-border px-4 py-3">
        <h3 className="min-w-0 font-medium wrap-anywhere">
          {keyId === null ? 'Playground' : <bdi>{item?.name ?? `Key ${shortId(keyId)}`}</bdi>}
          {item !== undefined && (
            <code className="ml-2 text-xs font-normal whitespace-nowrap text-muted-foreground">
              {item.keyPrefix}…
            </code>
          )}
        </h3>
        <p className="text-xs whitespace-nowrap text-muted-foreground">
          {formatCount(count, 'refused call')}
        </p>
      </header>
      <ul className="divide-y divide-border">
        {codes.map((code) => (
          <Code key={code.code} {...code} isOneDay={isOneDay} />
        ))}
      </ul>
    </article>
  );
}

function Code({ code, count, days, isOneDay }: CodeCount & { isOneDay: boolean }) {
  // A newer service may have codes that this page does not know.
  const advice = (errorAdvice as Record<string, string | undefined>)[code];
  return (
    <li className="grid gap-1 px-4 py-3">
      <p className="tabular-nums">
        {formatNumber(count)} ×{' '}
        <ReferenceLink
          at={`description/${code.toLowerCase().replaceAll('_', '-')}`}
          className="font-medium underline underline-offset-4 wrap-anywhere hover:decoration-2"
        >
          {code}
        </ReferenceLink>
      </p>
      {advice !== undefined && <p className="text-pretty text-muted-foreground">{advice}</p>}
      {!isOneDay && <Days days={days} />}
    </li>
  );
}

function Days({ days }: Pick<CodeCount, 'days'>) {
  const last = `on ${formatUtcDay(days[0]!.date)}`;
  if (days.length === 1) return <p className="text-xs text-muted-foreground">All {last}</p>;
  return (
    <details className="text-xs text-muted-foreground">
      <summary className="w-fit cursor-pointer rounded-md">
        On {formatCount(days.length, 'day')}, last {last}
      </summary>
      <ul className="mt-2 flex flex-wrap gap-x-4 gap-y-1 tabular-nums">
        {days.map(({ date, count }) => (
          <li key={date} className="whitespace-nowrap">
            {formatUtcDay(date)}: {formatNumber(count)}
          </li>
        ))}
      </ul>
    </details>
  );
}
