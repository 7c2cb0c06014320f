import { useInfiniteQuery, useQuery, type InfiniteData } from '@tanstack/react-query';
import type { ActivityList } from '../lib/types.ts';
import { useApi } from './client.ts';
import { paged } from './queries.ts';

/** Who changed a license and its keys, newest first. `data` is the flat list; call `fetchNextPage` while `hasNextPage`. */
export function useActivity(licenseId: string) {
  const api = useApi();
  return useInfiniteQuery({
    queryKey: ['activity', licenseId],
    queryFn: ({ pageParam, signal }) =>
      api.request('GET /licenses/{licenseId}/activity', {
        path: { licenseId },
        query: { cursor: pageParam ?? undefined },
        signal,
      }),
    ...paged,
    select: ({ pages }: InfiniteData<ActivityList>) => pages.flatMap(({ activity }) => activity),
  });
}

/** What was refused of a license's calls in the last 30 days: by day, newest first. */
export function useRefusals(licenseId: string) {
  const api = useApi();
  return useQuery({
    queryKey: ['refusals', licenseId],
    queryFn: ({ signal }) =>
      api.request('GET /licenses/{licenseId}/refusals', { path: { licenseId }, signal }),
    select: ({ days }) => days,
  });
}

/** The newest requests of a license that were refused, newest first; of a request id that one alone. */
export function useRefused(licenseId: string, requestId?: string) {
  const api = useApi();
  return useQuery({
    queryKey: ['refused', licenseId, requestId],
    queryFn: ({ signal }) =>
      api.request('GET /licenses/{licenseId}/refused-requests', {
        path: { licenseId },
        query: { requestId },
        signal,
      }),
    select: ({ requests }) => requests,
  });
}
