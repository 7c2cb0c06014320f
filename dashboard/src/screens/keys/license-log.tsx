import { useId, useState, type ReactNode } from 'react';
import { Link } from 'react-router';
import { useActivity, useRefusals } from '@/api/license-queries.ts';
import type { ActivityItem, KeyAnswer, RefusalDay } from '@/lib/types.ts';
import { Loading } from '@/components/loading.tsx';
import { Loaded, More } from '@/components/states.tsx';
import { Time } from '@/components/time.tsx';
import { CardTitle } from '@/components/ui/card.tsx';
import { Tabs, TabsContent, TabsList, TabsTrigger } from '@/components/ui/tabs.tsx';
import { ErrorCode } from '@/layout/error-code.tsx';
import { formatCount, formatNumber, formatUtcDay, shortId } from '@/lib/format.ts';
import { useNow } from '@/lib/use-now.ts';
import { useLicense } from '@/license/license-choice.ts';
import { activityText } from './activity-view.ts';
import { refusalRanges, refusalsIn, sumOf, type CallerRefusals, type CodeCount } from './refusals-view.ts';
import { errorAdvice } from '../../../../shared/openapi/error-advice.ts';

interface SectionProps {
  title: string;
  description: ReactNode;
  children: ReactNode;
}

function Section({ title, description, children }: SectionProps) {
  const titleId = useId();
  return (
    <section aria-labelledby={titleId} className="mt-12 grid grid-cols-1 gap-4">
      <div className="grid gap-1">
        <CardTitle id={titleId}>{title}</CardTitle>
        <p className="max-w-3xl text-pretty text-muted-foreground">{description}</p>
      </div>
      {children}
    </section>
  );
}

/** What the API refused of the chosen license's calls, and what to change. */
export function RefusedCalls({ keys }: { keys: readonly KeyAnswer[] }) {
  const { licenseId, name } = useLicense();
  const description = (
    <>
      How often the API refused calls of the license <bdi className="font-medium wrap-anywhere">{name}</bdi>,
      and what to change. The newest are{' '}
      <Link to="/requests?status=REFUSED" className="underline underline-offset-4">
        listed one by one
      </Link>
      . A call with a key that is mistyped, revoked or expired is not counted here. Days are in UTC.
    </>
  );
  return (
    <Section title="Refused calls" description={description}>
      <Loaded
        query={useRefusals(licenseId)}
        stale="These counts"
        skeleton={<Loading label="Loading the refused calls" bars={['h-10 w-72 max-w-full', 'h-24']} />}
      >
        {(days) => <Ranges days={days} keys={keys} />}
      </Loaded>
    </Section>
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
  const advice = (errorAdvice as Record<string, string | undefined>)[code];
  return (
    <li className="grid gap-1 px-4 py-3">
      <p className="tabular-nums">
        {formatNumber(count)} × <ErrorCode code={code} />
      </p>
      {advice && <p className="text-pretty text-muted-foreground">{advice}</p>}
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

/** Who changed the chosen license and its keys: what an owner looks at when a key does not work any more. */
export function Activity() {
  const { licenseId, name } = useLicense();
  const list = useActivity(licenseId);
  const description = (
    <>
      Who changed the license <bdi className="font-medium wrap-anywhere">{name}</bdi> and its keys, in the
      last 400 days.
    </>
  );
  return (
    <Section title="Activity" description={description}>
      <Loaded query={list} skeleton={<Loading label="Loading the activity" bars={['h-32']} />}>
        {(items) =>
          items.length === 0 ? (
            <p>Nothing was changed.</p>
          ) : (
            <ul className="divide-y divide-border rounded-lg border border-border bg-card">
              {items.map((item) => (
                <Entry key={item.id} item={item} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <More list={list} labels={['Show more', 'Loading more']} />
    </Section>
  );
}

function Entry({ item }: { item: ActivityItem }) {
  const { what, details } = activityText(item);
  return (
    <li className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1 px-4 py-3">
      <p className="min-w-0 wrap-anywhere">
        {what}
        {item.keyName !== null && (
          <>
            {' '}
            “<bdi>{item.keyName}</bdi>”
          </>
        )}
        {details.length > 0 && <span className="text-muted-foreground">: {details.join(', ')}</span>}
      </p>
      <Time iso={item.at} relative className="text-xs whitespace-nowrap text-muted-foreground" />
    </li>
  );
}
