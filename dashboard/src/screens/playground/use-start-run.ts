import { useQueryClient, QueryObserver, type QueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useNavigate } from 'react-router';
import { toast } from 'sonner';
import { ApiError } from '@/api/api-error.ts';
import { useApi, type Api } from '@/api/client.ts';
import { useRefreshAfterGeneration, generationOptions, isFinal, isGone } from '@/api/queries.ts';
import type { StoredGeneration } from '@/lib/types.ts';
import { screenOf } from '@/layout/page.tsx';
import { readRefusals } from './references/reference.ts';
import { failureText, readyText } from './results.ts';
import type { GenerationCommand } from './run-store.ts';
import { rememberSettings } from './last-used.ts';
import { referenceStore, runStore, useRunState } from './stores.ts';

export const runPath = (requestId: string): string => `/playground/${encodeURIComponent(requestId)}`;

/** @returns a function that sends a command, as the run store does. With `upload` it uploads the reference images first. */
export function useStartRun(): (
  command: GenerationCommand,
  options?: { upload: boolean },
) => Promise<string | null> {
  const api = useApi();
  const queries = useQueryClient();
  const refresh = useRefreshAfterGeneration();
  const navigate = useNavigate();
  const ended = useEnded();
  return (command, { upload } = { upload: false }) => {
    const { licenseId } = command.body;
    return runStore.start(api, command, {
      prepare:
        upload && command.references.length > 0
          ? (given, signal) => withUploads(api, given, signal)
          : undefined,
      onAccepted: (requestId) => {
        rememberSettings(command.body);
        if (!isElsewhere()) void navigate(runPath(requestId));
        watchRun(queries, api, requestId, (stored) => ended(requestId, stored));
        void refresh(licenseId);
      },
      onRefused: (error, { references }) => {
        const known = error instanceof ApiError ? error : null;
        if (known?.code === 'INVALID_PARAMETERS')
          referenceStore.refuse(references, readRefusals(known.message));
        if (!isElsewhere()) return;
        const action = { label: 'Show', onClick: () => void navigate('/playground') };
        const description = known?.message;
        toast.error('The playground could not make your image.', { action, description, duration: 10_000 });
      },
    });
  };
}

/** Follows this tab's runs whose end nobody has seen, those too that were sent before the page was loaded. */
export function useWatchedRuns(): void {
  const api = useApi();
  const queries = useQueryClient();
  const ended = useEnded();
  const { open } = useRunState();
  useEffect(() => {
    for (const requestId of open) {
      watchRun(queries, api, requestId, (stored) => ended(requestId, stored));
    }
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- `ended` is another function each time.
  }, [api, queries, open]);
}

/** @returns what to do when a run has ended, wherever somebody is by then */
function useEnded(): (requestId: string, stored: StoredGeneration | null) => void {
  const refresh = useRefreshAfterGeneration();
  const navigate = useNavigate();
  return (requestId, stored) => {
    runStore.ended(requestId);
    if (stored === null) return;
    const references = runStore.sent(requestId)?.command.references ?? [];
    if (stored.errorCode === 'INVALID_PARAMETERS')
      referenceStore.refuse(references, readRefusals(stored.errorMessage ?? ''));
    void refresh(stored.licenseId);
    // By a page of its own, or beside another one.
    if (window.location.href.includes(stored.id)) return;
    const action = { label: 'Show', onClick: () => void navigate(runPath(stored.id)) };
    const how = { action, duration: 10_000 };
    if (stored.status === 'COMPLETED') toast.success(readyText(stored), how);
    else if (stored.errorCode === 'CANCELLED') toast(failureText(stored), how);
    else toast.error('An image could not be made.', { ...how, description: failureText(stored, references) });
  };
}

async function withUploads(
  api: Api,
  command: GenerationCommand,
  signal: AbortSignal,
): Promise<GenerationCommand> {
  const { body, references } = command;
  const to = { api, licenseId: body.licenseId };
  const referenceImages = await referenceStore.ready(references, to, signal);
  return { ...command, body: { ...body, referenceImages }, references: referenceStore.latest(references) };
}

export function isElsewhere(): boolean {
  return screenOf(window.location.pathname) !== '/playground';
}

const watched = new Set<string>();

/**
 * Follows a request to its end, also while no component shows it.
 * @param onEnded called once, with null for a request that is not there any more
 */
function watchRun(
  queries: QueryClient,
  api: Api,
  requestId: string,
  onEnded: (stored: StoredGeneration | null) => void,
): void {
  if (watched.has(requestId)) return;
  watched.add(requestId);
  const observer = new QueryObserver(queries, generationOptions(api, queries, requestId));
  let hasEnded = false;
  const stop = observer.subscribe(({ data, error }) => {
    const isOver = data === undefined ? isGone(error) : isFinal(data.status);
    if (!isOver || hasEnded) return;
    hasEnded = true;
    stop();
    watched.delete(requestId);
    onEnded(data ?? null);
  });
}

/** Follows the runs of this tab on every screen, after a page load. */
export default function RunWatcher() {
  useWatchedRuns();
  return null;
}
