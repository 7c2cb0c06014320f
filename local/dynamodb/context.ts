import type { Level, Write } from './dynalite.ts';
import type { Tokens } from './tokens.ts';

/** What an operation works with. */
export interface Context {
  level: Level;
  tokens: Tokens;
  /** Writes all of it as one batch, or nothing. */
  commit(writes: Write[]): Promise<void>;
  /**
   * Runs work that writes, one at a time. Single writes and transactions are thereby serialisable together:
   * each reads what the one before it committed.
   */
  exclusive<T>(work: () => Promise<T>): Promise<T>;
}
