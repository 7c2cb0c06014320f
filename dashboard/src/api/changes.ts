import { useMutation, useQueryClient, type InfiniteData, type QueryClient } from '@tanstack/react-query';
import type { ChangeKeyBody, CreateKeyBody, GenerationList, KeyAnswer, KeyList } from '../lib/types.ts';
import { ApiError } from './api-error.ts';
import { useApi, type Api } from './client.ts';
import { paced } from './patiently.ts';
import { deleted, fetchAgain, isGone, useRefreshAfterGeneration } from './queries.ts';

function refreshKeys(queries: QueryClient): void {
  void fetchAgain(queries, ['keys']);
  void fetchAgain(queries, ['activity']);
}

/** `mutate(body)`. The answer holds the raw key, so it is dropped as soon as the component is gone. */
export function useCreateKey() {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: CreateKeyBody) => api.request('POST /keys', { body }),
    // Also when it failed: the key may be made and the answer lost. Not awaited, so that the raw key is shown at once.
    onSettled: () => refreshKeys(queries),
    onError: () => void fetchAgain(queries, ['licenses']),
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
      void fetchAgain(queries, ['usage', changed.licenseId]);
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

/** `mutate(creditMails)`: shows the answer, which is what is stored. */
export function useSwitchCreditMails() {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (creditMails: boolean) => api.request('PATCH /account', { body: { creditMails } }),
    onSuccess: async (settings) => {
      // An answer that is on its way may have been read before the change.
      await queries.cancelQueries({ queryKey: ['account'] });
      queries.setQueryData(['account'], settings);
    },
  });
}

/** `mutate(requestId)` ends a request that runs. One that has just completed has its images shown instead. */
export function useCancelGeneration() {
  const api = useApi();
  const queries = useQueryClient();
  const refresh = useRefreshAfterGeneration();
  return useMutation({
    mutationFn: (requestId: string) => {
      const path = { requestId };
      return api.request('POST /generate/{requestId}/cancel', { path }).catch((error: unknown) => {
        if (!(error instanceof ApiError) || error.code !== 'REQUEST_FINAL') throw error;
        return api.request('GET /generate/{requestId}', { path });
      });
    },
    onSuccess: async (ended) => {
      // One that is on its way may have been read before the end.
      await queries.cancelQueries({ queryKey: ['generation', ended.id] });
      queries.setQueryData(['generation', ended.id], ended);
      void refresh(ended.licenseId);
    },
  });
}

/**
 * Deletes stored requests for good, one after another and as many in a minute as an account may.
 * @param onEnded gets null once there is no such request, whoever deleted it, or else why it is still there
 */
export async function deletePaced(
  api: Api,
  requestIds: readonly string[],
  signal: AbortSignal,
  onEnded: (requestId: string, error: unknown) => void,
): Promise<void> {
  const repeat = paced(signal);
  for (const requestId of requestIds) {
    const init = { path: { requestId } };
    const error = await repeat(() => api.request('DELETE /generate/{requestId}', init)).then(
      () => null,
      (failure: unknown) => failure,
    );
    // What was not begun stays.
    if (signal.aborted && error !== null) return;
    onEnded(requestId, isGone(error) ? null : error);
  }
}

/** Takes a deleted request out of all lists, without fetching these again: that would sign new links for all images. */
export function forget(queries: QueryClient, requestId: string): void {
  deleted.add(requestId);
  queries.setQueriesData<InfiniteData<GenerationList>>({ queryKey: ['generations'] }, (list) => {
    if (list === undefined) return list;
    const pages = list.pages.map((page) => ({
      ...page,
      generations: page.generations.filter(({ id }) => id !== requestId),
    }));
    return { ...list, pages };
  });
  queries.removeQueries({ queryKey: ['generation', requestId] });
}
