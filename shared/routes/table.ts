import type { Grants, TableGrants } from './grants.ts';
import {
  accountChangeLimit,
  accountLimit,
  activityLimit,
  cancelLimit,
  documentThrottle,
  changeKeyLimit,
  deleteLimit,
  fetchLimit,
  generateLimit,
  healthThrottle,
  identitiesLimit,
  keyLimit,
  keysLimit,
  listLimit,
  maxFormBytes,
  mcpLimit,
  newKeyLimit,
  playgroundLimit,
  refusalsLimit,
  refusedLimit,
  uploadLimit,
  usageLimit,
} from './limits.ts';
import * as objects from './objects.ts';
import type { Route } from './route.ts';
import { withMembers } from './with-members.ts';

/** The items of every request that generates: reserve, start, settle or release, replay. */
const generationItems: TableGrants = {
  idempotency: ['get', 'put', 'delete'],
  licenses: ['get'],
  periods: ['get', 'update'],
  generations: ['get', 'put', 'update'],
  notifications: ['put'],
  // A slug may be looked for in the whole of it.
  catalog: ['get', 'query'],
  model: ['get', 'put'],
};

/** The same for this API's own format, which takes reference images. The rate log counts their addresses. */
const waitingItems: TableGrants = withMembers(generationItems, {
  rateLogs: ['get', 'put'],
  links: ['get', 'put'],
});

const waiting: Grants = {
  table: waitingItems,
  readObjects: [
    objects.generations,
    objects.adapters,
    objects.uploads,
    objects.references,
    objects.cancelled,
  ],
  writeObjects: [objects.generations, objects.references],
  deleteObjects: [objects.references],
  previews: true,
  model: true,
  promptCheck: true,
  references: true,
};

/** What POST /generate and the playground share: their callers need not wait. */
const generating: Grants = withMembers(waiting, { queue: true });

const agentItems = waitingItems;
const agentGrants = withMembers(waiting, {
  table: agentItems,
  writeObjects: [objects.generations, objects.references, objects.cancelled],
});

const playgroundItems = withMembers(waitingItems, { refusals: ['update'] });
const playgroundGrants = withMembers(generating, { table: playgroundItems });

/** There are no references and no asynchronous requests. */
const openAiItems = withMembers(generationItems, {
  tries: ['query', 'put', 'update'],
});
/** The same with references. There are no uploads. */
const openAiEditItems = withMembers(openAiItems, { rateLogs: ['get', 'put'] });

export const createGeneration = {
  method: 'POST',
  path: '/generate',
  functionName: 'create-generation',
  auth: 'key',
  limit: generateLimit,
  streams: true,
  grants: generating,
} as const satisfies Route;

/** Of a stored request. It stands alone, because whoever accepts a request answers where it will be. */
export const generationPath = '/generate/{requestId}';

export const getGeneration = {
  method: 'GET',
  path: generationPath,
  functionName: 'get-generation',
  auth: 'key_or_session',
  limit: fetchLimit,
  streams: false,
  grants: {
    table: { generations: ['get', 'batchGet'], owners: ['query'], links: ['get', 'put'] },
    readObjects: [objects.generations],
    previews: true,
  },
} as const satisfies Route;

export const deleteGeneration = {
  method: 'DELETE',
  path: generationPath,
  functionName: 'delete-generation',
  auth: 'key_or_session',
  limit: deleteLimit,
  streams: false,
  grants: {
    table: {
      generations: ['batchGet', 'delete'],
      deletions: ['batchGet', 'put', 'update', 'delete'],
      owners: ['query'],
    },
    writeObjects: [objects.erased],
    deleteObjects: [objects.generations, objects.references],
  },
} as const satisfies Route;

export const cancelGeneration = {
  method: 'POST',
  path: '/generate/{requestId}/cancel',
  functionName: 'cancel-generation',
  auth: 'key_or_session',
  limit: cancelLimit,
  streams: false,
  grants: {
    table: {
      generations: ['get', 'batchGet', 'update'],
      periods: ['get', 'update'],
      idempotency: ['delete'],
      owners: ['query'],
    },
    writeObjects: [objects.cancelled],
    deleteObjects: [objects.references],
  },
} as const satisfies Route;

