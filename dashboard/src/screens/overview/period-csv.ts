import type { Api } from '../../api/client.ts';
import { patiently } from '../../api/patiently.ts';
import type { GenerationList, KeyList, StoredGeneration, UsageStats } from '../../lib/types.ts';
import { requestsCsv } from '../../lib/requests-csv.ts';

export interface CsvProgress {
  requests: number;
  /** Of the period's time that was looked at, 0 to 1. */
  share: number;
  /** Until the next page is asked for, because the service is busy; 0 otherwise. */
  waitSeconds: number;
}

interface CsvOptions {
  licenseId: string;
  stats: Pick<UsageStats, 'billingPeriodStart' | 'billingPeriodEnd'>;
  signal: AbortSignal;
  onProgress: (progress: CsvProgress) => void;
  /** Resolves after so many seconds, and throws the signal's reason. */
  wait: (seconds: number, signal: AbortSignal) => Promise<void>;
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
  const repeat = <T>(work: () => Promise<T>) =>
    patiently(work, { ...options, onWait: (waitSeconds) => report({ waitSeconds }) });

  const names = await keyNames(api, signal, repeat);
  const requests: StoredGeneration[] = [];
  const startMs = Date.parse(stats.billingPeriodStart);
  let cursor: string | null = null;
  do {
    const query = {
      licenseId,
      limit: 100,
      createdAfter: stats.billingPeriodStart,
      createdBefore: stats.billingPeriodEnd,
      cursor: cursor ?? undefined,
    };
    const page: GenerationList = await repeat(() => api.request('GET /generate', { query, signal }));
    requests.push(...page.generations);
    const backToMs = page.searchedBackTo === null ? startMs : Date.parse(page.searchedBackTo);
    const share = (nowMs - backToMs) / Math.max(1, nowMs - startMs);
    report({ requests: requests.length, share: Math.min(1, Math.max(0, share)), waitSeconds: 0 });
    cursor = page.nextCursor;
  } while (cursor !== null);
  return requestsCsv(requests, names);
}

type Repeat = <T>(work: () => Promise<T>) => Promise<T>;

async function keyNames(
  api: Pick<Api, 'request'>,
  signal: AbortSignal,
  repeat: Repeat,
): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  let cursor: string | null = null;
  do {
    const query = { cursor: cursor ?? undefined };
    const page: KeyList = await repeat(() => api.request('GET /keys', { query, signal }));
    for (const { keyId, name } of page.keys) names.set(keyId, name);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return names;
}
