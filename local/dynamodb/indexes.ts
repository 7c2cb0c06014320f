import { db } from './dynalite.ts';
import type { AttributeValue, Callback, IndexDefinition, Item } from './dynalite.ts';
import type { KeySchemaElement, ServiceFault, Store, TableDefinition } from './dynalite.ts';

/**
 * Where an item stands in an index: the index's key, then the item's own.
 *
 * dynalite ends the key with 24 bits of a hash of the item's key, so that two items with one index key can
 * overwrite each other's entry: among 5,000 items with one hash key and no range key that is more likely than not.
 */
export function createIndexKey(item: Item, table: TableDefinition, keySchema: KeySchemaElement[]): string {
  return db.createKey(item, table, keySchema) + db.createKey(item, table);
}

/** Brings a table's indexes up to date with a write. Called by dynalite's actions before the item is written. */
export function updateIndexes(
  store: Store,
  table: TableDefinition,
  existing: Item | null | undefined,
  item: Item | null,
  done: Callback,
): void {
  if (item && emptyIndexKey(item, table)) return done(db.validationError(emptyInUpdate(item, table)));
  const nothing = () => {};
  for (const [kind, index] of indexesOf(table)) {
    const section = store.getIndexDb(kind, table.TableName, index.IndexName);
    const before = existing && hasKey(existing, index) ? createIndexKey(existing, table, index.KeySchema) : null;
    const after = item && hasKey(item, index) ? createIndexKey(item, table, index.KeySchema) : null;
    if (before !== null && before !== after) section.del(before, nothing);
    if (item && after !== null) section.put(after, projected(item, table, index), nothing);
  }
  done(null);
}

function indexesOf(table: TableDefinition): (readonly ['local' | 'global', IndexDefinition])[] {
  const local = (table.LocalSecondaryIndexes ?? []).map((index) => ['local', index] as const);
  const global = (table.GlobalSecondaryIndexes ?? []).map((index) => ['global', index] as const);
  return [...local, ...global];
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
 * Refuses an item with an empty string as an index's key, which DynamoDB refuses and dynalite stores.
 * It wraps dynalite's check of the item to be put.
 */
export function withEmptyIndexKeyCheck(validateItem: typeof db.validateItem): typeof db.validateItem {
  return (item, table) => {
    const invalid = validateItem(item, table);
    const empty = !invalid && emptyIndexKey(item, table);
    if (!empty) return invalid;
    return emptyKeyFault(
      'A value specified for a secondary index key is not supported. ' +
        `The AttributeValue for a key attribute cannot contain an empty ${empty.kind} value. ` +
        `IndexName: ${empty.index}, IndexKey: ${empty.attribute}`,
    );
  };
}

function emptyIndexKey(item: Item, table: TableDefinition) {
  for (const [, index] of indexesOf(table)) {
    for (const { AttributeName: attribute } of index.KeySchema) {
      const value: AttributeValue | undefined = item[attribute];
      if (value?.S === '') return { index: index.IndexName, attribute, kind: 'string' };
      if (value?.B === '') return { index: index.IndexName, attribute, kind: 'binary' };
    }
  }
  return undefined;
}

function emptyInUpdate(item: Item, table: TableDefinition): string {
  return (
    'One or more parameter values are not valid. The update expression attempted to update a secondary index key ' +
    'to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty ' +
    `${emptyIndexKey(item, table)?.kind} value.`
  );
}

function emptyKeyFault(detail: string): ServiceFault {
  return db.validationError(`One or more parameter values are not valid. ${detail}`);
}
