import { holds } from './conditions.ts';
import { db } from './dynalite.ts';
import type { Item, Range, Request, Section } from './dynalite.ts';

const pageBytes = 1024 * 1024;

type QueryArguments = Parameters<typeof db.queryTable>;

interface Page {
  entries: Item[];
  /** Whether there may be more. */
  isFull: boolean;
}

/**
 * Reads one page of a Query or Scan. dynalite's actions call it in place of dynalite's own function, which
 * builds three Node streams a page, leaves LevelDB's iterators open and filters with dynalite's conditions.
 */
export function queryTable(...[store, table, request, range, , , startKeyNames, done]: QueryArguments): void {
  const source = request.IndexName
    ? store.getIndexDb('global', request.TableName, request.IndexName)
    : store.getItemDb(request.TableName);
  const rangeKey = table.KeySchema[1]?.AttributeName;
  readEntries(source, range, request.Limit, rangeKey).then(
    (page) => done(null, answerOf(request, page, startKeyNames)),
    (error: unknown) => done(error),
  );
}

function answerOf(request: Request, { entries, isFull }: Page, startKeyNames: string[]) {
  const Items = entries.filter((item) => !request._filter || holds(request._filter.expression, item));
  const last = isFull ? entries.at(-1) : undefined;
  return {
    Count: Items.length,
    ScannedCount: entries.length,
    Items,
    ...(last && { LastEvaluatedKey: Object.fromEntries(startKeyNames.map((name) => [name, last[name]])) }),
    ...capacity(request, entries),
  };
}

/** As DynamoDB does, it says of every full page that there may be more, without looking. */
async function readEntries(
  source: Section,
  range: Range,
  limit = Infinity,
  rangeKey?: string,
): Promise<Page> {
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

/** Half a unit for each 4 KB read, a whole one for a strong read. Empty unless the request asked for it. */
function capacity({ ReturnConsumedCapacity: wanted, TableName, ConsistentRead }: Request, entries: Item[]) {
  if (wanted !== 'TOTAL' && wanted !== 'INDEXES') return {};
  const bytes = entries.reduce((sum, item) => sum + db.itemSize(item), 0);
  const CapacityUnits = Math.ceil(bytes / 4096) * (ConsistentRead ? 1 : 0.5);
  return { ConsumedCapacity: { CapacityUnits, TableName } };
}
