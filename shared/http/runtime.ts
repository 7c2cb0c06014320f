import { readEnvironment, type Environment } from '../config.ts';
import { systemClock, type Clock } from '../domain/clock.ts';
import { openTable, type Table } from '../store/table.ts';
import { jsonLog, type Log } from './log.ts';

/** What a handler is made from, once per cold start. */
export interface Runtime {
  env: Environment;
  /** Opened when first asked for. */
  table(): Table;
  clock: Clock;
  log: Log;
}

export function openRuntime(): Runtime {
  const env = readEnvironment();
  return { env, table: once(() => openTable(env.tableName)), clock: systemClock, log: jsonLog() };
}

/** The same value each time, made when it is first asked for. */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
