import { useSyncExternalStore } from 'react';
import { keepDraft, recallDraft } from '../lib/drafts.ts';
import { createStore } from '../lib/store.ts';
import { shorten } from '../lib/text.ts';
import type { StoredGeneration } from '../lib/types.ts';

/** A request that a job has to do with, as people know it. */
export interface JobItem {
  id: string;
  label: string;
}

export interface BulkJob {
  kind: 'delete' | 'zip';
  total: number;
  /** What is not done yet, in order. */
  waiting: JobItem[];
  failures: (JobItem & { sentence: string })[];
  /** Files of a ZIP that were saved. */
  parts: number;
}

const draft = 'job';

/** One job at a time, which goes on over screens and reloads of the tab. */
const store = createStore<{ job: BulkJob | null }>({ job: null });

/** Requests as a list gave them. After a reload they are asked for one by one. */
export const knownRequests = new Map<string, StoredGeneration>();

export function startJob(kind: BulkJob['kind'], requests: readonly StoredGeneration[]): void {
  const waiting = requests.map(({ id, prompt }) => ({ id, label: shorten(prompt, 60) }));
  knownRequests.clear();
  if (kind === 'zip') for (const request of requests) knownRequests.set(request.id, request);
  setJob({ kind, waiting, total: waiting.length, failures: [], parts: 0 });
}

export function setJob(job: BulkJob | null): void {
  keepDraft(draft, job ?? {});
  store.set({ job });
}

export const currentJob = (): BulkJob | null => store.get().job;

export function useJob(): BulkJob | null {
  return useSyncExternalStore(store.subscribe, currentJob);
}

export const isAtWork = (job: BulkJob | null): boolean => job !== null && job.waiting.length > 0;

/** Takes up what this tab was at before it was loaded anew. */
export function recallJob(): void {
  const kept = recallDraft(draft) as Partial<BulkJob>;
  const isWhole = Array.isArray(kept.waiting) && Array.isArray(kept.failures);
  if (currentJob() === null && isWhole) store.set({ job: kept as BulkJob });
}
