import { useMutation, useQueryClient, type InfiniteData, type QueryClient } from '@tanstack/react-query';
import { deleteGeneration, type Requester } from '../../../clients/typescript/src/index.ts';
import type { GenerationList } from '../lib/types.ts';
import { ApiError, screenError } from './api-error.ts';
import { useApi } from './client.ts';
import { isGone } from './queries.ts';

/** So many are deleted at the same time. */
const lanes = 3;
/** A request that the service asked to send later is sent this often. */
const maxTries = 4;

interface DeleteRun {
  requestIds: string[];
  /** Aborted by somebody who has second thoughts: what was not begun is not deleted. */
  signal: AbortSignal;
  onEnded: () => void;
}

export interface DeleteOutcome {
  deleted: string[];
  failures: { requestId: string; error: unknown }[];
}

/** `mutate({ requestIds, … })` deletes stored requests for good. It does not fail: the outcome says what failed. */
export function useDeleteGenerations() {
  const { requester } = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (run: DeleteRun) => {
      const outcome = await deleteAll(requester, run);
      await forget(queries, outcome.deleted);
      return outcome;
    },
  });
}

async function deleteAll(
  requester: Requester,
  { requestIds, signal, onEnded }: DeleteRun,
): Promise<DeleteOutcome> {
  const waiting = [...requestIds];
  const outcome: DeleteOutcome = { deleted: [], failures: [] };
  const work = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined && !signal.aborted; id = waiting.shift()) {
      const error = await deleteOne(requester, id, signal);
      if (error === null) outcome.deleted.push(id);
      else outcome.failures.push({ requestId: id, error });
      onEnded();
    }
  };
  await Promise.all(Array.from({ length: lanes }, work));
  return outcome;
}

/** @returns null once there is no such request, whoever deleted it, or else why it is still there */
async function deleteOne(requester: Requester, requestId: string, signal: AbortSignal): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    try {
      await deleteGeneration(requester, requestId);
      return null;
    } catch (cause) {
      const error = screenError(cause);
      if (isGone(error)) return null;
      const waitSeconds = error instanceof ApiError ? error.retryAfterSeconds : undefined;
      if (waitSeconds === undefined || waitSeconds > 60 || tries === maxTries || signal.aborted) return error;
      await new Promise((resolve) => setTimeout(resolve, waitSeconds * 1000));
    }
  }
}

/** Takes deleted requests out of all lists, without fetching these again: that would sign new links for all images. */
async function forget(queries: QueryClient, requestIds: string[]): Promise<void> {
  // A page that is on its way may have been read before the deletion.
  await queries.cancelQueries({ queryKey: ['generations'] });
  queries.setQueriesData<InfiniteData<GenerationList>>({ queryKey: ['generations'] }, (list) => {
    if (list === undefined) return list;
    const pages = list.pages.map((page) => ({
      ...page,
      generations: page.generations.filter(({ id }) => !requestIds.includes(id)),
    }));
    return { ...list, pages };
  });
  for (const id of requestIds) queries.removeQueries({ queryKey: ['generation', id] });
}
