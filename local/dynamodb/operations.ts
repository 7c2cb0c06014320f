import { call, checkTypes, checkValidations, db, dynaliteOperation } from './dynalite.ts';
import type { Request, Validation } from './dynalite.ts';
import { fault } from './faults.ts';
import { installFixes } from './fixes.ts';
import { limits, openView, tableKey, type Context } from './store.ts';
import { returnOnFailure, transactWriteItems, transactWriteValidation } from './transactions.ts';

installFixes();

type Body = Record<string, unknown>;
interface Operation extends Validation {
  run(context: Context, request: Request): Promise<unknown>;
}

/** Parameters that make no difference here. Every other unknown parameter is refused. */
const ignored = new Set([
  'AttributeDefinitions',
  'DeletionProtectionEnabled',
  'OnDemandThroughput',
  'SSESpecification',
  'TableClass',
  'WarmThroughput',
]);

/** Parameters that dynalite knows and this engine does not: among them what expressions took the place of. */
const refused = new Set([
  'AttributeUpdates',
  'AttributesToGet',
  'ConditionalOperator',
  'Expected',
  'KeyConditions',
  'LocalSecondaryIndexes',
  'ProjectionExpression',
  'QueryFilter',
  'ScanFilter',
  'Select',
]);

/** Parameters that dynalite does not know. (A scan is always consistent here.) */
const missingInDynalite: Record<string, Validation['types']> = {
  DeleteItem: returnOnFailure,
  PutItem: returnOnFailure,
  Scan: { ConsistentRead: 'Boolean' },
  UpdateItem: returnOnFailure,
};

const operations: Record<string, Operation> = {
  ...each(['BatchGetItem', 'DescribeTable', 'GetItem', 'Query', 'Scan'], read),
  ...each(['BatchWriteItem', 'DeleteItem', 'PutItem', 'UpdateItem'], write),
  CreateTable: { ...loaded('CreateTable'), run: createTable },
  TransactWriteItems: { ...transactWriteValidation, run: transactWriteItems },
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
    run: ({ level, exclusive, commit }, request) =>
      exclusive(async () => {
        const view = openView(level);
        const answer = await call(action, view.store, request);
        if (view.writes.length > 0) await commit(view.writes);
        return answer;
      }),
  };
}

/** In place of dynalite's action, which writes a table twice, the second time in a timer after its answer. */
function createTable({ level, exclusive, commit }: Context, request: Request): Promise<unknown> {
  return exclusive(async () => {
    const key = tableKey(request.TableName);
    if (level.getSync(key))
      throw fault('ResourceInUseException', `Table already exists: ${request.TableName}`);
    const table = { ...request, TableStatus: 'ACTIVE' };
    await commit([{ type: 'put', key, value: table }]);
    return { TableDescription: table };
  });
}

/**
 * Performs one operation of the DynamoDB API.
 *
 * @param name The operation as the API names it, `PutItem`.
 * @param body The request's JSON. It is changed.
 * @returns The answer. Errors for the client are `ServiceFault`s.
 */
export async function perform(context: Context, name: string, body: Body): Promise<unknown> {
  const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (!operation) {
    throw fault('UnknownOperationException', `The embedded DynamoDB engine does not support ${name}.`);
  }
  const { types, custom } = operation;
  const isUnknown = (parameter: string) =>
    refused.has(parameter) || !(parameter in types || ignored.has(parameter));
  // dynalite ignores them, which would hide that a program does not get what it asks for.
  const unknown = Object.keys(body).filter(isUnknown);
  if (unknown.length > 0) {
    const names = unknown.join(', ');
    throw db.validationError(`The embedded DynamoDB engine does not support ${names} in ${name}.`);
  }
  const request = checkTypes(body, types);
  checkValidations(request, types, custom, { options: limits });
  return operation.run(context, request);
}
