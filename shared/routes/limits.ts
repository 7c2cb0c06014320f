import type { RateLimit } from '../limits/rate-limit.ts';
import { withMembers } from './with-members.ts';

/** Of a body. */
export const maxBodyBytes = 1024 * 1024;
/**
 * Of a body with files. Lambda takes events of 6,291,456 bytes (AWS Lambda, "Lambda quotas": 6 MB for a request). API Gateway
 * writes a binary body into them as base64, so 4.5 MiB would be all of it; of 4.25 MiB a twentieth is left for the rest, as headers.
 */
export const maxFormBytes = 4.25 * 1024 * 1024;

export function bodyTooLarge(maxBytes: number): string {
  return `The body must be at most ${maxBytes / 1024 / 1024} MiB.`;
}

export interface RouteLimit extends RateLimit {
  /** What happens when the limit itself can't be checked: routes that spend money refuse, routes that read go on. */
  onFault: 'refuse' | 'allow';
}

export const generateLimit: RouteLimit = {
  name: 'generate',
  quota: 10,
  windowSeconds: 60,
  onFault: 'refuse',
};
export const fetchLimit: RouteLimit = { name: 'fetch', quota: 60, windowSeconds: 60, onFault: 'allow' };
/** The figures of `fetch`, so that whoever looks at requests one by one can delete them as fast. */
export const deleteLimit: RouteLimit = withMembers(fetchLimit, { name: 'delete' });
export const cancelLimit: RouteLimit = withMembers(fetchLimit, { name: 'cancel' });
/** The figures of `fetch`, so that reading a list is no way around it. */
export const listLimit: RouteLimit = withMembers(fetchLimit, { name: 'list' });
export const identitiesLimit: RouteLimit = withMembers(fetchLimit, { name: 'identities' });
export const keyLimit: RouteLimit = withMembers(fetchLimit, { name: 'key' });
/** For each active key, the rate logs of all of `keyLimitNames` are read. */
export const keysLimit: RouteLimit = withMembers(fetchLimit, { name: 'keys' });
/** Each change is kept in the license's audit log. */
export const changeKeyLimit: RouteLimit = {
  name: 'change-key',
  quota: 30,
  windowSeconds: 60,
  onFault: 'allow',
};
/** New keys of an account, however many licenses it has. */
export const newKeyLimit: RateLimit = { name: 'new-keys', quota: 100, windowSeconds: 24 * 3600 };

export const usageLimit: RouteLimit = { name: 'usage', quota: 30, windowSeconds: 60, onFault: 'allow' };
export const accountLimit: RouteLimit = withMembers(usageLimit, { name: 'account' });
export const accountChangeLimit: RouteLimit = withMembers(usageLimit, { name: 'change-account' });
export const activityLimit: RouteLimit = withMembers(usageLimit, { name: 'activity' });
/** A month of an account with many keys is hundreds of items. */
export const refusalsLimit: RouteLimit = withMembers(usageLimit, { name: 'refusals' });
export const refusedLimit: RouteLimit = withMembers(usageLimit, { name: 'refused' });
/** Four reference images for each of the ten requests that a key may send. */
export const uploadLimit: RouteLimit = { name: 'upload', quota: 40, windowSeconds: 60, onFault: 'refuse' };
/**
 * Of an agent's messages, whatever they ask for. The figures of `fetch`, so that the tools that read are no way around it;
 * those that POST /generate stands for count in its log, too.
 */
export const mcpLimit: RouteLimit = withMembers(fetchLimit, { name: 'mcp' });
export const playgroundLimit: RouteLimit = withMembers(generateLimit, { name: 'playground' });

/** `Prefer: wait=n` at most: many proxies end a connection on which nothing comes for longer. */
export const maxWaitSeconds = 60;

/** The limits whose logs say when a key was last used. */
export const keyLimitNames = [
  generateLimit.name,
  fetchLimit.name,
  deleteLimit.name,
  cancelLimit.name,
  listLimit.name,
  identitiesLimit.name,
  keyLimit.name,
  uploadLimit.name,
  mcpLimit.name,
];

/**
 * For all callers together: a program that watches the service is answered while strangers use up what the whole API takes.
 * At once as many as may run.
 */
export const healthThrottle = { ratePerSecond: 100, burst: 25 };

/** For all callers together: the document is large and open to everyone, and each byte that is sent costs money. */
export const documentThrottle = { ratePerSecond: 5, burst: 10 };
