import { accountChangeLimit, accountLimit, activityLimit, refusalsLimit } from './limits.ts';
import type { Route } from './route.ts';

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
