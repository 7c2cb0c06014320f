import { ApiError, isSessionEnd } from '../../api/api-error.ts';
import { deletePaced } from '../../api/changes.ts';
import type { Api } from '../../api/client.ts';
import { allPages, patiently } from '../../api/patiently.ts';
import { formatCount } from '../../lib/format.ts';

export interface Progressing {
  what: string;
  done: number;
  total: number;
}

/** Keys first, so that nothing new comes. What failed half-way goes on when it is repeated. @throws ApiError where something is left */
export async function emptyAccount(
  api: Api,
  signal: AbortSignal,
  report: (now: Progressing) => void,
): Promise<void> {
  const patience = { signal };
  report({ what: 'Revoking your keys.', done: 0, total: 1 });
  const keyPage = (cursor?: string) => api.request('GET /keys', { query: { limit: 100, cursor }, signal });
  for await (const { keys } of allPages(keyPage, patience)) {
    for (const { keyId } of keys.filter(({ status }) => status === 'active')) {
      await patiently(() => api.request('DELETE /keys/{keyId}', { path: { keyId } }), patience);
    }
  }
  const requestIds: string[] = [];
  const { licenses } = await patiently(() => api.request('GET /licenses', { signal }), patience);
  for (const { licenseId } of licenses) {
    const page = (cursor?: string) =>
      api.request('GET /generate', { query: { licenseId, limit: 100, cursor }, signal });
    for await (const { generations } of allPages(page, patience)) {
      requestIds.push(...generations.map(({ id }) => id));
    }
  }
  const total = requestIds.length;
  let [done, failed] = [0, 0];
  await deletePaced(api, requestIds, signal, (_, error) => {
    if (isSessionEnd(error)) throw error;
    if (error !== null) failed += 1;
    done += 1;
    report({ what: `${done - failed} of ${formatCount(total, 'request')} deleted.`, done, total });
  });
  signal.throwIfAborted();
  if (failed === 0) return;
  const sentence = `${formatCount(failed, 'request')} could not be deleted, perhaps because they still run. Your account is still there: try again in a minute.`;
  throw new ApiError(sentence, { status: 0, code: 'INCOMPLETE' });
}
