import type { Callback, Cursor, Item, Level, Range, Section } from './dynalite.ts';
import type { Store, TableDefinition, Write } from './dynalite.ts';
import { fault } from './faults.ts';

/** What an operation works with. */
export interface Context {
  level: Level;
  /** Milliseconds since 1970. */
  now(): number;
  /** ClientRequestTokens of committed transactions, the oldest first. */
  tokens: Map<string, { fingerprint: string; committedAtMs: number }>;
  /** Writes all of it as one batch, or nothing. */
  commit(writes: Write[]): Promise<void>;
  /**
   * Runs work that writes, one at a time. Single writes and transactions are thereby serialisable together:
   * each reads what the one before it committed.
   */
  exclusive<T>(work: () => Promise<T>): Promise<T>;
}

/** Limits that dynalite reads. */
export const limits = { maxItemSize: 400 * 1024 };

interface View {
  store: Store;
  /** The writes of the actions that ran on the store, in order. */
  writes: Write[];
}

/**
 * The database as dynalite's actions see it for one request. Reads go to LevelDB at once; writes are only
 * collected. The caller commits them as one batch, so a request is written wholly or not at all, with its
 * indexes. An action does not see its own writes; no action needs to.
 */
export function openView(level: Level): View {
  const writes: Write[] = [];
  const section = (prefix: string) => openSection(level, prefix, writes);
  const store: Store = {
    options: limits,
    getTable(name, isData, done) {
      const answer = typeof isData === 'function' ? isData : done;
      if (answer) settle(answer, () => readTable(level, name));
    },
    getItemDb: (table) => section(`item-${table}~`),
    getIndexDb: (kind, table, index) => section(`index-${kind.toLowerCase()}~${table}~${index}~`),
  };
  return { store, writes };
}

export const tableKey = (name: string) => `table~${name}`;

/** Tables that were read, by database and name. No operation changes or deletes a table. */
const tables = new WeakMap<Level, Map<string, TableDefinition>>();

export function readTable(level: Level, name: string): TableDefinition {
  const known = tables.get(level) ?? tables.set(level, new Map()).get(level)!;
  const table = known.get(name) ?? (level.getSync(tableKey(name)) as TableDefinition | undefined);
  if (!table) throw fault('ResourceNotFoundException', 'Requested resource not found');
  known.set(name, table);
  return table;
}

/** The names in a section never contain `~`, and its keys are ASCII, so this is exactly the section. */
function within(prefix: string, { gt, gte, lt, lte, ...others }: Range): Range {
  return {
    ...others,
    ...(gt !== undefined ? { gt: prefix + gt } : { gte: prefix + (gte ?? '') }),
    ...(lt !== undefined ? { lt: prefix + lt } : { lte: prefix + (lte ?? '\uffff') }),
  };
}

function openSection(level: Level, prefix: string, writes: Write[]): Section {
  const add = (write: Write, done: Callback) => {
    writes.push({ ...write, key: prefix + write.key });
    done(null);
  };
  return {
    // Writes run one at a time (see engine.ts), so a lock is always free.
    lock: (_key, run) => run((done) => done),
    get: (key, done) => settle(done, () => level.getSync(prefix + key)),
    put: (key, value, done) => add({ type: 'put', key, value }, done),
    del: (key, done) => add({ type: 'del', key }, done),
    values: (range) => level.values(within(prefix, range)) as Cursor<Item>,
  };
}

/** Calls back with what was read. An error in `done` itself is not caught. */
function settle<T>(done: Callback<T>, read: () => T): void {
  let value: T;
  try {
    value = read();
  } catch (error) {
    return done(error);
  }
  done(null, value);
}
