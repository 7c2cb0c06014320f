import { getAccount, listActivity, listRefusals, updateAccount } from './account-table.ts';
import type { Grants, TableAction, TableGrants } from './grants.ts';
import {
  createGeneration,
  getGeneration,
  deleteGeneration,
  listGenerations,
  listIdentities,
  listLicenses,
  getUsage,
  createKey,
  listKeys,
  updateKey,
  revokeKey,
  createUpload,
  answerAgent,
  createPlaygroundGeneration,
  createOpenAiImage,
  listOpenAiModels,
  getOpenAiModel,
  getHealth,
  getOpenApi,
} from './table.ts';
import type { RouteLimit } from './limits.ts';
import type { Route, Throttle } from './route.ts';
import type { Partition } from '../table/keys.ts';

export { jobs, type Job } from './jobs.ts';
export { keyLimitNames } from './limits.ts';
export type { Grants, Route, RouteLimit, TableAction, TableGrants, Throttle };

/**
 * Every endpoint as data: the API, its grants, its documents and its tests are made from this table. A function imports its own route
 * only, from `route-table.ts` or `account-routes.ts`, so that its bundle holds no other's.
 */
export const routes = {
  createGeneration,
  getGeneration,
  deleteGeneration,
  listGenerations,
  listIdentities,
  listLicenses,
  listActivity,
  listRefusals,
  getAccount,
  updateAccount,
  getUsage,
  createKey,
  listKeys,
  updateKey,
  revokeKey,
  createUpload,
  answerAgent,
  createPlaygroundGeneration,
  createOpenAiImage,
  listOpenAiModels,
  getOpenAiModel,
  getHealth,
  getOpenApi,
} as const satisfies Record<string, Route>;

/** The grants for authenticating a route's callers: their key, their license and their rate log; and for counting who is refused. */
function accessGrants({ auth, limit }: Route): TableGrants {
  const byKey = auth === 'key' || auth === 'key_or_session';
  const bySession = auth === 'session' || auth === 'key_or_session';
  const rateLogs: TableAction[] = [];
  if (limit && byKey) rateLogs.push('batchGet');
  if (limit && bySession) rateLogs.push('get');
  if (limit) rateLogs.push('put');
  return {
    ...(byKey ? { keys: [limit ? 'batchGet' : 'get'], licenses: ['get'], refusals: ['update'] } : {}),
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

/** The version is part of every address. */
export const basePath = '/api/v1';

/** Stands for the stage of API Gateway in the local runtime, which serves HTTP without TLS. Real names have no parentheses. */
export const localStage = '(local)';

/** Longer answers are compressed for clients that say they take that. Signed links are long and alike. Streams are never. */
export const minCompressionBytes = 1024;

/** What web pages of other origins may send and read (Fetch, "CORS protocol"). */
export const cors = {
  requestHeaders: [
    'authorization',
    'content-type',
    'idempotency-key',
    'if-none-match',
    'mcp-method',
    'mcp-name',
    'mcp-protocol-version',
    'prefer',
  ],
  responseHeaders: [
    'x-request-id',
    'retry-after',
    'ratelimit',
    'ratelimit-policy',
    'idempotent-replayed',
    'location',
    'preference-applied',
    'x-ignored-parameters',
    'etag',
  ],
  maxAgeSeconds: 3600,
} as const;

/** What web pages of any origin may do with the bucket's signed links, and read of its answers: a link is the permission. */
export const bucketCors = {
  methods: ['GET', 'HEAD', 'POST'],
  responseHeader: 'etag',
  maxAgeSeconds: 3600,
} as const;

/** Headers that every answer of the API has, whoever gives it: a function, the gateway, the firewall. */
export function answerHeaders(status: number): Record<string, string> {
  return {
    'x-content-type-options': 'nosniff',
    // As the dashboard's: a year, and without subdomains, of which an operator may have others. Browsers obey it over https only.
    'strict-transport-security': 'max-age=31536000',
    // RFC 9110, section 11.6.1. API Gateway renames a function's own: docs/errors.md.
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  };
}
