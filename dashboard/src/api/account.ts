import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useApi } from './client.ts';

export function useAccountSettings() {
  const api = useApi();
  return useQuery({
    queryKey: ['account'],
    queryFn: ({ signal }) => api.request('GET /account', { signal }),
  });
}

/** `mutate(creditMails)`: shows the answer, which is what is stored. */
export function useSwitchCreditMails() {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (creditMails: boolean) => api.request('PATCH /account', { body: { creditMails } }),
    onSuccess: (settings) => queries.setQueryData(['account'], settings),
  });
}

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
