import type { RateLimit } from './domain/rate-limit.ts';
import type { Partition } from './store/table-keys.ts';

/** Reads of one item, of several at once and of a range of a partition, and the ways to write one item. */
export type TableAction = 'get' | 'batchGet' | 'query' | 'put' | 'update' | 'delete';
export type TableGrants = { readonly [P in Partition]?: readonly TableAction[] };

/** What a function may access. Infrastructure grants exactly this. */
export interface Grants {
  table?: TableGrants;
  /** Prefixes of the bucket that it may read, write or hand out links for. */
  readObjects?: readonly string[];
  writeObjects?: readonly string[];
  model?: boolean;
  /** It may call the job that fetches reference images. */
  references?: boolean;
}

export interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below the base address, with API Gateway's `{parameters}`. */
  path: string;
  /** The file in `functions/` whose `handler` answers. */
  functionName: string;
  auth: 'key' | 'session' | 'key_or_session' | 'none';
  limit?: RouteLimit;
  /** Answers may take minutes or be event streams, so API Gateway must not buffer them. */
  streams: boolean;
  /**
   * A limit for all callers together, where it is not the whole API's; `account` for none but AWS's for the whole account.
   * API Gateway counts callers before they are known, so strangers can use up any such limit.
   */
  throttle?: Throttle | 'account';
  /** See `Job`. */
  reservedConcurrency?: number;
  /** What the function needs beside authentication, for which `grantsOf` adds grants. */
  grants: Grants;
}

export interface Throttle {
  ratePerSecond: number;
  burst: number;
}

export interface RouteLimit extends RateLimit {
  /** What happens when the limit itself can't be checked: routes that spend money refuse, routes that read go on. */
  onFault: 'refuse' | 'allow';
}

const generateLimit: RouteLimit = { name: 'generate', quota: 10, windowSeconds: 60, onFault: 'refuse' };
const fetchLimit: RouteLimit = { name: 'fetch', quota: 60, windowSeconds: 60, onFault: 'allow' };
const usageLimit: RouteLimit = { name: 'usage', quota: 30, windowSeconds: 60, onFault: 'allow' };
/** Four reference images for each of the ten requests that a key may send. */
const uploadLimit: RouteLimit = { name: 'upload', quota: 40, windowSeconds: 60, onFault: 'refuse' };
const playgroundLimit: RouteLimit = { ...generateLimit, name: 'playground' };

/** An account in a loop can only make its own list of keys long. This slows it down. */
const keyThrottle: Throttle = { ratePerSecond: 5, burst: 10 };

/** The document is large and open to everyone, and each byte that is sent costs money. */
const documentThrottle: Throttle = { ratePerSecond: 5, burst: 10 };

const generations = 'generations/*';
const adapters = 'adapters/*';
const uploads = 'uploads/*';

/** What POST /generate and the playground share: reserve, start, settle or release, replay. */
const generating: Grants = {
  table: {
    idempotency: ['batchGet', 'put', 'delete'],
    licenses: ['get'],
    periods: ['get', 'update'],
    generations: ['get', 'put', 'update'],
    catalog: ['batchGet'],
  },
  readObjects: [generations, adapters, uploads],
  writeObjects: [generations],
  model: true,
  references: true,
};

