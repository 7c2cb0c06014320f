import type { Context } from './context.ts';
import { call, checkTypes, checkValidations, db, dynaliteOperation } from './dynalite.ts';
import type { Request, Validation } from './dynalite.ts';
import { fault } from './faults.ts';
import { installFixes } from './fixes.ts';
import { limits, openView } from './store.ts';
import {
  describeTimeToLive,
  describeTypes,
  timeToLiveKey,
  updateTimeToLive,
  updateTypes,
} from './time-to-live.ts';
import { transactGetItems } from './transact-get.ts';
import { transactWriteItems } from './transact-write.ts';
import { returnOnFailure, transactGetValidation, transactWriteValidation } from './transaction-shapes.ts';

installFixes();

type Body = Record<string, unknown>;
interface Operation extends Validation {
  run(context: Context, request: Request, body: Body): Promise<unknown>;
}

/** Parameters that change nothing a program could notice here. All others that are not known are refused. */
const ignored = new Set([
  'AttributeDefinitions',
  'DeletionProtectionEnabled',
  'OnDemandThroughput',
  'SSESpecification',
  'TableClass',
  'WarmThroughput',
]);

/** A scan is consistent anyway; dynalite only fails to know the parameter. */
const missingInDynalite: Record<string, Validation['types']> = {
  DeleteItem: returnOnFailure,
  PutItem: returnOnFailure,
  Scan: { ConsistentRead: 'Boolean' },
  UpdateItem: returnOnFailure,
};

const operations: Record<string, Operation> = {
  ...each(
    ['BatchGetItem', 'DescribeTable', 'GetItem', 'ListTables', 'ListTagsOfResource', 'Query', 'Scan'],
    read,
  ),
  ...each(['BatchWriteItem', 'DeleteItem', 'PutItem', 'TagResource', 'UntagResource', 'UpdateItem'], write),
  ...each(['CreateTable', 'DeleteTable', 'UpdateTable'], changeTable),
  TransactGetItems: { ...transactGetValidation, run: transactGetItems },
  TransactWriteItems: { ...transactWriteValidation, run: transactWriteItems },
  DescribeTimeToLive: { types: describeTypes, run: describeTimeToLive },
  UpdateTimeToLive: { types: updateTypes, run: updateTimeToLive },
};

function each(names: string[], make: (name: string) => Operation): Record<string, Operation> {
  return Object.fromEntries(names.map((name) => [name, make(name)]));
}

function loaded(name: string) {
  const { types, ...operation } = dynaliteOperation(name.charAt(0).toLowerCase() + name.slice(1));
  return { ...operation, types: { ...types, ...missingInDynalite[name] } };
}

function read(name: string): Operation {
  const { action, ...validation } = loaded(name);
  return { ...validation, run: ({ level }, request) => call(action, openView(level).store, request) };
}

function write(name: string): Operation {
  const { action, ...validation } = loaded(name);
  return {
    ...validation,
    run: ({ level, exclusive }, request) =>
      exclusive(async () => {
        const view = openView(level);
        const answer = await call(action, view.store, request);
        if (view.writes.length > 0) await level.batch(view.writes);
        return answer;
      }),
  };
}

/** dynalite writes a table twice, the second time in a timer after its answer; here both make one commit. */
function changeTable(name: string): Operation {
  const { action, ...validation } = loaded(name);
  return {
    ...validation,
    run: ({ level, exclusive }, request) =>
      exclusive(async () => {
        let remaining = 2;
        const { promise: isSettled, resolve } = Promise.withResolvers<void>();
        const view = openView(level, { onTableWrite: () => (remaining -= 1) === 0 && resolve() });
        const answer = await call(action, view.store, request);
        await isSettled;
        if (name === 'DeleteTable') view.writes.push({ type: 'del', key: timeToLiveKey(request.TableName) });
        await level.batch(view.writes);
        return answer;
      }),
  };
}

/**
 * Performs one operation of the DynamoDB API.
 *
 * @param name The operation as the API names it, `PutItem`.
 * @param body The request's JSON. It is changed.
 * @returns What to answer. Errors that are the client's to see are `ServiceFault`s.
 */
export async function perform(context: Context, name: string, body: Body): Promise<unknown> {
  const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (!operation) {
    throw fault('UnknownOperationException', `The embedded DynamoDB engine does not support ${name}.`);
  }
  refuseUnsupported(name, operation, body);
  const request = checkTypes(body, operation.types);
  checkValidations(request, operation.types, operation.custom, { options: limits });
  return operation.run(context, request, body);
}

/** dynalite would ignore what it does not know, which hides that a program asks for more than it gets. */
function refuseUnsupported(name: string, { types }: Operation, body: Body): void {
  const unknown = Object.keys(body).filter((parameter) => !(parameter in types) && !ignored.has(parameter));
  const updates = (body['GlobalSecondaryIndexUpdates'] ?? []) as Record<string, unknown>[];
  if (updates.some((update) => update['Create'] || update['Delete'])) {
    unknown.push('GlobalSecondaryIndexUpdates that create or delete an index');
  }
  if (unknown.length === 0) return;
  throw db.validationError(`The embedded DynamoDB engine does not support ${unknown.join(', ')} in ${name}.`);
}
