import { useQuery } from '@tanstack/react-query';
import { useApi } from './client.ts';

/** The identities that any active license of the account may use. Their links to samples are renewed with them. */
export function useAccountIdentities() {
  const api = useApi();
  return useQuery({
    queryKey: ['identities'],
    queryFn: ({ signal }) => api.request('GET /identities', { signal }),
    select: ({ identities }) => identities,
    staleTime: 5 * 60_000,
  });
}
