import type { UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query';
import { CircleAlert, FileQuestion, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { useConfig, useRetention } from '@/lib/config.ts';
import { ApiError } from '@/api/api-error.ts';
import { isGone } from '@/api/queries.ts';
import { cn } from '@/lib/cn.ts';
import { withReadableTimes } from '@/lib/format.ts';
import { useSecondsUntil } from '@/lib/use-now.ts';
import { CopyButton } from './copy-button.tsx';
import { Time } from './time.tsx';
import { Alert } from './ui/alert.tsx';
import { Button, LinkButton, SiteButton } from './ui/button.tsx';

interface EmptyStateProps {
  icon?: LucideIcon;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  className?: string;
}

export function EmptyState({ icon: Icon, title, children, action, className }: EmptyStateProps) {
  return (
    <div
      className={cn(
        'flex flex-col items-center gap-1 rounded-lg border border-dashed border-border px-6 py-16 text-center',
        className,
      )}
    >
      {Icon && <Icon aria-hidden strokeWidth={1.5} className="mb-3 size-8 text-muted-foreground" />}
      <h2 className="text-base font-semibold">{title}</h2>
      {children !== undefined && <p className="max-w-md text-pretty text-muted-foreground">{children}</p>}
      {action !== undefined && <div className="mt-4">{action}</div>}
    </div>
  );
}

interface ErrorStateProps {
  error: unknown;
  onRetry?: (() => void) | undefined;
  retrying?: boolean;
  /** What to do about an error of the API, where the page knows more than its code says. */
  advise?: (error: ApiError) => string | null;
  className?: string;
}

/** Says what went wrong and what to do, and gives the request's id to send to support. */
export function ErrorState({ error, onRetry, retrying = false, advise, className }: ErrorStateProps) {
  const waitSeconds = useSecondsUntil(mayRetryAtMs(error));
  const retention = useRetention();
  const known = error instanceof ApiError ? error : null;
  const sentence = known ? withReadableTimes(known.message) : 'Something on this page went wrong.';
  const advice = known ? (advise ?? usualAdvice)(known, retention) : 'Try again, or reload the page.';
  return (
    <div
      className={cn('flex items-start gap-3 rounded-lg border border-border bg-card p-4 sm:p-6', className)}
    >
      <CircleAlert aria-hidden className="mt-1 size-4 shrink-0 text-destructive" />
      <div className="grid min-w-0 gap-1">
        {/* The countdown below is outside, because a screen reader would read it out each second. */}
        <div role="alert" className="grid gap-1">
          <p className="font-medium text-pretty">{sentence}</p>
          {advice !== null && <p className="text-pretty text-muted-foreground">{advice}</p>}
        </div>
        {known?.requestId !== undefined && <RequestId requestId={known.requestId} />}
        {known?.requestId !== undefined && isFault(known) && <SupportLink requestId={known.requestId} />}
        {onRetry && (
          <Button
            variant="outline"
            size="sm"
            className="mt-2 w-fit tabular-nums"
            onClick={onRetry}
            pending={retrying}
            disabled={waitSeconds > 0}
          >
            {waitSeconds > 0 ? `Try again in ${waitSeconds} s` : 'Try again'}
          </Button>
        )}
      </div>
    </div>
  );
}

function RequestId({ requestId }: { requestId: string }) {
  return (
    <p className="flex items-center gap-x-1 text-xs text-muted-foreground">
      <span className="min-w-0">
        Request id <code className="wrap-anywhere">{requestId}</code>
      </span>
      <CopyButton text={requestId} label="Copy the request id" iconOnly />
    </p>
  );
}

type Query<Data> = Pick<UseQueryResult<Data>, 'data' | 'error' | 'refetch' | 'isFetching' | 'dataUpdatedAt'>;

/** Why a query failed, with a button that fetches it again. */
export function QueryError({ query, className }: { query: Query<unknown>; className?: string }) {
  const { error, refetch, isFetching } = query;
  return (
    <ErrorState error={error} onRetry={() => void refetch()} retrying={isFetching} className={className} />
  );
}

interface LoadedProps<Data> {
  query: Query<Data>;
  skeleton: ReactNode;
  /** In place of the error where the stored request is not there. */
  missing?: ReactNode;
  /** Names what is shown although it could not be refreshed: `These figures`. */
  stale?: string;
  children?: (data: Data) => ReactNode;
}

/** What a query loaded; before that a skeleton, or why there is nothing. */
export function Loaded<Data>({ query, skeleton, missing, stale, children }: LoadedProps<Data>) {
  const { data, error, dataUpdatedAt } = query;
  if (data === undefined && error === null) return skeleton;
  if (data === undefined) return missing && isGone(error) ? missing : <QueryError query={query} />;
  return (
    <>
      {error !== null && stale && <StaleNote what={stale} error={error} updatedAtMs={dataUpdatedAt} />}
      {children?.(data)}
    </>
  );
}

interface MoreProps {
  list: Pick<
    UseInfiniteQueryResult,
    'error' | 'fetchNextPage' | 'hasNextPage' | 'isFetchingNextPage' | 'isFetchNextPageError'
  >;
  /** What the button says, also while it loads. */
  labels: [idle: string, loading: string];
}

/** Below a list: a button for more of it, or why there was none. Renders nothing at its end. */
export function More({ list, labels }: MoreProps) {
  const { error, isFetchingNextPage: fetching } = list;
  const more = (): void => void list.fetchNextPage();
  if (list.isFetchNextPageError) return <ErrorState error={error} onRetry={more} retrying={fetching} />;
  return (
    list.hasNextPage && (
      <Button variant="outline" className="justify-self-center" pending={fetching} onClick={more}>
        {labels[fetching ? 1 : 0]}
      </Button>
    )
  );
}

/** Leads to where subscriptions are managed. Renders nothing where the deployment names no such page. */
export function BillingButton() {
  const { billingPortalUrl } = useConfig();
  if (!billingPortalUrl) return null;
  return (
    <SiteButton variant="outline" href={billingPortalUrl}>
      Open billing
    </SiteButton>
  );
}

/** Where a sentence sends people to whoever manages their subscription or operates the service: who that is, where the deployment says it. */
export function ManagerLinks({ billing = true, children }: { billing?: boolean; children?: ReactNode }) {
  const { billingPortalUrl, supportContact } = useConfig();
  if (!children && !(billing && billingPortalUrl) && !supportContact) return null;
  return (
    <div className="mt-2 flex flex-wrap items-center gap-x-4 gap-y-2">
      {children}
      {billing && <BillingButton />}
      {supportContact && (
        <span>
          Write to <ContactLink contact={supportContact} />
        </span>
      )}
    </div>
  );
}

/** Whom to send the request id, where the deployment names somebody. The mail's subject has the id and nothing else of the request. */
export function SupportLink({ requestId }: { requestId: string }) {
  const { supportContact } = useConfig();
  if (!supportContact) return null;
  return (
    <p className="text-pretty text-muted-foreground">
      If it happens again, send us the request id:{' '}
      <ContactLink contact={supportContact} subject={`Request ${requestId}`} />
    </p>
  );
}

/** Leads to a page as it is, to an e-mail address by a new mail. */
export function ContactLink({ contact, subject }: { contact: string; subject?: string }) {
  const query = subject === undefined ? '' : `?subject=${encodeURIComponent(subject)}`;
  const href = /^https?:\/\//.test(contact) ? contact : `mailto:${contact}${query}`;
  return (
    <a className="wrap-anywhere text-foreground underline underline-offset-4" href={href}>
      {contact}
    </a>
  );
}

/** The fault is the service's own: support should know of it. */
function isFault({ status, code }: ApiError): boolean {
  return status >= 500 && status !== 503 && code !== 'TIMEOUT';
}

const adviceByCode: Record<string, string | undefined> = {
  CREDIT_LIMIT_EXCEEDED:
    'Fewer or smaller images may still fit. Your credits come back when the period resets.',
  IDENTITY_UNAVAILABLE: 'Choose another identity, or come back later.',
  LICENSE_INACTIVE: 'Choose another license, or renew this one with whoever manages your subscription.',
  LICENSE_NOT_FOUND: 'It may have been moved to another account. Reload the page to see your licenses.',
  KEY_LIMIT_REACHED: 'Revoke a key that you no longer use, then create the new one.',
  GENERATION_FAILED: 'Try once more.',
  TIMEOUT: 'Fewer steps, fewer images or a smaller size finish sooner.',
};

function usualAdvice({ code }: ApiError, retention: string): string | null {
  if (code === 'REQUEST_NOT_FOUND') {
    return `Stored requests are kept for ${retention}. Look in your history for a newer one.`;
  }
  return adviceByCode[code] ?? null;
}

const failedAtMs = new WeakMap<Error, number>();

/** When the service takes the request again; 0 for at once. A wait of more than two minutes is not counted down. */
function mayRetryAtMs(error: unknown): number {
  const { retryAfterSeconds: seconds = 0 } = error instanceof ApiError ? error : {};
  if (!(error instanceof ApiError) || seconds > 120) return 0;
  // It is counted from when the error was first shown, on every screen that shows it.
  if (!failedAtMs.has(error)) failedAtMs.set(error, Date.now());
  return failedAtMs.get(error)! + seconds * 1000;
}

interface MissingRequestProps {
  title: string;
  /** What the link to the history says. */
  action?: string;
}

export function MissingRequest({ title, action = 'Look in your history' }: MissingRequestProps) {
  return (
    <EmptyState
      icon={FileQuestion}
      title={title}
      action={
        <LinkButton variant="outline" to="/history">
          {action}
        </LinkButton>
      }
    >
      The address may be mistyped, or the request is another account’s, was deleted, or is older than{' '}
      {useRetention()}.
    </EmptyState>
  );
}

export function FirstImageLinks() {
  return (
    <div className="flex flex-wrap justify-center gap-2">
      <LinkButton to="/playground">Open the playground</LinkButton>
      <LinkButton variant="outline" to="/quickstart">
        Read the quickstart
      </LinkButton>
    </div>
  );
}

interface StaleNoteProps {
  /** What could not be refreshed: `These figures`. */
  what: string;
  error: Error;
  updatedAtMs: number;
  className?: string;
}

/** Says that a refresh failed and the older content is still shown. */
export function StaleNote({ what, error, updatedAtMs, className }: StaleNoteProps) {
  const at = new Date(updatedAtMs);
  const time = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' }).format(at);
  return (
    <Alert
      role="status"
      className={className}
      icon={CircleAlert}
      title={
        <>
          {what} are from <Time iso={at.toISOString()}>{time}</Time> and could not be refreshed
        </>
      }
    >
      <p className="text-muted-foreground">{error.message}</p>
    </Alert>
  );
}
