import type { FetchReferencesAnswer, FetchReferencesOrder } from '../shared/contracts/reference-images.ts';
import { systemClock } from '../shared/domain/clock.ts';
import { jsonLog, loggableError } from '../shared/http/log.ts';
import { fetchReferences } from '../shared/workflow/fetch-references.ts';

const log = jsonLog();

/**
 * Called by the functions that generate. It opens what strangers name and reads what they sent, so its role may do
 * nothing: links that others signed are all it has.
 */
export async function handler({ requestId, items }: FetchReferencesOrder): Promise<FetchReferencesAnswer> {
  const startedMs = Date.now();
  const unusable: object[] = [];
  const problems = await fetchReferences(items, systemClock, (index, { cause }) => {
    unusable.push({ index, causes: loggableError(cause) });
  });
  const durationMs = Date.now() - startedMs;
  log.info('references', { requestId, items: items.length, unusable, durationMs });
  return { problems };
}
