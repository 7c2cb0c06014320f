import type { FailureReason } from './contract.ts';

/** Ends a request with this reason, and a sentence without a prompt or a link. */
export class Failure extends Error {
  readonly reason: FailureReason;
  /** The index of the reference image that it is about. */
  readonly reference: number | undefined;
  constructor(reason: FailureReason, message: string, reference?: number) {
    super(message);
    this.reason = reason;
    this.reference = reference;
  }
}
