import { Readable } from 'node:stream';
import type { Callback, Cursor, Item, Level, Range, Section } from './dynalite.ts';
import type { Snapshot, Store, TableDefinition, Write } from './dynalite.ts';
import { fault } from './faults.ts';

/** Limits that dynalite reads. Tables are ready at once: nothing waits for AWS's provisioning here. */
export const limits = { maxItemSize: 400 * 1024, createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 };

interface View {
  store: Store;
  /** What the actions run on the store want written, in order. */
  writes: Write[];
}

/**
 * The database as dynalite's actions see it for one request: reads go to LevelDB, at once and without a
 * thread, writes are only collected. The caller commits them as one batch, so a request is written wholly or
 * not at all, its indexes included. Actions do not see what they wrote, which no action needs.
 */
export function openView(
  level: Level,
  { snapshot, onTableWrite }: { snapshot?: Snapshot; onTableWrite?: () => void } = {},
): View {
  const writes: Write[] = [];
  const reading = snapshot && { snapshot };
  const section = (prefix: string) => openSection(level, prefix, writes, reading);
  const remove = (prefix: string, done: (error: unknown) => void) => {
    const keys = level.keys(within(prefix)).all();
    const collected = keys.then((all) => all.forEach((key) => writes.push({ type: 'del', key })));
    collected.then(() => done(null), done);
  };
  const tableDb = { ...section('table~'), awsAccountId: '000000000000', awsRegion: 'us-east-1' };
  const store: Store = {
    options: limits,
    tableDb: onTableWrite ? { ...tableDb, ...announcing(tableDb, onTableWrite) } : tableDb,
    getTable(name, isData, done) {
      const answer = typeof isData === 'function' ? isData : done;
      if (answer) settle(answer, () => readTable(level, name, isData !== false));
    },
    getItemDb: (table) => section(`item-${table}~`),
    deleteItemDb: (table, done) => remove(`item-${table}~`, done),
    getIndexDb: (kind, table, index) => section(indexPrefix(kind, table, index)),
    deleteIndexDb: (kind, table, index, done) => remove(indexPrefix(kind, table, index), done),
    getTagDb: (table) => section(`tag-${table}~`),
    deleteTagDb: (table, done) => remove(`tag-${table}~`, done),
  };
  return { store, writes };
}

/**
 * A table's definition. `isData` tells a request for data from one about the table, whose error has more
 * words.
 */
export function readTable(level: Level, name: string, isData = true): TableDefinition {
  const table = level.getSync(`table~${name}`);
  if (table) return table as TableDefinition;
  const about = isData ? '' : `: Table: ${name} not found`;
  throw fault('ResourceNotFoundException', `Requested resource not found${about}`);
}

/** The names in a section never contain `~`, and its keys are ASCII, so this is exactly the section. */
export function within(prefix: string, range: Range = {}): Range {
  const { gt, gte, lt, lte, ...others } = range;
  return {
    ...others,
    ...(gt !== undefined ? { gt: prefix + gt } : { gte: prefix + (gte ?? '') }),
    ...(lt !== undefined ? { lt: prefix + lt } : { lte: prefix + (lte ?? '\uffff') }),
  };
}

function indexPrefix(kind: string, table: string, index: string): string {
  return `index-${kind.toLowerCase()}~${table}~${index}~`;
}

function openSection(
  level: Level,
  prefix: string,
  writes: Write[],
  reading?: { snapshot: Snapshot },
): Section {
  const add = (write: Write) => void writes.push({ ...write, key: prefix + write.key });
  return {
    // Writes run one at a time (see engine.ts), so that a lock is always free.
    lock: (_key, run) => run((done) => done),
    get: (key, done) => settle(done, () => level.getSync(prefix + key, reading)),
    put(key, value, done) {
      add({ type: 'put', key, value });
      done(null);
    },
    del(key, done) {
      add({ type: 'del', key });
      done(null);
    },
    batch(several, done) {
      several.forEach(add);
      done(null);
    },
    values: (range) => level.values(within(prefix, range)) as Cursor<Item>,
    createKeyStream: () => stream(level.keys(within(prefix)), (key) => key.slice(prefix.length)),
    createValueStream: () => stream(level.values(within(prefix)), (value) => value),
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

/** Only the names of tables and their tags are read as streams, of which there are few. */
function stream<T>(cursor: Cursor<T>, as: (entry: T) => unknown): Readable {
  async function* entries() {
    for (const entry of await cursor.all()) yield as(entry);
  }
  return Readable.from(entries());
}

function announcing({ put, del }: Section, onWrite: () => void): Pick<Section, 'put' | 'del'> {
  return {
    put(key, value, done) {
      put(key, value, done);
      onWrite();
    },
    del(key, done) {
      del(key, done);
      onWrite();
    },
  };
}
