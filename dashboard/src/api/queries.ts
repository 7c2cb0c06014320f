import {
  QueryClient,
  infiniteQueryOptions,
  queryOptions,
  useInfiniteQuery,
  useQueries,
  useQuery,
  useQueryClient,
  type InfiniteData,
} from '@tanstack/react-query';
import type { Health, RouteInit } from '../../../clients/typescript/src/index.ts';
import type { GenerationList, GenerationStatus, KeyList, StoredGeneration } from '../lib/types.ts';
import { useApi, type Api } from './client.ts';
import { ApiError } from './api-error.ts';

export const minuteMs = 60_000;

// Each fetch signs new links, and the browser caches images by link. So links are kept for a while, and replaced
// before they expire after an hour.
const linkFreshMs = 5 * minuteMs;
const linkRefetchMs = 45 * minuteMs;

/** Of a list that comes page by page. */
export const paged = {
  initialPageParam: null as string | null,
  getNextPageParam: ({ nextCursor }: { nextCursor: string | null }) => nextCursor,
};

/** Retries reads after a short wait that the service asks for, and after a broken connection. */
function shouldRetry(failures: number, error: Error): boolean {
  if (!(error instanceof ApiError)) return false;
  if (error.status === 429 || error.status === 503)
    return failures < 2 && (error.retryAfterSeconds ?? 1) <= 15;
  return failures < 1 && (error.status === 0 || error.status === 502 || error.status === 504);
}

function retryDelayMs(failures: number, error: Error): number {
  const seconds = error instanceof ApiError ? error.retryAfterSeconds : undefined;
  return seconds === undefined ? 1000 * 2 ** failures : seconds * 1000;
}

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: { staleTime: minuteMs, retry: shouldRetry, retryDelay: retryDelayMs, networkMode: 'always' },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
}

/**
 * Fetches again what a change has made old. An answer that is on its way may have been read before the change, and the
 * library would take a first one for the new one.
 */
export async function fetchAgain(queries: QueryClient, queryKey: readonly string[]): Promise<void> {
  await queries.cancelQueries({ queryKey });
  await queries.invalidateQueries({ queryKey });
}

/** Every license of the account, oldest first. Screens use `useLicense()` instead. */
export function useLicenses() {
  const api = useApi();
  return useQuery({
    queryKey: ['licenses'],
    queryFn: ({ signal }) => api.request('GET /licenses', { signal }),
    select: ({ licenses }) => licenses,
    staleTime: 5 * minuteMs,
    // Every screen has many components that use it.
    refetchOnMount: false,
    retryOnMount: false,
  });
}

/** The identities that the license may use. They are not fetched before `areWanted`, but are there if another component fetched them. */
export function useIdentities(licenseId: string | undefined, areWanted = true) {
  const api = useApi();
  return useQuery({
    queryKey: ['identities', licenseId],
    queryFn: ({ signal }) => api.request('GET /identities', { query: { licenseId: licenseId! }, signal }),
    enabled: licenseId !== undefined && areWanted,
    select: ({ identities }) => identities,
    staleTime: 5 * minuteMs,
  });
}

export function useAccountSettings() {
  const api = useApi();
  return useQuery({
    queryKey: ['account'],
    queryFn: ({ signal }) => api.request('GET /account', { signal }),
  });
}

/** The identities that any active license of the account may use. Their links to samples are renewed with them. */
export function useAccountIdentities() {
  const api = useApi();
  return useQuery({
    queryKey: ['identities'],
    queryFn: ({ signal }) => api.request('GET /identities', { signal }),
    select: ({ identities }) => identities,
    staleTime: 5 * minuteMs,
  });
}

/**
 * An identity, by its id or slug, with the versions that may be used: as a license may use it, without one as any of the
 * account may. It is not fetched before `isWanted`.
 */
export function useIdentity(identityId: string, licenseId?: string, isWanted = true) {
  const api = useApi();
  return useQuery({
    queryKey: ['identity', identityId, licenseId],
    queryFn: ({ signal }) =>
      api.request('GET /identities/{identityId}', { path: { identityId }, query: { licenseId }, signal }),
    enabled: isWanted,
    staleTime: 5 * minuteMs,
  });
}

export function useUsage(licenseId: string) {
  const api = useApi();
  return useQuery({
    queryKey: ['usage', licenseId],
    queryFn: ({ signal }) => api.request('GET /usage', { query: { licenseId }, signal }),
  });
}

/** The account's keys, newest first. `data` is the flat list; call `fetchNextPage` while `hasNextPage`. */
export function useKeys() {
  const api = useApi();
  return useInfiniteQuery({
    queryKey: ['keys'],
    queryFn: ({ pageParam, signal }) =>
      api.request('GET /keys', { query: { limit: 100, cursor: pageParam ?? undefined }, signal }),
    ...paged,
    select: ({ pages }: InfiniteData<KeyList>) => pages.flatMap(({ keys }) => keys),
  });
}

export type GenerationFilters = Omit<
  RouteInit<'GET /generate'>['query'] & {},
  'licenseId' | 'limit' | 'cursor'
>;

/**
 * The license's history, newest first. `data` is the flat list. A filtered page may be empty although there are more:
 * call `fetchNextPage` while `hasNextPage`.
 */
export function useGenerations(licenseId: string, filters: GenerationFilters = {}, limit = 24) {
  return useInfiniteQuery({
    ...useGenerationPages(licenseId, filters, limit),
    select: requestsOf,
  });
}

/** Requests that this page deleted. */
export const deleted = new Set<string>();

