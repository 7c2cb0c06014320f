import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import { saveFile } from '../lib/download.ts';
import type { StoredGeneration } from '../lib/types.ts';
import { ApiError, isSessionEnd } from './api-error.ts';
import {
  currentJob,
  isAtWork,
  knownRequests,
  setJob,
  useJob,
  type BulkJob,
  type JobItem,
} from './bulk-job.ts';
import { deletePaced, forget } from './changes.ts';
import { useApi, type Api } from './client.ts';
import { paced } from './patiently.ts';
import { isGone } from './queries.ts';

/** Works at the job there is, beginning with what was kept. Mounted once. @param onEnded called when nothing is left to do */
export function useRunJob(onEnded: (job: BulkJob) => void) {
  const api = useApi();
  const queries = useQueryClient();
  const atWork = isAtWork(useJob());
  const stopping = useRef(new AbortController());
  const work = useEffectEvent(async (signal: AbortSignal) => {
    const isZip = currentJob()?.kind === 'zip';
    await (isZip ? saveZips(api, signal) : deleteAll(api, queries, signal)).catch((error: unknown) => {
      // Once the session has ended, the job waits for the next sign-in.
      if (!signal.aborted && !isSessionEnd(error)) settleRest();
    });
    const job = currentJob();
    if (job !== null && !isAtWork(job)) onEnded(job);
  });
  useEffect(() => {
    if (!atWork) return;
    const { signal } = (stopping.current = new AbortController());
    void work(signal);
    return () => stopping.current.abort();
  }, [atWork]);
  return {
    /** What is not done stays as it is. */
    stop(): void {
      stopping.current.abort();
      const job = currentJob();
      setJob(job === null || job.failures.length === 0 ? null : { ...job, waiting: [] });
    },
    retry(): void {
      const job = currentJob();
      if (job === null) return;
      const waiting = job.failures.map(({ id, label }) => ({ id, label }));
      setJob({ ...job, waiting, failures: [], total: waiting.length });
    },
  };
}

/** Takes requests out of what is waiting. */
function settle(ids: readonly string[], failures: BulkJob['failures'], parts = 0): void {
  const job = currentJob();
  if (job === null) return;
  setJob({
    ...job,
    waiting: job.waiting.filter(({ id }) => !ids.includes(id)),
    failures: [...job.failures, ...failures],
    parts: job.parts + parts,
  });
}

/** Nothing of what is waiting can be done: the code that makes a ZIP could not be loaded, or there was no memory for it. */
function settleRest(): void {
  const waiting = currentJob()?.waiting ?? [];
  const sentence = 'This page could not go on. Reload it, then try again.';
  settle(
    waiting.map(({ id }) => id),
    waiting.map((item) => ({ ...item, sentence })),
  );
}

const sentenceOf = (error: unknown): string =>
  error instanceof ApiError ? error.message : 'The service gave no answer.';

async function deleteAll(api: Api, queries: QueryClient, signal: AbortSignal): Promise<void> {
  const items = currentJob()!.waiting;
  const ids = items.map(({ id }) => id);
  await deletePaced(api, ids, signal, (id, error) => {
    if (isSessionEnd(error)) throw error;
    if (error === null) forget(queries, id);
    const item = items.find((one) => one.id === id)!;
    settle([id], error === null ? [] : [{ ...item, sentence: sentenceOf(error) }]);
  });
}

/** A file has so many requests at most, so that a reload loses little and a phone has the memory. */
const requestsInFile = 100;

async function saveZips(api: Api, signal: AbortSignal): Promise<void> {
  const { archiveImages } = await import('../lib/image-archive.ts');
  const read = reader(api, signal);
  while (isAtWork(currentJob())) {
    signal.throwIfAborted();
    const items = currentJob()!.waiting.slice(0, requestsInFile);
    const archive = archiveImages({ requests: readAll(items, read), renew: read.anew, signal });
    const blob = await new Response(archive.stream).blob();
    signal.throwIfAborted();
    const { parts } = currentJob()!;
    const isOnly = parts === 0 && archive.taken.length === currentJob()!.waiting.length;
    const file = blob.slice(0, blob.size, 'application/zip');
    if (archive.files > 0) saveFile(file, zipName(archive.taken, isOnly ? null : parts + 1));
    const failures = items.flatMap((item) => {
      const sentence = archive.missing.get(item.id);
      return sentence === undefined ? [] : [{ ...item, sentence }];
    });
    settle(archive.taken, failures, archive.files > 0 ? 1 : 0);
  }
}

/** Reads requests as often as an account may look at one. */
function reader(api: Api, signal: AbortSignal) {
  const repeat = paced(signal);
  const anew = (requestId: string): Promise<StoredGeneration> =>
    repeat(() => api.request('GET /generate/{requestId}', { path: { requestId }, signal }));
  return { anew, known: async (id: string) => knownRequests.get(id) ?? anew(id) };
}

async function* readAll(items: readonly JobItem[], { known }: ReturnType<typeof reader>) {
  for (const { id } of items) {
    try {
      yield { id, request: await known(id) };
    } catch (error) {
      if (isSessionEnd(error)) throw error;
      yield { id, problem: isGone(error) ? 'It was deleted.' : sentenceOf(error) };
    }
  }
}

/** `images-9c8f2b1d.zip` for one request, `images-2026-11-24.zip` for several, with the number of the file where there are more. */
function zipName(ids: readonly string[], part: number | null): string {
  const name = ids.length === 1 && part === null ? ids[0]!.slice(-8) : new Date().toISOString().slice(0, 10);
  return `images-${name}${part === null ? '' : `-${part}`}.zip`;
}
