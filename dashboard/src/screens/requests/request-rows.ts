import type { GenerationStatus, RefusedRequestAnswer, StoredGeneration } from '../../lib/types.ts';
import { statuses } from '../../lib/outputs.ts';

/** One request: one that was accepted, and so is stored, or one that was refused. */
export interface RequestRow {
  requestId: string;
  at: string;
  status: GenerationStatus | 'REFUSED';
  /** Why there is no image. */
  code: string | null;
  stored: StoredGeneration | null;
  refused: RefusedRequestAnswer | null;
}

export const rowStatuses: readonly RequestRow['status'][] = ['REFUSED', ...statuses];

/**
 * Stored and refused requests together, newest first. A request that was accepted and then refused, as for a reference image that
 * can't be used, is both: it is one row, the stored one.
 * @param hasMore whether there are older stored ones, so that a refused one that is older than all of these has no place yet
 */
export function requestRows(
  stored: readonly StoredGeneration[],
  refused: readonly RefusedRequestAnswer[],
  hasMore: boolean,
): RequestRow[] {
  const known = new Set(stored.map(({ id }) => id));
  const oldest = hasMore ? (stored.at(-1)?.createdAt ?? '') : '';
  const rows = [
    ...stored.map((one) => ({
      requestId: one.id,
      at: one.createdAt,
      status: one.status,
      code: one.errorCode,
      stored: one,
      refused: null,
    })),
    ...refused
      .filter(({ requestId, at }) => !known.has(requestId) && at >= oldest)
      .map((one) => ({
        requestId: one.requestId,
        at: one.at,
        status: 'REFUSED' as const,
        code: one.code,
        stored: null,
        refused: one,
      })),
  ];
  // Ids and times of this form are in the order of time.
  return rows.sort((one, other) => (one.requestId < other.requestId ? 1 : -1));
}

/** The codes to choose among: those that are there, and the one that is chosen. */
export function codesOf(rows: readonly RequestRow[], chosen: string | undefined): string[] {
  const codes = [chosen, ...rows.map(({ code }) => code)].filter((code) => typeof code === 'string');
  return [...new Set(codes)].sort();
}

/** What somebody pasted, if it is a request's id, as it is stored. */
export function readPastedId(text: string): string | null {
  return (
    /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/.exec(text.toLowerCase())?.[0] ??
    null
  );
}
