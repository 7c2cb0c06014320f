import { QueryObserver, type QueryClient } from '@tanstack/react-query';
import type { Api } from '../../api/client.ts';
import { generationOptions, isFinal, isGone } from '../../api/queries.ts';
import type { StoredGeneration } from '../../api/types.ts';

interface WatchOptions {
  /** Whether it has just been sent. Of others it is not known whether they have ended long ago. */
  isNew: boolean;
  /** Called once, unless the request had ended before it was watched. */
  onEnded: (stored: StoredGeneration) => void;
}

const watched = new Set<string>();

/** Follows a request to its end, also while no component shows it. */
export function watchRun(queries: QueryClient, api: Api, requestId: string, options: WatchOptions): void {
  if (watched.has(requestId)) return;
  watched.add(requestId);
  let wasOpen = options.isNew;
  const observer = new QueryObserver(queries, generationOptions(api, queries, requestId));
  const stop = observer.subscribe(({ data, error }) => {
    if (data === undefined ? !isGone(error) : !isFinal(data.status)) {
      wasOpen ||= data !== undefined;
      return;
    }
    stop();
    watched.delete(requestId);
    if (data !== undefined && wasOpen) options.onEnded(data);
  });
}