/** A page of a list that was on its way may have been read before a deletion, and comes beside the older pages as they were then. */
function requestsOf({ pages }: InfiniteData<GenerationList>): StoredGeneration[] {
  return pages.flatMap(({ generations }) => generations).filter(({ id }) => !deleted.has(id));
}

/** How far back the pages that are loaded have looked; null once they have seen everything. */
export function useSearchedBackTo(licenseId: string, filters: GenerationFilters, limit = 24): string | null {
  const { data } = useInfiniteQuery({
    ...useGenerationPages(licenseId, filters, limit),
    select: ({ pages }: InfiniteData<GenerationList>) => pages.at(-1)?.searchedBackTo ?? null,
    enabled: false,
  });
  return data ?? null;
}

function useGenerationPages(licenseId: string, filters: GenerationFilters, limit: number) {
  const api = useApi();
  return infiniteQueryOptions({
    queryKey: ['generations', licenseId, filters, limit],
    queryFn: ({ pageParam, signal }) => {
      const query = { licenseId, limit, cursor: pageParam ?? undefined, ...filters };
      return api.request('GET /generate', { query, signal });
    },
    ...paged,
    staleTime: linkFreshMs,
    // The list is still as long when somebody comes back from one image after a while.
    gcTime: 30 * minuteMs,
    refetchInterval: linkRefetchMs,
  });
}

/** Options of the query of one stored request, which is fetched again and again until it is final. */
export function generationOptions(api: Api, queries: QueryClient, requestId: string) {
  return queryOptions({
    queryKey: ['generation', requestId],
    queryFn: ({ signal }) => api.request('GET /generate/{requestId}', { path: { requestId }, signal }),
    staleTime: ({ state }) => (isRunning(state.data) ? 0 : linkFreshMs),
    refetchInterval: ({ state: { data, error } }) => {
      const isOpen = isRunning(data) || (data === undefined && error !== null && !isGone(error));
      return isOpen ? pollMs(queries) : linkRefetchMs;
    },
  });
}

// An account may look at 60 requests a minute. Those that are followed take two thirds of it together.
const pollMs = (queries: QueryClient): number => Math.max(2000, 1500 * countFollowed(queries));

function countFollowed(queries: QueryClient): number {
  const shown = queries.getQueryCache().findAll({ queryKey: ['generation'], type: 'active' });
  return shown.filter(({ state }) => isRunning(state.data as StoredGeneration | undefined)).length;
}

export function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'REQUEST_NOT_FOUND';
}

/** One stored request, followed until it is final. A request from a loaded list is shown at once. */
export function useGeneration(requestId: string | null) {
  const api = useApi();
  const queries = useQueryClient();
  return useQuery({ ...followOptions(api, queries, requestId ?? ''), enabled: requestId !== null });
}

/**
 * A loaded list with what is known by now of its requests. Those that were running when it was fetched are followed one by
 * one: fetching the list again would sign new links for all images.
 */
export function useFollowed<List extends StoredGeneration[] | undefined>(list: List): List {
  const api = useApi();
  const queries = useQueryClient();
  const running = list?.filter(isRunning) ?? [];
  const known = useQueries({
    queries: running.map(({ id }) => followOptions(api, queries, id)),
    combine: (results) => results.map(({ data }) => data),
  });
  return list?.map((listed) => known.find((newest) => newest?.id === listed.id) ?? listed) as List;
}

function followOptions(api: Api, queries: QueryClient, requestId: string) {
  const listed = () => findListed(queries, requestId);
  return {
    ...generationOptions(api, queries, requestId),
    initialData: () => listed()?.generation,
    initialDataUpdatedAt: () => listed()?.updatedAtMs,
  };
}

function isRunning(generation: StoredGeneration | undefined): boolean {
  return generation !== undefined && !isFinal(generation.status);
}

/** What GET /health says of the model. Nothing is known before its first answer. */
export type ModelHealth = Partial<Pick<Health, 'model' | 'modelReadyInSeconds'>>;

/** Whether the model is there, while somebody waits for it; less often with `everyMs`. */
export function useModelHealth(isWaiting: boolean, everyMs?: number) {
  const api = useApi();
  return useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => api.request('GET /health', { signal }),
    enabled: isWaiting,
    staleTime: 0,
    // How long it will take is known as soon as the service has seen that it is scaled to zero.
    refetchInterval: ({ state: { data } }) =>
      everyMs ??
      (data?.model === 'asleep' || (data?.model === 'waking' && data.modelReadyInSeconds === null)
        ? 3000
        : 10_000),
  });
}

/** Finds a request in the newest list that has it. The browser has cached the images of its links. */
function findListed(queries: QueryClient, requestId: string) {
  const found = queries
    .getQueryCache()
    .findAll({ queryKey: ['generations'] })
    .flatMap(({ state: { data, dataUpdatedAt } }) => {
      const listed = data === undefined ? [] : requestsOf(data as InfiniteData<GenerationList>);
      const generation = listed.find(({ id }) => id === requestId);
      return generation === undefined ? [] : [{ generation, updatedAtMs: dataUpdatedAt }];
    });
  return found.sort((a, b) => b.updatedAtMs - a.updatedAtMs)[0];
}

export function isFinal(status: GenerationStatus): boolean {
  return status !== 'QUEUED' && status !== 'PROCESSING';
}

/** @returns a function that fetches history and usage again. Call it when a generation was accepted or has ended. */
export function useRefreshAfterGeneration(): (licenseId: string) => Promise<void> {
  const queries = useQueryClient();
  return async (licenseId) => {
    await Promise.all([
      fetchAgain(queries, ['generations', licenseId]),
      fetchAgain(queries, ['usage', licenseId]),
    ]);
  };
}
