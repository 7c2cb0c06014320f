import { holds } from './conditions.ts';
import { db } from './dynalite.ts';
import type { Callback, Item, Range, Request, Section, Store, TableDefinition } from './dynalite.ts';

const pageBytes = 1024 * 1024;

/** A read of one range, as Query and Scan prepare it. */
interface Reading {
  store: Store;
  table: TableDefinition;
  request: Request;
  range: Range;
  isLocal: boolean;
  /** True if the index lacks attributes that were asked for, which a local index may. */
  fetchItems: boolean;
  startKeyNames: string[];
}

/**
 * Reads one page of a Query or Scan. dynalite's actions call it, in place of dynalite's own function, which
 * builds three Node streams a page, leaves LevelDB's iterators open and filters with dynalite's conditions.
 */
export function queryTable(
  store: Store,
  table: TableDefinition,
  request: Request,
  range: Range,
  isLocal: boolean,
  fetchItems: boolean,
  startKeyNames: string[],
  done: Callback,
): void {
  const reading = { store, table, request, range, isLocal, fetchItems, startKeyNames };
  readPage(reading).then(
    (page) => done(null, page),
    (error: unknown) => done(error),
  );
}

async function readPage({ store, table, request, range, isLocal, fetchItems, startKeyNames }: Reading) {
  const items = store.getItemDb(request.TableName);
  const source = request.IndexName
    ? store.getIndexDb(isLocal ? 'local' : 'global', request.TableName, request.IndexName)
    : items;
  const { entries, isFull } = await readEntries(
    source,
    range,
    request.Limit,
    table.KeySchema[1]?.AttributeName,
  );
  const found = fetchItems ? entries.map((entry) => itemBehind(entry, items, table)) : entries;
  const kept = found.filter((item) => passesFilter(item, request));
  const last = isFull ? entries.at(-1) : undefined;
  const paths = request._projection?.paths ?? request.AttributesToGet;
  return {
    Count: kept.length,
    ScannedCount: entries.length,
    ...(request.Select !== 'COUNT' && { Items: paths ? kept.map((item) => db.mapPaths(paths, item)) : kept }),
    ...(last && { LastEvaluatedKey: Object.fromEntries(startKeyNames.map((name) => [name, last[name]])) }),
    ...capacity(request, entries, fetchItems ? found : [], isLocal),
  };
}

/** DynamoDB says that there may be more once a page is full, without looking whether there is. */
async function readEntries(source: Section, range: Range, limit = Infinity, rangeKey?: string) {
  const entries: Item[] = [];
  const cursor = source.values(range);
  let bytes = 0;
  try {
    for (;;) {
      const some = await cursor.nextv(Math.min(limit - entries.length, 100));
      if (some.length === 0) return { entries, isFull: false };
      for (const entry of some) {
        entries.push(entry);
        bytes += db.itemSize(entry, true, true, rangeKey);
        if (entries.length >= limit || bytes >= pageBytes) return { entries, isFull: true };
      }
    }
  } finally {
    await cursor.close();
  }
}

function itemBehind(entry: Item, items: Section, table: TableDefinition): Item {
  let item = entry;
  items.get(db.createKey(entry, table), (_, found) => {
    item = (found ?? entry) as Item;
  });
  return item;
}

function passesFilter(item: Item, request: Request): boolean {
  if (request._filter) return holds(request._filter.expression, item);
  const filter = request.QueryFilter ?? request.ScanFilter;
  return !filter || db.matchesFilter(item, filter, request.ConditionalOperator);
}

/** Half a unit for each 4 KB read, a whole one for a strong read; none unless it was asked for. */
function capacity(request: Request, entries: Item[], fetched: Item[], isLocal: boolean) {
  const { ReturnConsumedCapacity: wanted, TableName, IndexName } = request;
  if (wanted !== 'TOTAL' && wanted !== 'INDEXES') return {};
  const units = (items: Item[]) => {
    const bytes = items.reduce((sum, item) => sum + db.itemSize(item), 0);
    return Math.ceil(bytes / 4096) * (request.ConsistentRead ? 1 : 0.5);
  };
  const [inIndex, inTable] = IndexName ? [units(entries), units(fetched)] : [0, units(entries)];
  const total = { CapacityUnits: inIndex + inTable, TableName };
  if (wanted === 'TOTAL') return { ConsumedCapacity: total };
  const byIndex = IndexName && {
    [isLocal ? 'LocalSecondaryIndexes' : 'GlobalSecondaryIndexes']: {
      [IndexName]: { CapacityUnits: inIndex },
    },
  };
  return { ConsumedCapacity: { ...total, Table: { CapacityUnits: inTable }, ...byIndex } };
}
