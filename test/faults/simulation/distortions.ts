import { marshall } from '@aws-sdk/util-dynamodb';
import { jsonAnswer, type HttpAnswer } from './answers.ts';
import type { CallFault } from './faults.ts';
import type { Json, TableCall } from './table-calls.ts';
import type { World } from './world.ts';

/** What DynamoDB may answer that is true and yet not all: a part of a batch, an index that lags. */
export function distortTableAnswer(
  world: World,
  fault: CallFault,
  call: TableCall,
  answer: HttpAnswer,
): HttpAnswer {
  if (answer.statusCode !== 200) return answer;
  const body = JSON.parse(String(answer.body)) as Json;
  if (fault === 'unprocessed keys') return jsonAnswer(200, someUnprocessed(world, call, body));
  if (fault === 'stale index') return jsonAnswer(200, staleLeases(world, call, body));
  return answer;
}

function someUnprocessed({ random, database }: World, call: TableCall, body: Json): Json {
  const table = database.tableName;
  const request = call.body.RequestItems[table] as Json;
  const left = (request.Keys as Json[]).filter(() => random.chance(0.5));
  if (left.length === 0) return body;
  const isLeft = (item: Json) => left.some(({ PK, SK }) => PK.S === item.PK.S && SK.S === item.SK.S);
  return {
    ...body,
    Responses: { [table]: (body.Responses[table] as Json[]).filter((item) => !isLeft(item)) },
    UnprocessedKeys: { [table]: { ...request, Keys: left } },
  };
}

/** The index misses some that it should have, and still has some that have ended. */
function staleLeases({ random, checker }: World, call: TableCall, body: Json): Json {
  const shard = call.body.ExpressionAttributeValues[':shard'] as Json;
  const ghosts = checker.ended().filter(() => random.chance(0.1));
  const Items = [
    ...(body.Items as Json[]).filter(() => random.chance(0.5)),
    ...ghosts.map(({ PK, SK }) => ({
      PK: { S: PK },
      SK: { S: SK },
      leaseShard: shard,
      leaseUntilMs: { N: '1' },
    })),
  ].slice(0, call.body.Limit ?? 50);
  return { ...body, Items, Count: Items.length };
}

/** Whoever does not ask for a consistent read may be told what was there a moment ago. */
export function lagging(world: World, call: TableCall, body: Json): Json {
  if (call.operation === 'GetItem' && !call.body.ConsistentRead) {
    const [Item] = lag(world, [call.body.Key], body.Item === undefined ? [] : [body.Item]);
    return Item === undefined ? {} : { Item };
  }
  const table = world.database.tableName;
  const request = call.body.RequestItems?.[table] as Json | undefined;
  if (call.operation !== 'BatchGetItem' || request?.ConsistentRead) return body;
  return { ...body, Responses: { [table]: lag(world, request!.Keys, body.Responses[table]) } };
}

function lag({ random, checker }: World, keys: Json[], found: Json[]): Json[] {
  return keys.flatMap(({ PK, SK }) => {
    const now = found.filter((item) => item.PK.S === PK.S && item.SK.S === SK.S);
    const before = random.chance(0.5) ? checker.lagging(PK.S, SK.S) : null;
    if (before === null) return now;
    return before.item === undefined ? [] : [marshall(before.item)];
  });
}
