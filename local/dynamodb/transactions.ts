import type { Context } from './context.ts';
import { call, db, dynaliteOperation } from './dynalite.ts';
import type {
  Action,
  ConsumedCapacity,
  Item,
  Level,
  Request,
  ServiceFault,
  Shape,
  TableDefinition,
  Validation,
  Write,
} from './dynalite.ts';
import { fault, faultName, isFault } from './faults.ts';
import { openView, readTable } from './store.ts';
import { fingerprintOf } from './tokens.ts';

const put = dynaliteOperation('putItem');
const update = dynaliteOperation('updateItem');
const remove = dynaliteOperation('deleteItem');

/** Missing from dynalite's PutItem, UpdateItem and DeleteItem too. */
export const returnOnFailure: Record<string, Shape> = {
  ReturnValuesOnConditionCheckFailure: { type: 'String', enum: ['ALL_OLD', 'NONE'] },
};

const conditions = [
  'TableName',
  'ConditionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
];

interface WriteKind {
  validation: Validation;
  members: string[];
  required: string[];
}

/** Each kind of entry: how it is validated and which of its members must be there. */
const writeKinds: Record<string, WriteKind> = {
  ConditionCheck: { validation: remove, members: ['Key'], required: ['ConditionExpression'] },
  Put: { validation: put, members: ['Item'], required: [] },
  Delete: { validation: remove, members: ['Key'], required: [] },
  Update: { validation: update, members: ['Key', 'UpdateExpression'], required: ['UpdateExpression'] },
};

function entryShape([kind, { validation, members, required }]: [string, WriteKind]): [string, Shape] {
  const picked = [...members, ...conditions].map((name) => {
    const shape = validation.types[name] as Exclude<Shape, string>;
    return [name, required.includes(name) ? { ...shape, notNull: true } : shape] as const;
  });
  const children = { ...Object.fromEntries(picked), ...returnOnFailure };
  return [kind, { type: `FieldStruct<${kind}>`, children }];
}

/** One entry of a transaction: the kind of operation and its parameters, validated and parsed. */
type Entry = Record<string, Request> | null;

export const transactWriteValidation: Validation = {
  types: {
    ClientRequestToken: { type: 'String', lengthGreaterThanOrEqual: 1, lengthLessThanOrEqual: 36 },
    ReturnConsumedCapacity: { type: 'String', enum: ['INDEXES', 'TOTAL', 'NONE'] },
    ReturnItemCollectionMetrics: { type: 'String', enum: ['SIZE', 'NONE'] },
    TransactItems: {
      type: 'List',
      notNull: true,
      lengthGreaterThanOrEqual: 1,
      lengthLessThanOrEqual: 100,
      children: {
        type: 'ValueStruct<TransactWriteItem>',
        children: Object.fromEntries(Object.entries(writeKinds).map(entryShape)),
      },
    },
  },
  custom(request, store) {
    for (const entry of request['TransactItems'] as Entry[]) {
      const [kind, ...others] = Object.keys(entry ?? {});
      const data = entry?.[kind ?? ''];
      if (!kind || !data) {
        return 'Invalid Request: TransactWriteRequest should contain Delete or Put or Update request';
      }
      if (others.length > 0) return 'TransactItems can only contain one of Check, Put, Update or Delete';
      const wrong = writeKinds[kind]?.validation.custom?.(data, store);
      if (wrong) return wrong;
    }
    return undefined;
  },
};

interface Step {
  kind: string;
  request: Request;
}

interface CancellationReason {
  Code: string;
  Message?: string;
  Item?: unknown;
}

const none: CancellationReason = { Code: 'None' };

const actions: Record<string, Action> = {
  ConditionCheck: conditionCheck,
  Put: put.action,
  Delete: remove.action,
  Update: update.action,
};

/**
 * TransactWriteItems. Each part runs as the operation it is, on a view of the database that only collects
 * writes; if all parts succeed, everything is committed as one LevelDB batch, the ClientRequestToken with it.
 */
