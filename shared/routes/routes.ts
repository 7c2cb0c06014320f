import type { Grants, TableAction, TableGrants } from './grants.ts';
import {
  createGeneration,
  getGeneration,
  deleteGeneration,
  cancelGeneration,
  listGenerations,
  listIdentities,
  getKey,
  listLicenses,
  listActivity,
  listRefusals,
  listRefusedRequests,
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
  editOpenAiImage,
  listOpenAiModels,
  getOpenAiModel,
  getHealth,
  getOpenApi,
} from './table.ts';
import type { Route } from './route.ts';
import type { Partition } from '../table/schema.ts';

/**
 * Every endpoint as data: the API, its grants, its documents and its tests are made from this table. A function imports its own route
 * from `table.ts`, so that its bundle holds no other's.
 */
export const routes = {
  createGeneration,
  getGeneration,
  deleteGeneration,
  cancelGeneration,
  listGenerations,
  listIdentities,
  getKey,
  listLicenses,
  listActivity,
  listRefusals,
  listRefusedRequests,
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
  editOpenAiImage,
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
  if (limit) rateLogs.push('batchGet', 'put');
  return {
    ...(bySession ? { accounts: ['batchGet'] } : {}),
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
