import { useMutation, useQueryClient, type InfiniteData, type QueryClient } from '@tanstack/react-query';
import type { ChangeKeyBody, CreateKeyBody, KeyAnswer, KeyList } from '../lib/types.ts';
import { useApi } from './client.ts';

function refreshKeys(queries: QueryClient): void {
  void queries.invalidateQueries({ queryKey: ['keys'] });
  void queries.invalidateQueries({ queryKey: ['activity'] });
}

/** `mutate(body)`. The answer holds the raw key, so it is dropped as soon as the component is gone. */
export function useCreateKey() {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: CreateKeyBody) => api.request('POST /keys', { body }),
    // Also when it failed: the key may be made and the answer lost. Not awaited, so that the raw key is shown at once.
    onSettled: () => refreshKeys(queries),
    onError: () => void queries.invalidateQueries({ queryKey: ['licenses'] }),
    gcTime: 0,
  });
}

/** Shows a key's change at once, even if the list can't be fetched again. */
function showKeyChange(queries: QueryClient, { keyId, ...changes }: Partial<KeyAnswer>): void {
  const shown = (key: KeyAnswer) => (key.keyId === keyId ? { ...key, ...changes } : key);
  queries.setQueryData<InfiniteData<KeyList>>(
    ['keys'],
    (list) => list && { ...list, pages: list.pages.map((page) => ({ ...page, keys: page.keys.map(shown) })) },
  );
  refreshKeys(queries);
}

export function useChangeKey(keyId: string) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: ChangeKeyBody) => api.request('PATCH /keys/{keyId}', { path: { keyId }, body }),
    onSuccess: (changed) => {
      showKeyChange(queries, changed);
      // It names keys.
      void queries.invalidateQueries({ queryKey: ['usage', changed.licenseId] });
    },
    // The key may be changed although no answer came, or be gone.
    onError: () => refreshKeys(queries),
  });
}

export function useRevokeKey() {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (keyId: string) => api.request('DELETE /keys/{keyId}', { path: { keyId } }),
    onSuccess: (revoked) => showKeyChange(queries, revoked),
  });
}
