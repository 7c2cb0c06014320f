import type { Grants, TableGrants } from './grants.ts';
import * as objects from './objects.ts';

interface CognitoCalls {
  byOperators: readonly string[];
  byAccounts: readonly string[];
}

/** A function that no request calls. */
export interface Job {
  functionName: string;
  /**
   * What starts it: the clock, a queue of events, another function, which may wait for its answer or not, or calls of Cognito
   * that CloudTrail tells of: those of operators, who name the pool, and those of an account itself.
   */
  trigger: { everyMinutes: number } | { calls: CognitoCalls } | 'queue' | 'function';
  /**
   * Executions at once that a flood of other requests can't take from it, and the most that it may have itself. They are
   * reserved where the account's quota allows it.
   */
  reservedConcurrency?: number;
  grants: Grants;
}

/** What ending a request without an image takes. */
const releasing = {
  generations: ['get', 'update'],
  periods: ['get', 'update'],
  idempotency: ['delete'],
} as const satisfies TableGrants;

export const jobs = {
  sweep: {
    functionName: 'sweep',
    trigger: { everyMinutes: 1 },
    reservedConcurrency: 2,
    grants: {
      table: {
        leases: ['query'],
        ...releasing,
        deletions: ['get', 'update', 'delete'],
      },
      deleteObjects: [objects.generations, objects.references],
    },
  },
  sendNotices: {
    functionName: 'send-notices',
    trigger: { everyMinutes: 1 },
    grants: {
      table: {
        notifications: ['query', 'update', 'delete'],
        licenses: ['get'],
        owners: ['query'],
        periods: ['get'],
        accounts: ['get'],
        keys: ['batchGet'],
      },
      accountDirectory: true,
      mail: true,
    },
  },
  runGeneration: {
    functionName: 'run-generation',
    trigger: 'queue',
    grants: {
      table: {
        ...releasing,
        notifications: ['put'],
        catalog: ['get'],
        model: ['get', 'put'],
        refusals: ['update'],
      },
      readObjects: [objects.generations, objects.adapters, objects.references, objects.cancelled],
      writeObjects: [objects.generations],
      deleteObjects: [objects.references],
      model: true,
    },
  },
  releaseGeneration: {
    functionName: 'release-generation',
    trigger: 'queue',
    grants: { table: releasing, deleteObjects: [objects.references] },
  },
  billingEvents: {
    functionName: 'billing-events',
    trigger: 'queue',
    reservedConcurrency: 3,
    grants: {
      table: {
        licenses: ['get', 'put', 'update'],
        audit: ['put'],
        purchases: ['get', 'put'],
        periods: ['get', 'update'],
      },
    },
  },
  endSessions: {
    functionName: 'end-sessions',
    trigger: {
      calls: {
        byOperators: ['AdminUserGlobalSignOut', 'AdminDisableUser', 'AdminDeleteUser'],
        byAccounts: ['GlobalSignOut', 'DeleteUser'],
      },
    },
    grants: { table: { accounts: ['update'] } },
  },
  fetchReferences: {
    functionName: 'fetch-references',
    trigger: 'function',
    // It opens addresses that strangers name, so it may access nothing that an attacker could use.
    grants: {},
  },
} as const satisfies Record<string, Job>;
