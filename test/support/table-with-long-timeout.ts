import { openTable, type Table } from '../../shared/table/table.ts';

/**
 * A table whose requests may take long. In tests whose engine runs in their own process, dozens of calls at once share
 * one thread with it, and a busy machine takes longer for one of them than the service's time-out.
 */
export function tableWithLongTimeout(name: string): Table {
  return openTable(name, { requestTimeoutMs: 60_000 });
}
