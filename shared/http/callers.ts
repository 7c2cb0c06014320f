import type { License } from '../domain/license.ts';
import type { Route } from '../routes.ts';

/** Who sent a request, known by its credential alone: access is still to be checked. */
export type Credential = KeyCredential | SessionCredential;

export interface KeyCredential {
  kind: 'key';
  /** What limits and idempotency keys are kept under: the keyId. */
  callerId: string;
  ownerId: string;
  licenseId: string;
}

export interface SessionCredential {
  kind: 'session';
  /** What limits and idempotency keys are kept under: `acct_` and the account. */
  callerId: string;
  ownerId: string;
}

/** A key whose license is active. */
export interface KeyCaller extends KeyCredential {
  license: License;
}

/** A signed-in account. It sees only what is its own. */
export type SessionCaller = SessionCredential;

interface Callers {
  key: KeyCaller;
  session: SessionCaller;
  key_or_session: KeyCaller | SessionCaller;
  none: null;
}

interface Credentials {
  key: KeyCredential;
  session: SessionCredential;
  key_or_session: Credential;
  none: null;
}

export type CallerOf<R extends Route> = Callers[R['auth']];
export type CredentialOf<R extends Route> = Credentials[R['auth']];
