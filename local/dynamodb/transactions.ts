import { db } from './dynalite.ts';
import type { ConsumedCapacity, Item, Level, Request, ServiceFault, TableDefinition } from './dynalite.ts';
import { fault, faultName, isFault } from './faults.ts';
import { readTable } from './store.ts';

/** A transaction's targets, its limits and how it is refused. */

export interface Step {
  kind: string;
  request: Request;
}

export interface CancellationReason {
  Code: string;
  Message?: string;
  Item?: unknown;
}

export const none: CancellationReason = { Code: 'None' };

/** The error of a transaction of which at least one part failed. The reasons are in the order of the parts. */
export function cancelled(reasons: CancellationReason[]): ServiceFault {
  const codes = reasons.map(({ Code }) => Code).join(', ');
  const words = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  return fault('TransactionCanceledException', words, { CancellationReasons: reasons });
}

/** Why one part failed. @throws the error when it refuses the whole request, or is not the client's fault. */
export function reasonFor(error: unknown): CancellationReason {
  if (!isFault(error) || isEmptyKey(error)) throw error;
  const Message = error.message;
  switch (faultName(error)) {
    case 'ConditionalCheckFailedException':
      return {
        Code: 'ConditionalCheckFailed',
        Message,
        ...('Item' in error.body && { Item: error.body['Item'] }),
      };
    case 'ValidationException':
      return { Code: 'ValidationError', Message };
    default:
      throw error;
  }
}

/** DynamoDB finds an empty key before the transaction begins, a key of a wrong type only within it. */
function isEmptyKey(error: ServiceFault): boolean {
  return error.message.includes('cannot contain an empty');
}

/**
 * Checks a transaction before any item is read: its tables exist, each key fits its table, and no item is named
 * twice.
 */
export function checkTargets(level: Level, steps: Step[]): void {
  const tables = steps.map(({ request }) => readTable(level, request.TableName));
  const wrong = steps.map((step, i) => keyFault(step, tables[i] as TableDefinition));
  const empty = wrong.find((error) => error && isEmptyKey(error));
  if (empty) {
    throw db.validationError(empty.message.replace('values were invalid:', 'values are not valid.'));
  }
  const first = wrong.findIndex(Boolean);
  if (first !== -1) throw cancelled(steps.map((_, i) => (i === first ? reasonFor(wrong[i]) : none)));

  const targets = steps.map(({ request }, i) => {
    const key = db.createKey(request.Item ?? request.Key ?? {}, tables[i] as TableDefinition);
    return `${request.TableName}/${key}`;
  });
  if (new Set(targets).size < targets.length) {
    throw db.validationError('Transaction request cannot include multiple operations on one item');
  }
}

function keyFault({ kind, request }: Step, table: TableDefinition): ServiceFault | null | undefined {
  return kind === 'Put'
    ? db.validateItem(request.Item ?? {}, table)
    : db.validateKey(request.Key ?? {}, table);
}

/** Refuses a transaction over more than 4 MB of items. AWS documents the limit, but not the words. */
export function checkSize(items: Item[]): void {
  const bytes = items.reduce((sum, item) => sum + db.itemSize(item), 0);
  if (bytes <= 4 * 1024 * 1024) return;
  throw db.validationError(
    `The aggregate size of the items in the transaction cannot exceed 4 MB; it is ${bytes} bytes`,
  );
}

/** A transaction costs twice the units of its operations alone. Empty unless the request asked for it. */
export function consumed(answers: unknown[]): { ConsumedCapacity?: unknown[] } {
  const totals = new Map<string, number>();
  for (const answer of answers as { ConsumedCapacity?: ConsumedCapacity }[]) {
    if (!answer.ConsumedCapacity) return {};
    const { TableName, CapacityUnits } = answer.ConsumedCapacity;
    totals.set(TableName, (totals.get(TableName) ?? 0) + 2 * CapacityUnits);
  }
  return {
    ConsumedCapacity: [...totals].map(([TableName, CapacityUnits]) => ({
      TableName,
      CapacityUnits,
      WriteCapacityUnits: CapacityUnits,
    })),
  };
}