export const listGenerations = {
  method: 'GET',
  path: '/generate',
  functionName: 'list-generations',
  auth: 'key_or_session',
  limit: listLimit,
  streams: false,
  grants: {
    table: {
      licenses: ['get'],
      generations: ['query'],
      catalog: ['get', 'query'],
      links: ['get', 'put'],
    },
    readObjects: [objects.generations],
    previews: true,
  },
} as const satisfies Route;

export const listIdentities = {
  method: 'GET',
  path: '/identities',
  functionName: 'list-identities',
  auth: 'key_or_session',
  limit: identitiesLimit,
  streams: false,
  grants: {
    table: { licenses: ['get'], catalog: ['query'], owners: ['query'], links: ['get', 'put'] },
    readObjects: [objects.samples],
    previews: true,
  },
} as const satisfies Route;

export const getIdentity = {
  method: 'GET',
  path: '/identities/{identityId}',
  functionName: 'get-identity',
  auth: 'key_or_session',
  limit: identitiesLimit,
  streams: false,
  grants: {
    table: { licenses: ['get'], catalog: ['get', 'query'], owners: ['query'], links: ['get', 'put'] },
    readObjects: [objects.samples],
    previews: true,
  },
} as const satisfies Route;

export const getKey = {
  method: 'GET',
  path: '/key',
  functionName: 'get-key',
  auth: 'key',
  limit: keyLimit,
  streams: false,
  grants: {
    table: { periods: ['batchGet'], rateLogs: ['batchGet'], catalog: ['query'], owners: ['query'] },
  },
} as const satisfies Route;

export const listLicenses = {
  method: 'GET',
  path: '/licenses',
  functionName: 'list-licenses',
  auth: 'session',
  streams: false,
  grants: { table: { owners: ['query'] } },
} as const satisfies Route;

export const listActivity = {
  method: 'GET',
  path: '/licenses/{licenseId}/activity',
  functionName: 'list-activity',
  auth: 'session',
  limit: activityLimit,
  streams: false,
  grants: { table: { licenses: ['get'], audit: ['query'] } },
} as const satisfies Route;

export const listRefusals = {
  method: 'GET',
  path: '/licenses/{licenseId}/refusals',
  functionName: 'list-refusals',
  auth: 'session',
  limit: refusalsLimit,
  streams: false,
  grants: { table: { licenses: ['get'], refusals: ['query'] } },
} as const satisfies Route;

export const listRefusedRequests = {
  method: 'GET',
  path: '/licenses/{licenseId}/refused-requests',
  functionName: 'list-refused-requests',
  auth: 'session',
  limit: refusedLimit,
  streams: false,
  grants: { table: { licenses: ['get'], refusals: ['query'] } },
} as const satisfies Route;

export const getAccount = {
  method: 'GET',
  path: '/account',
  functionName: 'get-account',
  auth: 'session',
  limit: accountLimit,
  streams: false,
  grants: { table: { accounts: ['get'] } },
} as const satisfies Route;

export const updateAccount = {
  method: 'PATCH',
  path: '/account',
  functionName: 'update-account',
  auth: 'session',
  limit: accountChangeLimit,
  streams: false,
  grants: { table: { accounts: ['get', 'update'] } },
} as const satisfies Route;

export const getUsage = {
  method: 'GET',
  path: '/usage',
  functionName: 'get-usage',
  auth: 'session',
  limit: usageLimit,
  streams: false,
  grants: {
    table: {
      licenses: ['get'],
      periods: ['get'],
      generations: ['query'],
      catalog: ['query'],
      keys: ['batchGet'],
    },
  },
} as const satisfies Route;

export const createKey = {
  method: 'POST',
  path: '/keys',
  functionName: 'create-key',
  auth: 'session',
  creationLimit: newKeyLimit,
  streams: false,
  grants: {
    table: {
      licenses: ['get'],
      activeKeys: ['batchGet', 'put'],
      rateLogs: ['batchGet', 'put'],
      keys: ['put'],
      audit: ['put'],
    },
  },
} as const satisfies Route;

export const listKeys = {
  method: 'GET',
  path: '/keys',
  functionName: 'list-keys',
  auth: 'session',
  limit: keysLimit,
  streams: false,
  grants: {
    table: { owners: ['query'], rateLogs: ['batchGet'], licenses: ['batchGet'], periods: ['batchGet'] },
  },
} as const satisfies Route;

