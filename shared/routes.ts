import type { RateLimit } from './domain/rate-limit.ts';

/** What a function may touch; infrastructure grants exactly this. */
export interface Grants {
  table: 'none' | 'read' | 'write';
  /** Prefixes of the bucket that it may read, write or hand out links for. */
  readObjects?: readonly string[];
  writeObjects?: readonly string[];
  model?: boolean;
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
  grants: Grants;
}

export interface RouteLimit extends RateLimit {
  /** What happens when the limit itself can't be checked: money is never spent unchecked, reading goes on. */
  onFault: 'refuse' | 'allow';
}

const generateLimit: RouteLimit = { name: 'generate', quota: 10, windowSeconds: 60, onFault: 'refuse' };
const fetchLimit: RouteLimit = { name: 'fetch', quota: 60, windowSeconds: 60, onFault: 'allow' };
const usageLimit: RouteLimit = { name: 'usage', quota: 30, windowSeconds: 60, onFault: 'allow' };
const playgroundLimit: RouteLimit = { ...generateLimit, name: 'playground' };

const generations = 'generations/*';
const adapters = 'adapters/*';

/** Every endpoint as data: the API, its grants, its documents and its tests are made from this table. */
export const routes = {
  createGeneration: {
    method: 'POST',
    path: '/generate',
    functionName: 'create-generation',
    auth: 'key',
    limit: generateLimit,
    streams: true,
    grants: {
      table: 'write',
      readObjects: [generations, adapters],
      writeObjects: [generations],
      model: true,
    },
  },
  getGeneration: {
    method: 'GET',
    path: '/generate/{requestId}',
    functionName: 'get-generation',
    auth: 'key_or_session',
    limit: fetchLimit,
    streams: false,
    grants: { table: 'write', readObjects: [generations] },
  },
  listGenerations: {
    method: 'GET',
    path: '/generate',
    functionName: 'list-generations',
    auth: 'key_or_session',
    streams: false,
    grants: { table: 'read', readObjects: [generations] },
  },
  listIdentities: {
    method: 'GET',
    path: '/identities',
    functionName: 'list-identities',
    auth: 'key_or_session',
    streams: false,
    grants: { table: 'read' },
  },
  listLicenses: {
    method: 'GET',
    path: '/licenses',
    functionName: 'list-licenses',
    auth: 'session',
    streams: false,
    grants: { table: 'read' },
  },
  getUsage: {
    method: 'GET',
    path: '/usage',
    functionName: 'get-usage',
    auth: 'session',
    limit: usageLimit,
    streams: false,
    grants: { table: 'write' },
  },
  createKey: {
    method: 'POST',
    path: '/keys',
    functionName: 'create-key',
    auth: 'session',
    streams: false,
    grants: { table: 'write' },
  },
  listKeys: {
    method: 'GET',
    path: '/keys',
    functionName: 'list-keys',
    auth: 'session',
    streams: false,
    grants: { table: 'read' },
  },
  revokeKey: {
    method: 'DELETE',
    path: '/keys/{keyId}',
    functionName: 'revoke-key',
    auth: 'session',
    streams: false,
    grants: { table: 'write' },
  },
  createPlaygroundGeneration: {
    method: 'POST',
    path: '/playground/generate',
    functionName: 'create-playground-generation',
    auth: 'session',
    limit: playgroundLimit,
    streams: true,
    grants: {
      table: 'write',
      readObjects: [generations, adapters],
      writeObjects: [generations],
      model: true,
    },
  },
  getHealth: {
    method: 'GET',
    path: '/health',
    functionName: 'get-health',
    auth: 'none',
    streams: false,
    grants: { table: 'none', model: true },
  },
} as const satisfies Record<string, Route>;

/** The limits that a key's use is recorded under. */
export const keyLimitNames = [generateLimit.name, fetchLimit.name];

export interface Job {
  functionName: string;
  everyMinutes: number;
  grants: Grants;
}

export const jobs = {
  sweep: { functionName: 'sweep', everyMinutes: 1, grants: { table: 'write' } },
} as const satisfies Record<string, Job>;

/** The version is part of every address. */
export const basePath = '/api/v1';
