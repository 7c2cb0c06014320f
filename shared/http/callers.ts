import type { ApiKey } from '../keys/item.ts';
import type { RequestRights } from '../keys/rights.ts';
import type { License } from '../licenses/license.ts';
import type { Route } from '../routes/route.ts';

/** A key whose license is active. */
export interface KeyCaller {
  kind: 'key';
  /** What limits and idempotency keys are kept under: the keyId. */
  callerId: string;
  key: ApiKey;
  ownerId: string;
  licenseId: string;
  /** Credits of a month that the key may use; null for one without a budget. */
  keyBudget: number | null;
  /** Requests of the key that may be in flight; null for as many as its license may have. */
  keyMaxInFlight: number | null;
  rights: RequestRights;
  license: License;
}

/** A signed-in account. It sees only what is its own. */
export interface SessionCaller {
  kind: 'session';
  /** What limits and idempotency keys are kept under: `acct_` and the account. */
  callerId: string;
  ownerId: string;
  rights: RequestRights;
}

export type Caller = KeyCaller | SessionCaller;

interface Callers {
  key: KeyCaller;
  session: SessionCaller;
  key_or_session: Caller;
  none: null;
}

export type CallerOf<R extends Route> = Callers[R['auth']];
