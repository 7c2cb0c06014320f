import { objects, type Grants, type TableAction, type TableGrants } from './grants.ts';
import { newKeyLimit } from './domain/key-slots.ts';
import {
  activityLimit,
  fetchLimit,
  generateLimit,
  identitiesLimit,
  keysLimit,
  listLimit,
  mcpLimit,
  playgroundLimit,
  uploadLimit,
  usageLimit,
  type RouteLimit,
} from './route-limits.ts';
import type { Route, Throttle } from './route.ts';
import type { Partition } from './store/table-keys.ts';

export { jobs, type Job } from './jobs.ts';
export { keyLimitNames } from './route-limits.ts';
export type { Grants, Route, RouteLimit, TableAction, TableGrants, Throttle };

/** The document is large and open to everyone, and each byte that is sent costs money. */
const documentThrottle: Throttle = { ratePerSecond: 5, burst: 10 };

/** The items of every request that generates: reserve, start, settle or release, replay. */
const painting: TableGrants = {
  idempotency: ['get', 'put', 'delete'],
  licenses: ['get'],
  periods: ['get', 'update'],
  generations: ['get', 'put', 'update'],
  catalog: ['get'],
  model: ['get', 'put'],
};

/** What generating in our own words takes. The rate log is that of addresses of references. */
const waiting = {
  table: { ...painting, rateLogs: ['get', 'put'], links: ['get', 'put'] },
  readObjects: [objects.generations, objects.adapters, objects.uploads, objects.references],
  writeObjects: [objects.generations, objects.references],
  deleteObjects: [objects.references],
  previews: true,
  model: true,
  references: true,
} as const satisfies Grants;

/** What POST /generate and the playground share: their callers need not wait. */
const generating: Grants = { ...waiting, worker: true };

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
      table: { generations: ['get', 'batchGet'], owners: ['query'], links: ['get', 'put'] },
      readObjects: [objects.generations],
      previews: true,
    },
  },
  listGenerations: {
    method: 'GET',
    path: '/generate',
    functionName: 'list-generations',
    auth: 'key_or_session',
    limit: listLimit,
    streams: false,
    grants: {
      table: { licenses: ['get'], generations: ['query'], links: ['get', 'put'] },
      readObjects: [objects.generations],
      previews: true,
    },
  },
  listIdentities: {
    method: 'GET',
    path: '/identities',
    functionName: 'list-identities',
    auth: 'key_or_session',
    limit: identitiesLimit,
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
  listActivity: {
    method: 'GET',
    path: '/licenses/{licenseId}/activity',
    functionName: 'list-activity',
    auth: 'session',
    limit: activityLimit,
    streams: false,
    grants: { table: { licenses: ['get'], audit: ['query'] } },
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
    creationLimit: newKeyLimit,
    streams: false,
    grants: {
      table: {
        licenses: ['get'],
        rosters: ['batchGet', 'put'],
        rateLogs: ['batchGet', 'put'],
        keys: ['put'],
        audit: ['put'],
      },
    },
  },
  listKeys: {
    method: 'GET',
    path: '/keys',
    functionName: 'list-keys',
    auth: 'session',
    limit: keysLimit,
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
    grants: { table: { keys: ['get', 'update'], rosters: ['update'], audit: ['put'] } },
  },
  createUpload: {
    method: 'POST',
    path: '/uploads',
    functionName: 'create-upload',
    auth: 'key_or_session',
    limit: uploadLimit,
    streams: false,
    grants: { table: { licenses: ['get'] }, writeObjects: [objects.uploads] },
  },
  answerAgent: {
    method: 'POST',
    path: '/mcp',
    functionName: 'answer-agent',
    auth: 'key',
    limit: mcpLimit,
    streams: true,
    refuses: ['GET', 'DELETE'],
    dialect: 'mcp',
    grants: { ...waiting, table: { ...waiting.table, catalog: ['get', 'query'] } },
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
  createOpenAiImage: {
    method: 'POST',
    path: '/openai/v1/images/generations',
    functionName: 'create-openai-image',
    auth: 'key',
    // That of POST /generate itself, so that neither is a way around the other's.
    limit: generateLimit,
    streams: true,
    dialect: 'openai',
    grants: {
      // It also looks for slugs. There are no references and no asynchronous requests.
      table: { ...painting, catalog: ['get', 'query'] },
      readObjects: [objects.generations, objects.adapters],
      writeObjects: [objects.generations],
      model: true,
    },
  },
  listOpenAiModels: {
    method: 'GET',
    path: '/openai/v1/models',
    functionName: 'list-openai-models',
    auth: 'key',
    limit: identitiesLimit,
    streams: false,
    dialect: 'openai',
    grants: { table: { catalog: ['query'] } },
  },
  getOpenAiModel: {
    method: 'GET',
    path: '/openai/v1/models/{model}',
    functionName: 'get-openai-model',
    auth: 'key',
    limit: identitiesLimit,
    streams: false,
    dialect: 'openai',
    grants: { table: { catalog: ['get', 'query'] } },
  },
  getHealth: {
    method: 'GET',
    path: '/health',
    functionName: 'get-health',
    auth: 'none',
    streams: false,
    // Without a component, the model is probed.
    grants: { table: { model: ['get'] }, model: true, modelStatus: true },
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

/** The version is part of every address. */
export const basePath = '/api/v1';

/** Longer answers are compressed for clients that say they take that. Signed links are long and alike. Streams are never. */
export const minCompressionBytes = 1024;

/** What web pages of other origins may send and read (Fetch, "CORS protocol"). */
export const cors = {
  requestHeaders: [
    'authorization',
    'content-type',
    'idempotency-key',
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
  ],
  maxAgeSeconds: 3600,
} as const;
