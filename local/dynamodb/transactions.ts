import { createHash } from 'node:crypto';
import { call, db, dynaliteOperation } from './dynalite.ts';
import type {
  ConsumedCapacity,
  Level,
  Request,
  ServiceFault,
  Shape,
  TableDefinition,
  Validation,
  Write,
} from './dynalite.ts';
import { fault, faultName, isFault } from './faults.ts';
import { openView, readTable, type Context } from './store.ts';

/** Missing from dynalite's PutItem, UpdateItem and DeleteItem too. */
export const returnOnFailure: Record<string, Shape> = {
  ReturnValuesOnConditionCheckFailure: { type: 'String', enum: ['ALL_OLD', 'NONE'] },
};

/** The kinds of parts: each is dynalite's operation, with those of its parameters that a transaction takes. */
const kinds = {
  Put: { ...dynaliteOperation('putItem'), members: ['Item'] },
  Delete: { ...dynaliteOperation('deleteItem'), members: ['Key'] },
  Update: { ...dynaliteOperation('updateItem'), members: ['Key', 'UpdateExpression'] },
};
type Kind = keyof typeof kinds;
const conditions = [
  'TableName',
  'ConditionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
];

function shapeOf(kind: Kind): Shape {
  const { types, members } = kinds[kind];
  const picked = [...members, ...conditions].map((name) => {
    const shape = types[name] as Exclude<Shape, string>;
    return [name, name === 'UpdateExpression' ? { ...shape, notNull: true } : shape];
  });
  return { type: `FieldStruct<${kind}>`, children: { ...Object.fromEntries(picked), ...returnOnFailure } };
}

/** A part: its kind, and the operation's parameters, validated and parsed. */
type Entry = Partial<Record<Kind, Request>> | null;
const entriesOf = (request: Request) => request['TransactItems'] as Entry[];

export const transactWriteValidation: Validation = {
  types: {
    ClientRequestToken: { type: 'String', lengthGreaterThanOrEqual: 1, lengthLessThanOrEqual: 36 },
    ReturnConsumedCapacity: { type: 'String', enum: ['INDEXES', 'TOTAL', 'NONE'] },
    TransactItems: {
      type: 'List',
      notNull: true,
      lengthGreaterThanOrEqual: 1,
      lengthLessThanOrEqual: 100,
      children: {
        type: 'ValueStruct<TransactWriteItem>',
        children: { Put: shapeOf('Put'), Delete: shapeOf('Delete'), Update: shapeOf('Update') },
      },
    },
  },
  custom(request, store) {
    for (const entry of entriesOf(request)) {
      const [[kind, data] = [], ...others] = Object.entries(entry ?? {});
      if (!data)
        return 'Invalid Request: TransactWriteRequest should contain Delete or Put or Update request';
      if (others.length > 0) return 'TransactItems can only contain one of Check, Put, Update or Delete';
      const wrong = kinds[kind as Kind].custom?.(data, store);
      if (wrong) return wrong;
    }
    return undefined;
  },
};

interface Step {
  kind: Kind;
  request: Request;
}

interface CancellationReason {
  Code: string;
  Message?: string;
  Item?: unknown;
}

const none: CancellationReason = { Code: 'None' };

/** A transaction that is sent again within this time is not done again. */
const tokenLifetimeMs = 10 * 60 * 1000;

/**
 * TransactWriteItems. Each part runs as the operation it is, on a view of the database that only collects
 * writes; if all parts succeed, everything is committed as one LevelDB batch.
 */
export function transactWriteItems(context: Context, request: Request): Promise<unknown> {
  const { level, tokens, now } = context;
  const token = request['ClientRequestToken'] as string | undefined;
  const fingerprint = createHash('sha256')
    .update(JSON.stringify(entriesOf(request)))
    .digest('base64');
  const steps = entriesOf(request).flatMap((entry) => toSteps(entry, request));
  return context.exclusive(async () => {
    forgetOldTokens(context);
    const before = token === undefined ? undefined : tokens.get(token);
    if (before?.fingerprint === fingerprint) return {};
    if (before !== undefined) {
      throw fault(
        'IdempotentParameterMismatchException',
        'The request uses the same client token as a previous, but non-identical request.',
      );
    }
    checkTargets(level, steps);
    const { writes, answers } = await runAll(level, steps);
    await context.commit(writes);
    if (token !== undefined) tokens.set(token, { fingerprint, committedAtMs: now() });
    return consumed(answers);
  });
}

function forgetOldTokens({ tokens, now }: Context): void {
  for (const [token, { committedAtMs }] of tokens) {
    if (now() - committedAtMs < tokenLifetimeMs) return;
    tokens.delete(token);
  }
}

function toSteps(entry: Entry, { ReturnConsumedCapacity }: Request): Step[] {
  return Object.entries(entry ?? {}).map(([kind, request]) => ({
    kind: kind as Kind,
    request: { ...request, ...(ReturnConsumedCapacity && { ReturnConsumedCapacity }) },
  }));
}

/** Runs every part, even after one has failed: the answer has a reason for each. */
async function runAll(level: Level, steps: Step[]): Promise<{ writes: Write[]; answers: unknown[] }> {
  const writes: Write[] = [];
  const answers: unknown[] = [];
  const reasons = [];
  for (const { kind, request } of steps) {
    const view = openView(level);
    try {
      answers.push(await call(kinds[kind].action, view.store, request));
      reasons.push(none);
    } catch (error) {
      reasons.push(reasonFor(error));
    }
    writes.push(...view.writes);
  }
  if (reasons.some((reason) => reason !== none)) throw cancelled(reasons);
  return { writes, answers };
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
  const name = faultName(error);
  if (name === 'ValidationException') return { Code: 'ValidationError', Message };
  if (name !== 'ConditionalCheckFailedException') throw error;
  return {
    Code: 'ConditionalCheckFailed',
    Message,
    ...('Item' in error.body && { Item: error.body['Item'] }),
  };
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
  const wrong = steps.map((step, i) => keyFault(step, tables[i]!));
  const empty = wrong.find((error) => error && isEmptyKey(error));
  if (empty) throw empty;
  const first = wrong.findIndex(Boolean);
  if (first !== -1) throw cancelled(steps.map((_, i) => (i === first ? reasonFor(wrong[i]) : none)));

  const targets = steps.map(({ request }, i) => {
    const key = db.createKey(request.Item ?? request.Key ?? {}, tables[i]!);
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
