/** Why a reference image can't be used, as the end of a sentence that begins with its name. It repeats no link. */
export class UnreadableReference extends Error {
  /** The first where it could not be fetched, the other where it is the file's own fault. */
  readonly reason: 'reference_unreadable' | 'reference_invalid';
  constructor(reason: UnreadableReference['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}
