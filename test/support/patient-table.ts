import { openTable, type Table } from '../../shared/store/table.ts';

/**
 * A table that is waited for. Where the engine runs in the test's own process, dozens of calls at once share one
 * thread with it, and a busy machine takes longer over one of them than the service would wait.
 */
export function patientTable(name: string): Table {
  return openTable(name, { requestTimeoutMs: 60_000 });
}
