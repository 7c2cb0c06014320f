import { ListX, X } from 'lucide-react';
import { useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import { useRefused } from '@/api/license-queries.ts';
import { isGone, useFollowed, useGeneration, useGenerations, useKeys } from '@/api/queries.ts';
import { CopyButton } from '@/components/copy-button.tsx';
import { Loading } from '@/components/loading.tsx';
import { RefreshButton } from '@/components/refresh-button.tsx';
import { SearchField } from '@/components/search-field.tsx';
import { EmptyState, Loaded, More, QueryError, SupportLink } from '@/components/states.tsx';
import { StatusBadge, stateOf, statusLabel } from '@/components/status-badge.tsx';
import { Time } from '@/components/time.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Select } from '@/components/ui/select.tsx';
import { ErrorCode } from '@/layout/error-code.tsx';
import { Page } from '@/layout/page.tsx';
import { formatExactTime, shortId } from '@/lib/format.ts';
import { withoutParameters } from '@/lib/parameters.ts';
import { useLicense } from '@/license/license-choice.ts';
import { codesOf, readPastedId, requestRows, rowStatuses, type RequestRow } from './request-rows.ts';
import { errorAdvice } from '../../../../shared/openapi/error-advice.ts';

const skeleton = <Loading label="Loading the requests" bars={['h-20', 'h-20', 'h-20', 'h-20']} />;

/** What became of every request, also of those that were refused: where somebody looks with an id or an error in hand. */
export default function RequestsScreen() {
  const { licenseId } = useLicense();
  const [query] = useSearchParams();
  const searched = readPastedId(query.get('id') ?? '');
  return (
    <Page
      title="Requests"
      description="What became of each request of this license, newest first. A call with a key that is mistyped, revoked or expired is of no license, so it is not here."
      actions={<RefreshButton licenseId={licenseId} compact />}
    >
      <IdSearch key={searched} searched={searched} />
      {searched === null ? (
        <List key={licenseId} licenseId={licenseId} />
      ) : (
        <Found licenseId={licenseId} requestId={searched} />
      )}
    </Page>
  );
}

function IdSearch({ searched }: { searched: string | null }) {
  const [, setQuery] = useSearchParams();
  const [isWrong, setWrong] = useState(false);
  const search = (typed: string): void => {
    const id = readPastedId(typed);
    setWrong(id === null && typed.trim() !== '');
    if (id !== null) setQuery({ id });
    else if (typed.trim() === '') setQuery({});
  };
  return (
    <div role="search" className="mb-4 grid max-w-xl gap-1">
      <SearchField
        search={searched ?? ''}
        onSearch={search}
        aria-label="Request id"
        aria-invalid={isWrong}
        aria-describedby={isWrong ? 'request-id-hint' : undefined}
        placeholder="Search by request id"
      />
      {isWrong && (
        <p id="request-id-hint" role="alert" className="text-xs text-destructive">
          A request id is the X-Request-Id of an answer, as 019aa3c2-8f40-7a1c-b2d5-0e9c4a7f3b18.
        </p>
      )}
    </div>
  );
}

function Found({ licenseId, requestId }: { licenseId: string; requestId: string }) {
  const [, setQuery] = useSearchParams();
  const stored = useGeneration(requestId);
  const refused = useRefused(licenseId, requestId);
  const isMissing = isGone(stored.error);
  const clear = (
    <Button variant="outline" icon={X} onClick={() => setQuery({})}>
      Show all requests
    </Button>
  );
  if (stored.isPending || refused.isPending) return skeleton;
  if (stored.error !== null && !isMissing) return <QueryError query={stored} />;
  const rows = requestRows(isMissing || !stored.data ? [] : [stored.data], refused.data ?? [], false);
  if (rows.length === 0 && refused.error !== null) return <QueryError query={refused} />;
  if (rows.length > 0) {
    return (
      <div className="grid gap-4">
        <Rows rows={rows} />
        <div>{clear}</div>
      </div>
    );
  }
  return (
    <EmptyState icon={ListX} title="No request has this id" action={clear}>
      Accepted requests are found in every license of your account, refused ones in the license that is
      chosen, for 14 days. Where several were refused within ten seconds, only the first was kept.
    </EmptyState>
  );
}

function List({ licenseId }: { licenseId: string }) {
  const [query] = useSearchParams();
  const status = rowStatuses.find((one) => one === query.get('status'));
  const code = query.get('code') ?? undefined;
  const list = useGenerations(licenseId, status === undefined || status === 'REFUSED' ? {} : { status });
  const refused = useRefused(licenseId);
  const followed = useFollowed(list.data);
  const stored = status === 'REFUSED' ? [] : (followed ?? []);
  const isRefusedShown = status === undefined || status === 'REFUSED';
  const all = requestRows(
    stored,
    isRefusedShown ? (refused.data ?? []) : [],
    status !== 'REFUSED' && list.hasNextPage,
  );
  const rows = code === undefined ? all : all.filter((row) => row.code === code);
  return (
    <>
      <Filters rows={all} status={status} code={code} />
      {refused.error !== null && isRefusedShown && <QueryError query={refused} className="mb-6" />}
      <Loaded query={list} skeleton={skeleton} stale="These requests">
        {() => (
          <div className="grid gap-4">
            {rows.length > 0 && <Rows rows={rows} />}
            {rows.length === 0 && !refused.isPending && (
              <EmptyState
                icon={ListX}
                title={all.length === 0 && !status ? 'No requests yet' : 'No request matches'}
              >
                Requests are here as soon as they are sent. Of refused ones the newest 100 of the last 14 days
                are kept; of several within ten seconds, the first.
              </EmptyState>
            )}
            {status !== 'REFUSED' && <More list={list} labels={['Show older', 'Loading older']} />}
          </div>
        )}
      </Loaded>
    </>
  );
}

interface FiltersProps {
  rows: readonly RequestRow[];
  status: RequestRow['status'] | undefined;
  code: string | undefined;
}

function Filters({ rows, status, code }: FiltersProps) {
  const [, setQuery] = useSearchParams();
  const choose = (name: string) => (value: string | undefined) =>
    setQuery((now) => {
      if (value === undefined) return withoutParameters(name)(now);
      now.set(name, value);
      return now;
    });
  return (
    <div role="group" aria-label="Filters" className="mb-6 grid grid-cols-2 gap-2 sm:flex">
      <Select<string>
        label="Status"
        none="All statuses"
        value={status}
        choices={rowStatuses.map((id) => ({ id, label: statusLabel(id) }))}
        onChange={choose('status')}
        className="sm:w-40"
      />
      <Select
        label="Code"
        none="All codes"
        value={code}
        choices={codesOf(rows, code).map((id) => ({ id, label: id }))}
        onChange={choose('code')}
        className="sm:w-64"
      />
    </div>
  );
}

function Rows({ rows }: { rows: readonly RequestRow[] }) {
  return (
    <ul aria-label="Requests" className="divide-y divide-border rounded-lg border border-border bg-card">
      {rows.map((row) => (
        <Row key={row.requestId} {...row} />
      ))}
    </ul>
  );
}

function Row({ requestId, at, code, stored, refused }: RequestRow) {
  const sentence = refused?.error ?? stored?.errorMessage;
  // A newer service may have codes that this page does not know.
  const advice = (errorAdvice as Record<string, string | undefined>)[code ?? ''];
  return (
    <li className="grid gap-1 px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <StatusBadge status={stored === null ? 'REFUSED' : stateOf(stored)} />
        {code !== null && <ErrorCode code={code} className="text-xs" />}
        <Time iso={at} className="text-xs text-muted-foreground tabular-nums sm:ml-auto">
          {formatExactTime(at)}
        </Time>
      </div>
      {stored !== null && (
        <Link
          to={`/history/${requestId}`}
          dir="auto"
          className="line-clamp-2 w-fit rounded-md wrap-anywhere underline underline-offset-4 hover:decoration-2"
        >
          {stored.prompt}
        </Link>
      )}
      {sentence && <p className="text-pretty wrap-anywhere">{sentence}</p>}
      {advice && <p className="text-pretty text-muted-foreground">{advice}</p>}
      {advice?.includes('tell us') && <SupportLink requestId={requestId} />}
      <div className="flex flex-wrap items-center gap-x-4 text-xs text-muted-foreground">
        <span className="wrap-anywhere">
          {refused !== null && `${refused.status} · ${refused.route} · `}
          <CallerName keyId={(stored ?? refused)!.keyId} known={refused?.keyName ?? null} />
        </span>
        <span className="flex min-w-0 items-center gap-1">
          <code className="min-w-0 wrap-anywhere">{requestId}</code>
          <CopyButton text={requestId} label="Copy the request id" iconOnly />
        </span>
      </div>
    </li>
  );
}

function CallerName({ keyId, known }: { keyId: string | null; known: string | null }) {
  const { data: keys = [] } = useKeys();
  if (keyId === null) return 'Playground';
  return <bdi>{known ?? keys.find((key) => key.keyId === keyId)?.name ?? `Key ${shortId(keyId)}`}</bdi>;
}
