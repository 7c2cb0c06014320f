import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Asked } from './policies.ts';
import { inRepository } from './repository.ts';

/** Every kind of request that a function sends to the table: the function's name and the request's line. */
export const tableRequestsPath = inRepository('test/infra/table-requests.txt');

/** A request to DynamoDB, as far as IAM judges it. */
export interface TableRequest {
  /** As `TransactWriteItems`. */
  operation: string;
  /** The index that it queries. */
  index: string | null;
  /** The IAM action on each item, and the item's partition key. */
  items: { action: string; leadingKey: string }[];
}

interface Key {
  PK: { S: string };
}

export function readTableRequest({ headers }: IncomingMessage, body: Buffer): TableRequest {
  const operation = String(headers['x-amz-target']).split('.')[1]!;
  const input = JSON.parse(body.toString());
  const index: string | null = input.IndexName ?? null;
  const request = (items: TableRequest['items']): TableRequest => ({ operation, index, items });
  if (operation === 'BatchGetItem') {
    const requests = Object.values(input.RequestItems) as { Keys: Key[] }[];
    const keys = requests.flatMap(({ Keys }) => Keys);
    return request(keys.map(({ PK }) => ({ action: operation, leadingKey: PK.S })));
  }
  if (operation === 'TransactWriteItems') return request(input.TransactItems.map(readWrite));
  if (operation === 'Query') {
    const [, , value] = /^(\w+) = (:\w+)/.exec(input.KeyConditionExpression)!;
    return request([{ action: operation, leadingKey: input.ExpressionAttributeValues[value!].S }]);
  }
  return request([{ action: operation, leadingKey: (input.Key ?? input.Item).PK.S }]);
}

function readWrite(write: Record<string, any>): TableRequest['items'][number] {
  const [[kind, of]] = Object.entries(write) as [[string, any]];
  const { PK: leadingKey } = (of.Key ?? of.Item) as Key;
  return {
    action: kind === 'ConditionCheck' ? 'ConditionCheckItem' : `${kind}Item`,
    leadingKey: leadingKey.S,
  };
}

/**
 * What IAM must allow for a request. It judges a batch by all its keys together. How it judges a transaction is not
 * documented, so a role must allow each item by itself, and all items of one action together.
 */
export function needsOf({ operation, index, items }: TableRequest, tableArn: string): Asked[] {
  const asked = (action: string, leadingKeys: string[]): Asked => ({
    action: `dynamodb:${action}`,
    resource: index === null ? tableArn : `${tableArn}/index/${index}`,
    leadingKeys,
  });
  const alone = operation === 'TransactWriteItems' ? items : [];
  const together = Map.groupBy(items, ({ action }) => action);
  return [
    ...alone.map(({ action, leadingKey }) => asked(action, [leadingKey])),
    ...[...together].map(([action, of]) =>
      asked(
        action,
        of.map(({ leadingKey }) => leadingKey),
      ),
    ),
  ];
}

/** The request in one line, without ids and repetitions, as `TransactWriteItems: PutItem KEY#, UpdateItem LICENSE#`. */
export function lineOf({ operation, index, items }: TableRequest): string {
  const kinds = items.map(({ action, leadingKey }) => `${action} ${leadingKey.replace(/#.*$/s, '#')}`);
  const place = index === null ? '' : ` on index ${index}`;
  return `${operation}${place}: ${[...new Set(kinds)].toSorted().join(', ')}`;
}

/** A request like those that a line stands for. */
function parseLine(line: string): TableRequest {
  const [, operation, index, items] = /^(\w+)(?: on index (\w+))?: (.+)$/.exec(line)!;
  return {
    operation: operation!,
    index: index ?? null,
    items: items!.split(', ').map((item) => {
      const [action, leadingKey] = item.split(' ') as [string, string];
      return { action, leadingKey: leadingKey.endsWith('#') ? `${leadingKey}1` : leadingKey };
    }),
  };
}

/** The requests that `tableRequestsPath` lists. */
export function listedTableRequests(): { functionName: string; request: TableRequest; line: string }[] {
  const lines = readFileSync(tableRequestsPath, 'utf8').trim().split('\n');
  return lines.map((text) => {
    const [, functionName, line] = /^(\S+) (.+)$/.exec(text)!;
    return { functionName: functionName!, line: line!, request: parseLine(line!) };
  });
}
