import { readEnvironment } from '../shared/base/config.ts';
import type { FetchReferencesAnswer, FetchReferencesCommand } from '../shared/references/contract.ts';
import { systemClock } from '../shared/base/clock.ts';
import { jsonLog, loggableError } from '../shared/base/log.ts';
import { fetchReferences } from '../shared/references/read-references.ts';

const log = jsonLog();

/**
 * The functions that generate call this one. It opens links of strangers and reads their files, so its role has no
 * permissions: it works only with links that others signed.
 */
export async function handler({ requestId, items }: FetchReferencesCommand): Promise<FetchReferencesAnswer> {
  const startedMs = Date.now();
  const unusable: object[] = [];
  const { supportContact } = readEnvironment();
  const problems = await fetchReferences(items, supportContact, systemClock, (index, { cause }) => {
    unusable.push({ index, causes: loggableError(cause) });
  });
  const durationMs = Date.now() - startedMs;
  log.info('references', { requestId, items: items.length, unusable, durationMs });
  return { problems };
}