export function transactWriteItems(
  context: Context,
  request: Request,
  body: Record<string, unknown>,
): Promise<unknown> {
  const token = request['ClientRequestToken'] as string | undefined;
  const fingerprint = token === undefined ? '' : fingerprintOf(body['TransactItems']);
  const steps = (request['TransactItems'] as Entry[]).flatMap((entry) => toSteps(entry, request));
  return context.exclusive(async () => {
    const before = token === undefined ? undefined : context.tokens.find(token);
    if (before === fingerprint) return {};
    if (before !== undefined) {
      throw fault(
        'IdempotentParameterMismatchException',
        'The request uses the same client token as a previous, but non-identical request.',
      );
    }
    checkTargets(context.level, steps);
    const { writes, answers } = await runAll(context, steps);
    const remembered = token === undefined ? [] : await context.tokens.remember(token, fingerprint);
    await context.commit([...writes, ...remembered]);
    return consumed(answers);
  });
}

function toSteps(entry: Entry, { ReturnConsumedCapacity }: Request): Step[] {
  return Object.entries(entry ?? {}).map(([kind, request]) => ({
    kind,
    request: { ...request, ...(ReturnConsumedCapacity && { ReturnConsumedCapacity }) },
  }));
}

/** Runs every part, even after one has failed: the answer has a reason for each. */
async function runAll({ level }: Context, steps: Step[]): Promise<{ writes: Write[]; answers: unknown[] }> {
  const writes: Write[] = [];
  const answers: unknown[] = [];
  const reasons = [];
  for (const { kind, request } of steps) {
    const view = openView(level);
    try {
      answers.push(await call(actions[kind] as Action, view.store, request));
      reasons.push(none);
    } catch (error) {
      reasons.push(reasonFor(error));
    }
    writes.push(...view.writes);
  }
  if (reasons.some((reason) => reason !== none)) throw cancelled(reasons);
  checkSize([...itemsIn(writes), ...steps.map(({ request }) => request.Key ?? {})]);
  return { writes, answers };
}

function itemsIn(writes: Write[]): Item[] {
  return writes.flatMap((write) =>
    write.type === 'put' && write.key.startsWith('item-') ? [write.value as Item] : [],
  );
}

/** ConditionCheck, in the form of dynalite's actions. */
function conditionCheck(...[store, request, done]: Parameters<Action>): void {
  store.getTable(request.TableName, (missing, table) => {
    if (missing || !table) return done(missing);
    const items = store.getItemDb(request.TableName);
    items.get(db.createKey(request.Key ?? {}, table), (error, found) => {
      const existing = found as Item | undefined;
      const failed = error ?? db.checkConditional(request, existing);
      done(failed, { ConsumedCapacity: db.addConsumedCapacity(request, false, existing) });
    });
  });
}

/** The error of a transaction of which at least one part failed. The reasons are in the order of the parts. */
function cancelled(reasons: CancellationReason[]): ServiceFault {
  const codes = reasons.map(({ Code }) => Code).join(', ');
  const words = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  return fault('TransactionCanceledException', words, { CancellationReasons: reasons });
}

/** Why one part failed. @throws the error when it refuses the whole request, or is not the client's fault. */
function reasonFor(error: unknown): CancellationReason {
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
function checkTargets(level: Level, steps: Step[]): void {
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
function checkSize(items: Item[]): void {
  const bytes = items.reduce((sum, item) => sum + db.itemSize(item), 0);
  if (bytes <= 4 * 1024 * 1024) return;
  throw db.validationError(
    `The aggregate size of the items in the transaction cannot exceed 4 MB; it is ${bytes} bytes`,
  );
}

/** A transaction costs twice the units of its operations alone. Empty unless the request asked for it. */
function consumed(answers: unknown[]): { ConsumedCapacity?: unknown[] } {
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
