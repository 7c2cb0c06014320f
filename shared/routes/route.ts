import type { RateLimit } from '../limits/rate-limit.ts';
import type { Grants } from './grants.ts';
import type { RouteLimit } from './limits.ts';

export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the base address, with API Gateway's `{parameters}`. */
  path: string;
  /** The file in `functions/` whose `handler` answers. */
  functionName: string;
  auth: 'key' | 'session' | 'key_or_session' | 'none';
  limit?: RouteLimit;
  /** A limit of what the route makes, for one account. Its function counts it where it makes it: refusals don't count. */
  creationLimit?: RateLimit;
  /** Answers may take minutes or be event streams, so API Gateway must not buffer them. */
  streams: boolean;
  /** Whose words its bodies and errors are in, where they are not this API's own. Those describe it, not our document. */
  apiFormat?: 'openai' | 'mcp';
  /**
   * A limit for all callers together, where it is not the whole API's; `account` for none but AWS's for the whole account.
   * API Gateway counts callers before they are known, so strangers can use up any such limit.
   */
  throttle?: Throttle | 'account';
  /** See `Job`. */
  reservedConcurrency?: number;
  /** Whether every other method of its path is refused with 405, as its protocol wants. Elsewhere one that no route has is 404. */
  refusesOthers?: true;
  /** Of its function, where that needs more than the others. */
  memoryMb?: number;
  /** In bytes, where it takes larger ones than `maxBodyBytes`. */
  maxBodyBytes?: number;
  /** What the function needs beside authentication, for which `grantsOf` adds grants. */
  grants: Grants;
}

export interface Throttle {
  ratePerSecond: number;
  burst: number;
}
