import type { FailureReason } from './contract.ts';

/** Ends a request with this reason, and a sentence that tells no prompt and no link. */
export class Failure extends Error {
  readonly reason: FailureReason;
  constructor(reason: FailureReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