/** Every endpoint as data: the API, its grants, its documents and its tests are made from this table. */
export const routes = {
  createGeneration: {
    method: 'POST',
    path: '/generate',
    functionName: 'create-generation',
    auth: 'key',
    limit: generateLimit,
    streams: true,
    grants: generating,
  },
  getGeneration: {
    method: 'GET',
    path: '/generate/{requestId}',
    functionName: 'get-generation',
    auth: 'key_or_session',
    limit: fetchLimit,
    streams: false,
    grants: {
      table: { generations: ['get', 'batchGet'], owners: ['query'] },
      readObjects: [generations],
    },
  },
  listGenerations: {
    method: 'GET',
    path: '/generate',
    functionName: 'list-generations',
    auth: 'key_or_session',
    streams: false,
    grants: { table: { licenses: ['get'], generations: ['query'] }, readObjects: [generations] },
  },
  listIdentities: {
    method: 'GET',
    path: '/identities',
    functionName: 'list-identities',
    auth: 'key_or_session',
    streams: false,
    grants: { table: { licenses: ['get'], catalog: ['query'], owners: ['query'] } },
  },
  listLicenses: {
    method: 'GET',
    path: '/licenses',
    functionName: 'list-licenses',
    auth: 'session',
    streams: false,
    grants: { table: { owners: ['query'] } },
  },
  getUsage: {
    method: 'GET',
    path: '/usage',
    functionName: 'get-usage',
    auth: 'session',
    limit: usageLimit,
    streams: false,
    grants: { table: { licenses: ['get'], periods: ['get'], generations: ['query'], catalog: ['query'] } },
  },
  createKey: {
    method: 'POST',
    path: '/keys',
    functionName: 'create-key',
    auth: 'session',
    streams: false,
    throttle: keyThrottle,
    grants: { table: { licenses: ['get'], rosters: ['get', 'put'], keys: ['put'] } },
  },
  listKeys: {
    method: 'GET',
    path: '/keys',
    functionName: 'list-keys',
    auth: 'session',
    streams: false,
    grants: { table: { owners: ['query'], rateLogs: ['batchGet'] } },
  },
  revokeKey: {
    method: 'DELETE',
    path: '/keys/{keyId}',
    functionName: 'revoke-key',
    auth: 'session',
    streams: false,
    // Strangers must not keep an owner from revoking a key.
    throttle: 'account',
    reservedConcurrency: 20,
    grants: { table: { keys: ['get', 'update'], rosters: ['update'] } },
  },
  createUpload: {
    method: 'POST',
    path: '/uploads',
    functionName: 'create-upload',
    auth: 'key_or_session',
    limit: uploadLimit,
    streams: false,
    grants: { table: { licenses: ['get'] }, writeObjects: [uploads] },
  },
  createPlaygroundGeneration: {
    method: 'POST',
    path: '/playground/generate',
    functionName: 'create-playground-generation',
    auth: 'session',
    limit: playgroundLimit,
    streams: true,
    grants: generating,
  },
  getHealth: {
    method: 'GET',
    path: '/health',
    functionName: 'get-health',
    auth: 'none',
    streams: false,
    grants: { model: true },
  },
  getOpenApi: {
    method: 'GET',
    path: '/openapi.json',
    functionName: 'get-openapi',
    auth: 'none',
    streams: false,
    throttle: documentThrottle,
    grants: {},
  },
} as const satisfies Record<string, Route>;

/** The limits whose logs say when a key was last used. */
export const keyLimitNames = [generateLimit.name, fetchLimit.name, uploadLimit.name];

/** The grants for authenticating a route's callers: their key, their license and their rate log. */
function accessGrants({ auth, limit }: Route): TableGrants {
  const byKey = auth === 'key' || auth === 'key_or_session';
  const bySession = auth === 'session' || auth === 'key_or_session';
  const rateLogs: TableAction[] = [];
  if (limit && byKey) rateLogs.push('batchGet');
  if (limit && bySession) rateLogs.push('get');
  if (limit) rateLogs.push('put');
  return {
    ...(byKey ? { keys: [limit ? 'batchGet' : 'get'], licenses: ['get'] } : {}),
    ...(limit ? { rateLogs } : {}),
  };
}

/** All that a route's function may access. */
export function grantsOf(route: Route): Grants {
  const table: Partial<Record<Partition, TableAction[]>> = {};
  for (const grants of [accessGrants(route), route.grants.table ?? {}]) {
    for (const [partition, actions] of Object.entries(grants) as [Partition, TableAction[]][]) {
      table[partition] = [...new Set([...(table[partition] ?? []), ...actions])];
    }
  }
  return { ...route.grants, table };
}

/** A function that no request calls. */
export interface Job {
  functionName: string;
  /** What starts it: the clock, a queue of events, or a function that waits for its answer. */
  trigger: { everyMinutes: number } | 'queue' | 'function';
  /**
   * Executions at once that a flood of other requests can't take from it, and the most that it may have itself. They are
   * reserved where the account's quota allows it.
   */
  reservedConcurrency?: number;
  grants: Grants;
}

export const jobs = {
  sweep: {
    functionName: 'sweep',
    trigger: { everyMinutes: 1 },
    reservedConcurrency: 2,
    grants: {
      table: {
        leases: ['query'],
        generations: ['get', 'update'],
        periods: ['update'],
        idempotency: ['delete'],
      },
    },
  },
  billingEvents: {
    functionName: 'billing-events',
    trigger: 'queue',
    reservedConcurrency: 3,
    grants: { table: { licenses: ['get', 'put', 'update'] } },
  },
  fetchReferences: {
    functionName: 'fetch-references',
    trigger: 'function',
    // It opens addresses that strangers name, so it may access nothing that an attacker could use.
    grants: {},
  },
} as const satisfies Record<string, Job>;

/** The version is part of every address. */
export const basePath = '/api/v1';

/** What web pages of other origins may send and read (Fetch, "CORS protocol"). */
export const cors = {
  requestHeaders: ['authorization', 'content-type', 'idempotency-key'],
  responseHeaders: ['x-request-id', 'retry-after', 'ratelimit', 'ratelimit-policy', 'idempotent-replayed'],
  maxAgeSeconds: 3600,
} as const;