export const updateKey = {
  method: 'PATCH',
  path: '/keys/{keyId}',
  functionName: 'update-key',
  auth: 'session',
  limit: changeKeyLimit,
  streams: false,
  grants: {
    table: {
      keys: ['get', 'update'],
      audit: ['put'],
      rateLogs: ['batchGet'],
      licenses: ['batchGet'],
      periods: ['batchGet'],
    },
  },
} as const satisfies Route;

export const revokeKey = {
  method: 'DELETE',
  path: '/keys/{keyId}',
  functionName: 'revoke-key',
  auth: 'session',
  streams: false,
  // Strangers must not keep an owner from revoking a key.
  throttle: 'account',
  reservedConcurrency: 20,
  grants: { table: { keys: ['get', 'update'], activeKeys: ['update'], audit: ['put'] } },
} as const satisfies Route;

export const createUpload = {
  method: 'POST',
  path: '/uploads',
  functionName: 'create-upload',
  auth: 'key_or_session',
  limit: uploadLimit,
  streams: false,
  grants: { table: { licenses: ['get'] }, writeObjects: [objects.uploads] },
} as const satisfies Route;

export const answerAgent = {
  method: 'POST',
  path: '/mcp',
  functionName: 'answer-agent',
  auth: 'key',
  limit: mcpLimit,
  streams: true,
  refusesOthers: true,
  apiFormat: 'mcp',
  grants: agentGrants,
} as const satisfies Route;

export const createPlaygroundGeneration = {
  method: 'POST',
  path: '/playground/generate',
  functionName: 'create-playground-generation',
  auth: 'session',
  limit: playgroundLimit,
  streams: true,
  grants: playgroundGrants,
} as const satisfies Route;

export const createOpenAiImage = {
  method: 'POST',
  path: '/openai/v1/images/generations',
  functionName: 'create-openai-image',
  auth: 'key',
  // That of POST /generate itself, so that neither is a way around the other's.
  limit: generateLimit,
  streams: true,
  apiFormat: 'openai',
  grants: {
    table: openAiItems,
    readObjects: [objects.generations, objects.adapters, objects.cancelled],
    writeObjects: [objects.generations],
    model: true,
    promptCheck: true,
  },
} as const satisfies Route;

export const editOpenAiImage = {
  method: 'POST',
  path: '/openai/v1/images/edits',
  functionName: 'edit-openai-image',
  auth: 'key',
  limit: generateLimit,
  streams: true,
  apiFormat: 'openai',
  maxBodyBytes: maxFormBytes,
  // Measured (docs/performance.md).
  memoryMb: 512,
  grants: {
    table: openAiEditItems,
    readObjects: [objects.generations, objects.adapters, objects.references, objects.cancelled],
    writeObjects: [objects.generations, objects.references],
    deleteObjects: [objects.references],
    model: true,
    promptCheck: true,
    references: true,
  },
} as const satisfies Route;

export const listOpenAiModels = {
  method: 'GET',
  path: '/openai/v1/models',
  functionName: 'list-openai-models',
  auth: 'key',
  limit: identitiesLimit,
  streams: false,
  apiFormat: 'openai',
  grants: { table: { catalog: ['query'] } },
} as const satisfies Route;

export const getOpenAiModel = {
  method: 'GET',
  path: '/openai/v1/models/{model}',
  functionName: 'get-openai-model',
  auth: 'key',
  limit: identitiesLimit,
  streams: false,
  apiFormat: 'openai',
  grants: { table: { catalog: ['get', 'query'] } },
} as const satisfies Route;

export const getHealth = {
  method: 'GET',
  path: '/health',
  functionName: 'get-health',
  auth: 'none',
  streams: false,
  throttle: healthThrottle,
  // More than revoking a key has, which comes first where an account has too few for both.
  reservedConcurrency: 25,
  // Without a component, the model is probed.
  grants: { table: { model: ['get'] }, model: true, modelStatus: true },
} as const satisfies Route;

export const getOpenApi = {
  method: 'GET',
  path: '/openapi.json',
  functionName: 'get-openapi',
  auth: 'none',
  streams: false,
  throttle: documentThrottle,
  grants: {},
} as const satisfies Route;
