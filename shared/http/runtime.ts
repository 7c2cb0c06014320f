import { readEnvironment, type Environment } from '../base/config.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import { openTable, type Table } from '../table/table.ts';
import { lazy } from '../base/lazy.ts';
import { jsonLog, type Log } from '../base/log.ts';

/** What a handler is made from, once per cold start. */
export interface Runtime {
  env: Environment;
  /** Opened when first asked for. */
  table(): Table;
  clock: Clock;
  log: Log;
  /** Aborts when the host wants running requests to end. In Lambda it never aborts. */
  stopping: AbortSignal;
}

let stopping = new AbortController().signal;

/** For a host that can be stopped; set before the first request. */
export function setStopSignal(signal: AbortSignal): void {
  stopping = signal;
}

export function openRuntime(): Runtime {
  const env = readEnvironment();
  return { env, table: lazy(() => openTable(env.tableName)), clock: systemClock, log: jsonLog(), stopping };
}
