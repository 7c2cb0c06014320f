import { TriangleAlert } from 'lucide-react';
import { useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore, type RefObject } from 'react';
import { ApiError } from '@/api/api-error.ts';
import { allowance } from '@/api/client.ts';
import { minuteMs, useModelHealth, useUsage } from '@/api/queries.ts';
import { ErrorState } from '@/components/states.tsx';
import { Button } from '@/components/ui/button.tsx';
import { licenseProblem } from '@/license/license-badge.tsx';
import { creditCost, creditsLeft } from '@/lib/credits.ts';
import { formatCount, formatCredits, formatNumber, formatUtcDate } from '@/lib/format.ts';
import { useSecondsUntil } from '@/lib/use-now.ts';
import { sizeOf } from './form-values.ts';
import { startText } from './results.ts';
import { nameRefusals } from './references/reference.ts';
import { PairCharges } from './pair-charges.tsx';
import { mayGoOnAtMs, mayRepeat, type Failure } from './run-store.ts';
import { runStore, useRunState } from './stores.ts';
import { usePlayground } from './use-playground.ts';

/** The cost, the credits that are left, and the button. It is always visible. */
export function SubmitBar() {
  const { values, otherVersion, isHalfSent, license } = usePlayground();
  const { sending, failure } = useRunState();
  const generate = useRef<HTMLButtonElement>(null);
  const wait = useSecondsUntil(mayGoOnAtMs(failure));
  return (
    <div className="submit-bar fixed inset-x-0 bottom-[calc(4rem+1px+env(safe-area-inset-bottom))] z-20 grid gap-2 border-t border-border bg-background px-4 py-3 sm:px-6 short:static short:rounded-b-lg short:bg-card lg:sticky lg:bottom-0 lg:gap-3 lg:rounded-b-lg lg:bg-card lg:py-4">
      <div className="flex items-center gap-2 max-lg:justify-between lg:flex-col lg:items-stretch lg:gap-3">
        <div className="grid gap-1">
          <Cost />
          <Forecast />
        </div>
        <div className="flex gap-2 max-lg:shrink-0">
          {sending?.phase === 'uploading' && <CancelButton next={generate} />}
          <Button
            ref={generate}
            type="submit"
            pending={sending !== null}
            disabled={!license.usable}
            aria-keyshortcuts="Control+Enter Meta+Enter"
            className="tabular-nums lg:flex-1"
            onClick={(event) => {
              // A double click is one wish: its second click must not spend credits.
              if (wait > 0 || event.detail > 1) event.preventDefault();
            }}
            {...(wait > 0 && sending === null && { 'aria-disabled': true })}
          >
            {buttonText(sending !== null, wait, values.numOutputs, pairText(otherVersion, isHalfSent))}
            {sending === null && wait === 0 && <Shortcut />}
          </Button>
        </div>
      </div>
    </div>
  );
}

function buttonText(isSending: boolean, wait: number, numOutputs: number, ofPair: string | null): string {
  if (isSending) return 'Sending';
  if (wait > 0) return `Generate in ${wait} s`;
  if (ofPair !== null) return ofPair;
  return numOutputs === 1 ? 'Generate' : `Generate ${formatCount(numOutputs, 'image')}`;
}

function pairText(otherVersion: number | null, isHalfSent: boolean): string | null {
  if (otherVersion === null) return null;
  return isHalfSent ? `Generate version ${otherVersion}` : 'Generate both';
}

function Shortcut() {
  const mac = /mac|iphone|ipad/i.test(navigator.userAgent);
  return (
    <kbd aria-hidden className="ml-1 hidden font-sans text-xs opacity-70 lg:inline">
      {mac ? '⌘ ↵' : 'Ctrl ↵'}
    </kbd>
  );
}

/** What is known before the button is pressed: that the model has to start, and how many requests are left in this minute. */
function Forecast() {
  const { sending } = useRunState();
  const { data: health } = useModelHealth(true, minuteMs);
  const start = startText(health);
  const { left, untilMs } = useSyncExternalStore(allowance.subscribe, allowance.get);
  const waits = useSecondsUntil(untilMs) > 0;
  if (sending !== null || (start === null && !waits)) return null;
  return (
    <div className="grid gap-1 text-xs leading-5 text-muted-foreground tabular-nums">
      {start !== null && <p role="status">{start}</p>}
      {waits && <p>{formatCount(left, 'request')} left in this minute</p>}
    </div>
  );
}

/** When it is removed, the focus goes to the other button. */
function CancelButton({ next }: { next: RefObject<HTMLButtonElement | null> }) {
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const stop = button.current;
    return () => {
      // oxlint-disable-next-line react-hooks/exhaustive-deps -- the other button as it is by then.
      if (document.activeElement === stop) next.current?.focus();
    };
  }, [next]);
  return (
    <Button ref={button} variant="outline" onClick={() => runStore.cancel()}>
      Cancel
    </Button>
  );
}

function Cost() {
  const { values, otherVersion, isHalfSent, license } = usePlayground();
  const { data: usage } = useUsage(license.licenseId);
  const size = sizeOf(values);
  const one = size === null ? null : creditCost({ ...size, numOutputs: values.numOutputs });
  const cost = one === null || otherVersion === null || isHalfSent ? one : 2 * one;
  const left = usage === undefined ? null : creditsLeft(license, usage.stats);
  const short = cost !== null && left !== null && cost > left;
  return (
    <div className="grid min-w-0 gap-1">
      <p className="flex flex-wrap items-baseline gap-x-2 tabular-nums lg:justify-between">
        <span className="font-medium">{cost === null ? 'Cost unknown' : formatCredits(cost)}</span>
        <span className="text-xs text-muted-foreground">
          {license.usable ? left !== null && `${formatNumber(left)} left` : licenseProblem(license)}
        </span>
      </p>
      {short && license.usable && (
        <p className="flex items-start gap-2 text-xs leading-5 text-warning">
          <TriangleAlert aria-hidden className="mt-1 size-3 shrink-0" />
          <span>
            More than you have left. Credits come back on{' '}
            {formatUtcDate(usage?.stats.billingPeriodEnd ?? null)}.
          </span>
        </p>
      )}
    </div>
  );
}

/** Why the last request was not accepted. */
export function RunFailure() {
  const { tryAgain } = usePlayground();
  const { failure } = useRunState();
  if (failure === null) return null;
  return <FailureNotice key={failure.atMs} failure={failure} onRetry={tryAgain} />;
}

function FailureNotice({ failure, onRetry }: { failure: Failure; onRetry: () => void }) {
  const place = useRef<HTMLDivElement>(null);
  const [error] = useState(() => toShow(failure));
  useEffect(() => {
    // In braces: newer browsers answer with a promise, and an effect may only return its cleanup.
    place.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <div ref={place} className="scroll-mt-20 scroll-mb-44 px-4 pb-4 sm:px-6 sm:pb-6">
      <ErrorState
        error={error}
        onRetry={mayRepeat(error) ? onRetry : undefined}
        className="bg-background sm:p-4"
      />
      <PairCharges command={failure.command} error={failure.error} />
    </div>
  );
}

/** Puts the names of files into an error. */
function toShow({ error, command }: Failure): unknown {
  if (!(error instanceof ApiError) || error.code !== 'INVALID_PARAMETERS') return error;
  return new ApiError(nameRefusals(error.message, command.references), error);
}
