import type { Api } from '../../api/client.ts';
import { allPages, type PatienceOptions } from '../../api/patiently.ts';
import type { StoredGeneration, UsageStats } from '../../lib/types.ts';
import { requestsCsv } from '../../lib/requests-csv.ts';

export interface CsvProgress {
  requests: number;
  /** Of the period's time that was looked at, 0 to 1. */
  share: number;
  /** Until the next page is asked for, because the service is busy; 0 otherwise. */
  waitSeconds: number;
}

interface CsvOptions extends Omit<PatienceOptions, 'onWait'> {
  licenseId: string;
  stats: Pick<UsageStats, 'billingPeriodStart' | 'billingPeriodEnd'>;
  onProgress: (progress: CsvProgress) => void;
  nowMs: number;
}

/**
 * A license's requests of a period as CSV, newest first.
 * @throws ApiError, and the signal's reason when it was aborted
 */
export async function periodCsv(api: Pick<Api, 'request'>, options: CsvOptions): Promise<string> {
  const { licenseId, stats, signal, onProgress, nowMs } = options;
  const progress: CsvProgress = { requests: 0, share: 0, waitSeconds: 0 };
  const report = (changes: Partial<CsvProgress>): void => onProgress(Object.assign(progress, changes));
  const patience = { ...options, onWait: (waitSeconds: number) => report({ waitSeconds }) };

  const names = new Map<string, string>();
  const keyPage = (cursor?: string) => api.request('GET /keys', { query: { cursor }, signal });
  for await (const { keys } of allPages(keyPage, patience)) {
    for (const { keyId, name } of keys) names.set(keyId, name);
  }
  const requests: StoredGeneration[] = [];
  const startMs = Date.parse(stats.billingPeriodStart);
  const range = { createdAfter: stats.billingPeriodStart, createdBefore: stats.billingPeriodEnd };
  const page = (cursor?: string) =>
    api.request('GET /generate', { query: { licenseId, limit: 100, ...range, cursor }, signal });
  for await (const { generations, searchedBackTo } of allPages(page, patience)) {
    requests.push(...generations);
    const backToMs = searchedBackTo === null ? startMs : Date.parse(searchedBackTo);
    const share = (nowMs - backToMs) / Math.max(1, nowMs - startMs);
    report({ requests: requests.length, share: Math.min(1, Math.max(0, share)), waitSeconds: 0 });
  }
  return requestsCsv(requests, names);
}
