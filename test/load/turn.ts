import type { ErrorCode } from '../../shared/errors.ts';
import type { Random } from '../faults/simulation/random.ts';
import type { FuzzAccount } from '../fuzz/accounts.ts';
import type { ApiAnswer, ApiCall } from '../support/service.ts';
import type { Ledger } from './ledger.ts';
import type { LoadWorld } from './world.ts';

export interface Call extends ApiCall {
  /** Goes away after so many milliseconds, whatever was answered until then. */
  hangUpAfterMs?: number;
}

/** A request that was sent with an idempotency key, for others to repeat. */
export interface Sent {
  key: string;
  idempotencyKey: string;
  body: Record<string, unknown>;
}

/** What a client uses for one operation. */
export interface Turn {
  random: Random;
  account: FuzzAccount;
  world: LoadWorld;
  /** Requests that were accepted, of this account and of others. */
  requests: { account: FuzzAccount; requestId: string }[];
  sent: Sent[];
  ledger: Ledger;
  /**
   * Sends a request and has the ledger judge its answer.
   * @param expected error codes, or statuses of successes, that it may be answered with
   * @returns null when there is no answer
   */
  ask(operation: string, call: Call, expected: readonly (ErrorCode | number)[]): Promise<ApiAnswer | null>;
}
