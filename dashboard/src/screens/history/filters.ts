import type { GenerationStatus, GenerationType } from '../../api/types.ts';
import { typeLabels } from '../../lib/type-labels.ts';

export const statuses: readonly GenerationStatus[] = [
  'COMPLETED',
  'QUEUED',
  'PROCESSING',
  'FAILED',
  'TIMEOUT',
];

export const types = Object.keys(typeLabels) as GenerationType[];

export interface HistoryFilters {
  identityId?: string;
  status?: GenerationStatus;
  type?: GenerationType;
}

/** The filters that an address names. What can't be one narrows nothing, so that a mistyped address shows a list. */
export function readFilters(query: URLSearchParams): HistoryFilters {
  const identityId = query.get('identity') ?? '';
  const status = statuses.find((name) => name === query.get('status')?.toUpperCase());
  const type = types.find((name) => name === query.get('type')?.toLowerCase());
  return {
    ...(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(identityId) && { identityId }),
    ...(status !== undefined && { status }),
    ...(type !== undefined && { type }),
  };
}

/** The query of the address that names these filters, without a question mark; empty for none. */
export function writeFilters({ identityId, status, type }: HistoryFilters): string {
  const query = new URLSearchParams();
  if (identityId !== undefined) query.set('identity', identityId);
  if (status !== undefined) query.set('status', status);
  if (type !== undefined) query.set('type', type);
  return query.toString();
}

export function isFiltered(filters: HistoryFilters): boolean {
  return Object.keys(filters).length > 0;
}
