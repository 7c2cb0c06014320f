import { holds } from './conditions.ts';
import { db } from './dynalite.ts';
import type {
  Callback,
  IndexDefinition,
  Item,
  KeySchemaElement,
  Request,
  ServiceFault,
  Store,
  TableDefinition,
} from './dynalite.ts';
import { fault } from './faults.ts';
import { queryTable } from './pages.ts';

/**
 * Replaces functions of dynalite that are wrong, wasteful or incomplete; each replacement gives its reason.
 * dynalite's actions look their functions up on one object at each call, so replacing them there is enough.
 */
export function installFixes(): void {
  Object.assign(db, { checkConditional, createIndexKey, updateIndexes, queryTable });
}

/** dynalite calls this after it has read an item and before it changes it. It does not know ReturnValuesOnConditionCheckFailure. */
function checkConditional(request: Request, existing: Item | undefined): ServiceFault | null {
  if (request._condition && !holds(request._condition.expression, existing ?? {})) {
    const isWanted = existing && request.ReturnValuesOnConditionCheckFailure === 'ALL_OLD';
    const more = isWanted ? { Item: existing } : {};
    return fault('ConditionalCheckFailedException', 'The conditional request failed', more);
  }
  // dynalite would change a copy together with what it is of, and shift the places of a list while it removes some of them.
  const isWrong = request._updates?.sections.some(({ path, val }) => path.length > 1 || Array.isArray(val));
  return isWrong
    ? db.validationError(
        'The embedded DynamoDB engine does not support document paths or copies in an update.',
      )
    : null;
}

/**
 * Where an item stands in an index: the index's key, then the item's own. dynalite ends the key with 24 bits of a hash of
 * the item's key, so that two of 5,000 items with one index key are more likely than not to overwrite each other's entry.
 */
function createIndexKey(item: Item, table: TableDefinition, keySchema: KeySchemaElement[]): string {
  return db.createKey(item, table, keySchema) + db.createKey(item, table);
}

/** dynalite's actions call it before they write the item. As DynamoDB does, it refuses an empty string as an index's key. */
function updateIndexes(
  store: Store,
  table: TableDefinition,
  existing: Item | null | undefined,
  item: Item | null,
  done: Callback,
): void {
  const indexes = table.GlobalSecondaryIndexes ?? [];
  const isEmpty = ({ AttributeName }: KeySchemaElement) => item?.[AttributeName]?.S === '';
  if (indexes.some(({ KeySchema }) => KeySchema.some(isEmpty)))
    return done(db.validationError(emptyIndexKey));
  for (const index of indexes) {
    const section = store.getIndexDb('global', table.TableName, index.IndexName);
    const keyOf = (of: Item | null | undefined) =>
      of && hasKey(of, index) ? createIndexKey(of, table, index.KeySchema) : null;
    const [before, after] = [keyOf(existing), keyOf(item)];
    if (before !== null && before !== after) section.del(before, () => {});
    if (item && after !== null) section.put(after, projected(item, table, index), () => {});
  }
  done(null);
}

const emptyIndexKey =
  'One or more parameter values are not valid. A value specified for a secondary index key is not supported. ' +
  'The AttributeValue for a key attribute cannot contain an empty string value.';

function hasKey(item: Item, index: IndexDefinition): boolean {
  return index.KeySchema.every(({ AttributeName }) => item[AttributeName] !== undefined);
}

function projected(item: Item, table: TableDefinition, index: IndexDefinition): Item {
  if (index.Projection.ProjectionType === 'ALL') return item;
  const keys = [...index.KeySchema, ...table.KeySchema].map(({ AttributeName }) => AttributeName);
  return Object.fromEntries(Object.entries(item).filter(([name]) => keys.includes(name)));
}
