import { QueryObserver, type QueryClient } from '@tanstack/react-query';
import type { Api } from '../../api/client.ts';
import { generationOptions, isFinal, isGone } from '../../api/queries.ts';
import type { StoredGeneration } from '../../api/types.ts';

const watched = new Set<string>();

/**
 * Follows a request to its end, also while no component shows it.
 * @param onEnded called once, with null for a request that is not there any more
 */
export function watchRun(
  queries: QueryClient,
  api: Api,
  requestId: string,
  onEnded: (stored: StoredGeneration | null) => void,
): void {
  if (watched.has(requestId)) return;
  watched.add(requestId);
  const observer = new QueryObserver(queries, generationOptions(api, queries, requestId));
  let hasEnded = false;
  const stop = observer.subscribe(({ data, error }) => {
    const isOver = data === undefined ? isGone(error) : isFinal(data.status);
    if (!isOver || hasEnded) return;
    hasEnded = true;
    stop();
    watched.delete(requestId);
    onEnded(data ?? null);
  });
}
