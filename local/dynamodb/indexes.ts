import { db } from './dynalite.ts';
import type { Callback, IndexDefinition, Item } from './dynalite.ts';
import type { KeySchemaElement, ServiceFault, Store, TableDefinition } from './dynalite.ts';
import { wrongNumber } from './numbers.ts';

/**
 * Where an item stands in an index: the index's key, then the item's own.
 *
 * dynalite ends the key with 24 bits of a hash of the item's key, so that two items with one index key can
 * overwrite each other's entry: among 5,000 items with one hash key and no range key that is more likely than
 * not.
 */
export function createIndexKey(item: Item, table: TableDefinition, keySchema: KeySchemaElement[]): string {
  return db.createKey(item, table, keySchema) + db.createKey(item, table);
}

/**
 * Updates a table's indexes. dynalite's actions call it before they write the item, so it is also where an invalid
 * updated item is refused.
 */
export function updateIndexes(
  store: Store,
  table: TableDefinition,
  existing: Item | null | undefined,
  item: Item | null,
  done: Callback,
): void {
  const wrong = item && wrongNumber(item);
  if (wrong) return done(wrong);
  const empty = item && emptyIndexKey(item, table);
  if (empty) {
    return done(
      invalid(
        'The update expression attempted to update a secondary index key to a value that is not',
        empty,
      ),
    );
  }
  const nothing = () => {};
  for (const index of table.GlobalSecondaryIndexes ?? []) {
    const section = store.getIndexDb('global', table.TableName, index.IndexName);
    const before =
      existing && hasKey(existing, index) ? createIndexKey(existing, table, index.KeySchema) : null;
    const after = item && hasKey(item, index) ? createIndexKey(item, table, index.KeySchema) : null;
    if (before !== null && before !== after) section.del(before, nothing);
    if (item && after !== null) section.put(after, projected(item, table, index), nothing);
  }
  done(null);
}

function hasKey(item: Item, index: IndexDefinition): boolean {
  return index.KeySchema.every(({ AttributeName }) => item[AttributeName] !== undefined);
}

function projected(item: Item, table: TableDefinition, index: IndexDefinition): Item {
  if (index.Projection.ProjectionType === 'ALL') return item;
  const keys = [...index.KeySchema, ...table.KeySchema].map(({ AttributeName }) => AttributeName);
  const names = new Set([...keys, ...(index.Projection.NonKeyAttributes ?? [])]);
  return Object.fromEntries(Object.entries(item).filter(([name]) => names.has(name)));
}

/**
 * Adds to dynalite's check of an item to be put: like DynamoDB, it refuses an empty string as an index's key.
 * Updated items are checked in `updateIndexes`.
 */
export function withEmptyIndexKeyCheck(validateItem: typeof db.validateItem): typeof db.validateItem {
  return (item, table) => {
    const wrong = validateItem(item, table);
    const empty = wrong ? undefined : emptyIndexKey(item, table);
    if (!empty) return wrong;
    const place = `IndexName: ${empty.index}, IndexKey: ${empty.attribute}`;
    return invalid('A value specified for a secondary index key is not', empty, place);
  };
}

function emptyIndexKey(item: Item, table: TableDefinition) {
  for (const { IndexName: index, KeySchema } of table.GlobalSecondaryIndexes ?? []) {
    for (const { AttributeName: attribute } of KeySchema) {
      if (item[attribute]?.S === '') return { index, attribute, kind: 'string' };
      if (item[attribute]?.B === '') return { index, attribute, kind: 'binary' };
    }
  }
  return undefined;
}

/** DynamoDB's own words for an empty index key, which differ between a put and an update. */
function invalid(what: string, empty: { kind: string }, place = ''): ServiceFault {
  const why = `The AttributeValue for a key attribute cannot contain an empty ${empty.kind} value.`;
  return db.validationError(
    `One or more parameter values are not valid. ${what} supported. ${why} ${place}`.trimEnd(),
  );
}
