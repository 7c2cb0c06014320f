import type { Grants, TableAction, TableGrants } from './grants.ts';
import * as table from './table.ts';
import type { Route } from './route.ts';
import type { Partition } from '../table/schema.ts';

/**
 * Every endpoint as data: the API, its grants, its documents and its tests are made from this table. A function imports its own route
 * from `table.ts`, so that its bundle holds no other's.
 */
export const routes = {
  createGeneration: table.createGeneration,
  getGeneration: table.getGeneration,
  deleteGeneration: table.deleteGeneration,
  cancelGeneration: table.cancelGeneration,
  listGenerations: table.listGenerations,
  listIdentities: table.listIdentities,
  getIdentity: table.getIdentity,
  getKey: table.getKey,
  listLicenses: table.listLicenses,
  listActivity: table.listActivity,
  listRefusals: table.listRefusals,
  listRefusedRequests: table.listRefusedRequests,
  getAccount: table.getAccount,
  updateAccount: table.updateAccount,
  getUsage: table.getUsage,
  createKey: table.createKey,
  listKeys: table.listKeys,
  updateKey: table.updateKey,
  revokeKey: table.revokeKey,
  createUpload: table.createUpload,
  answerAgent: table.answerAgent,
  createPlaygroundGeneration: table.createPlaygroundGeneration,
  createOpenAiImage: table.createOpenAiImage,
  editOpenAiImage: table.editOpenAiImage,
  listOpenAiModels: table.listOpenAiModels,
  getOpenAiModel: table.getOpenAiModel,
  getHealth: table.getHealth,
  getOpenApi: table.getOpenApi,
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
  const partitions: Partial<Record<Partition, TableAction[]>> = {};
  for (const grants of [accessGrants(route), route.grants.table ?? {}]) {
    for (const [partition, actions] of Object.entries(grants) as [Partition, TableAction[]][]) {
      partitions[partition] = [...new Set([...(partitions[partition] ?? []), ...actions])];
    }
  }
  return { ...route.grants, table: partitions };
}
