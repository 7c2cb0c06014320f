import { ApiError } from '../../api/api-error.ts';
import type { Api } from '../../api/client.ts';
import type { GenerationList, KeyList, StoredGeneration, UsageStats } from '../../lib/types.ts';
import { typeLabels } from '../../lib/outputs.ts';

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
  const patiently = <T>(work: () => Promise<T>) => retried(work, options, report);

  const names = await keyNames(api, signal, patiently);
  const rows: Cell[][] = [];
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
    const page: GenerationList = await patiently(() => api.request('GET /generate', { query, signal }));
    rows.push(...page.generations.map((one) => rowOf(one, names)));
    const backToMs = page.searchedBackTo === null ? startMs : Date.parse(page.searchedBackTo);
    const share = (nowMs - backToMs) / Math.max(1, nowMs - startMs);
    report({ requests: rows.length, share: Math.min(1, Math.max(0, share)), waitSeconds: 0 });
    cursor = page.nextCursor;
  } while (cursor !== null);
  return csvFile([[...columns], ...rows]);
}

type Patiently = <T>(work: () => Promise<T>) => Promise<T>;

async function keyNames(
  api: Pick<Api, 'request'>,
  signal: AbortSignal,
  patiently: Patiently,
): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  let cursor: string | null = null;
  do {
    const query = { cursor: cursor ?? undefined };
    const page: KeyList = await patiently(() => api.request('GET /keys', { query, signal }));
    for (const { keyId, name } of page.keys) names.set(keyId, name);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return names;
}

const maxFailures = 3;

/** Waits as long as a busy service asks for, however often, and repeats what broke on its way a few times. */
async function retried<T>(
  work: () => Promise<T>,
  { wait, signal }: Pick<CsvOptions, 'wait' | 'signal'>,
  report: (changes: Partial<CsvProgress>) => void,
): Promise<T> {
  for (let failures = 0; ;) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ApiError)) throw error;
      const asked = error.status === 429 || error.status === 503 ? error.retryAfterSeconds : undefined;
      if (asked === undefined) {
        failures += 1;
        if (failures > maxFailures || ![0, 502, 503, 504].includes(error.status)) throw error;
      }
      const waitSeconds = Math.max(1, asked ?? 2 ** failures);
      report({ waitSeconds });
      await wait(waitSeconds, signal);
      report({ waitSeconds: 0 });
    }
  }
}

const columns = [
  'request id',
  'created',
  'completed',
  'status',
  'type',
  'identity',
  'key',
  'width',
  'height',
  'outputs',
  'credits',
  'error code',
  'prompt',
];

function rowOf(one: StoredGeneration, names: ReadonlyMap<string, string>): Cell[] {
  return [
    one.id,
    one.createdAt,
    one.completedAt ?? '',
    one.status,
    typeLabels[one.type] ?? one.type,
    one.identity.name,
    // A key that was removed has no name left.
    one.keyId === null ? 'playground' : (names.get(one.keyId) ?? one.keyId),
    one.width,
    one.height,
    one.numOutputs,
    one.creditsCharged,
    one.errorCode ?? '',
    one.prompt,
  ];
}

/** CSV as RFC 4180 has it: lines end with CR LF, and cells are quoted where they must be. */

export type Cell = string | number;

/** Spreadsheets know UTF-8 by it. */
const byteOrderMark = '\uFEFF';

export function csvFile(rows: readonly (readonly Cell[])[]): string {
  return byteOrderMark + rows.map(csvLine).join('');
}

function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: Cell): string {
  const text = typeof cell === 'number' ? String(cell) : withoutFormula(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * A spreadsheet would compute what begins like a formula, which may send what stands in other cells elsewhere. In many
 * countries it takes full-width signs too, and a semicolon for the comma: it then knows no quotes of ours, and a cell begins
 * behind each semicolon, tab and line break.
 */
export function withoutFormula(text: string): string {
  return text.replace(/(?<=^|[;\t\r\n])(?=[\s"]*[=+\-@＝＋－＠﹦﹢﹣﹫−])/g, "'");
}
