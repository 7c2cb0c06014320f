import { marshall } from '@aws-sdk/util-dynamodb';
import type { ModelProbe, ModelRequest } from '../../../shared/model/contract.ts';
import type { FetchReferencesCommand } from '../../../shared/references/contract.ts';
import {
  emptyAnswer,
  jsonAnswer,
  queueError,
  socketError,
  tableRefusals,
  type HttpAnswer,
} from './answers.ts';
import { keyOf, keyOfLink } from './bucket.ts';
import { anywhere, play, type Sending } from './exchange.ts';
import type { CallFault } from './faults.ts';
import { dashboardUrl, queueUrl } from './functions.ts';
import { modelAnswer, modelRefusal, probeAnswer, type ModelBehavior } from './model.ts';
import type { HttpRequest, Network } from './process.ts';
import { createQueues, type Queues } from './queue.ts';
import { currentRun, type Run } from './runs.ts';
import type { Simulation } from './simulation.ts';
import { readTableCall, type Json, type TableCall } from './table-calls.ts';

const decoder = new TextDecoder();

export function createNetwork(simulation: Simulation): Network {
  const queues = createQueues(simulation);
  return {
    send({ method, path, headers, body }: HttpRequest, timeoutMs, signal) {
      const run = currentRun.getStore();
      if (run === undefined) throw new Error(`a call by nobody: ${method} ${path}`);
      const sending = { run, timeoutMs, signal };
      const text = () => (typeof body === 'string' ? body : decoder.decode(body));
      const operation = headers['x-amz-target']?.split('.')[1];
      if (operation !== undefined) return toTable(simulation, readTableCall(operation, text()), sending);
      if (path.startsWith('/endpoints/')) return toModel(simulation, JSON.parse(text()), sending);
      const key = keyOf(path.split('?')[0]!);
      if (method === 'DELETE') return toDeletion(simulation, key, sending);
      if (method === 'PUT') return toMark(simulation, key, sending);
      if (method === 'HEAD') return toObject(simulation, key, sending);
      throw new Error(`the service only looks at images: ${method} ${path}`);
    },
    async fetch(url, { headers, body, signal }) {
      // The sweep looks at it.
      if (url.startsWith(dashboardUrl)) return new Response('{}');
      const sending = { run: currentRun.getStore()!, timeoutMs: undefined, signal: signal ?? undefined };
      const target = new Headers(headers).get('x-amz-target');
      const sent = JSON.parse(String(body));
      const isForQueue = url === new URL('/', queueUrl).href && sent.QueueUrl === queueUrl;
      const answer = await (isForQueue
        ? toQueue(simulation, queues, target, sent, sending)
        : toReferences(simulation, sent, sending));
      return new Response(answer.body as Buffer<ArrayBuffer>, { status: answer.statusCode });
    },
  };
}

function toTable(simulation: Simulation, call: TableCall, sending: Sending): Promise<HttpAnswer> {
  const { checker, database } = simulation;
  const { operation, purpose } = call;
  const writes = call.keys.length > 0;
  const faults: CallFault[] = [...anywhere, 'throttled'];
  if (writes) faults.push('timeout after', 'applied late');
  if (operation === 'TransactWriteItems' || purpose === 'start') faults.push('conflict');
  if (operation === 'BatchGetItem') faults.push('unprocessed keys');
  if (purpose === 'query lease') faults.push('stale index');
  if (purpose === 'settle') checker.runs.finishes(sending.run, 'it charges for the images');
  const isOfColdStarts = purpose.endsWith(' model');
  if (isOfColdStarts) checker.coldStarts.used(sending.run, purpose);
  return play(simulation, {
    ...sending,
    name: purpose,
    faults,
    isHarmless: isOfColdStarts,
    async apply() {
      if (purpose === 'read gen') checker.runs.read(sending.run);
      const { status, body } = await database.send(operation, call.text);
      if (writes) await checker.applied(call, sending.run, status);
      return jsonAnswer(status, status === 200 ? lagging(simulation, call, body) : body);
    },
    refusals: tableRefusals(call),
    distort(fault, answer) {
      if (answer.statusCode !== 200) return answer;
      const distort = fault === 'stale index' ? staleLeases : someUnprocessed;
      return jsonAnswer(200, distort(simulation, call, JSON.parse(String(answer.body)) as Json));
    },
  });
}

function someUnprocessed({ random, database }: Simulation, call: TableCall, body: Json): Json {
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
function staleLeases({ random, checker }: Simulation, call: TableCall, body: Json): Json {
  const leaseShard = call.body.ExpressionAttributeValues[':shard'] as Json;
  const ghosts = checker.ended().filter(() => random.chance(0.1));
  const Items = [
    ...(body.Items as Json[]).filter(() => random.chance(0.5)),
    ...ghosts.map(({ PK, SK }) => ({ PK: { S: PK }, SK: { S: SK }, leaseShard, leaseUntilMs: { N: '1' } })),
  ].slice(0, call.body.Limit ?? 50);
  return { ...body, Items, Count: Items.length };
}

/** Whoever does not ask for a consistent read may learn what was there a moment ago. */
function lagging({ random, checker, database }: Simulation, call: TableCall, body: Json): Json {
  const lag = (keys: Json[], found: Json[]): Json[] =>
    keys.flatMap(({ PK, SK }) => {
      const now = found.filter((item) => item.PK.S === PK.S && item.SK.S === SK.S);
      const before = random.chance(0.5) ? checker.lagging(PK.S, SK.S) : null;
      if (before === null) return now;
      return before.item === undefined ? [] : [marshall(before.item)];
    });
  if (call.operation === 'GetItem' && !call.body.ConsistentRead) {
    const [Item] = lag([call.body.Key], body.Item === undefined ? [] : [body.Item]);
    return Item === undefined ? {} : { Item };
  }
  const table = database.tableName;
  const request = call.body.RequestItems?.[table] as Json | undefined;
  if (call.operation !== 'BatchGetItem' || request?.ConsistentRead) return body;
  return { ...body, Responses: { [table]: lag(request!.Keys, body.Responses[table]) } };
}

/** Whether an image or a preview is there, and how large it is. */
function toObject(simulation: Simulation, key: string, sending: Sending): Promise<HttpAnswer> {
  const { bucket, checker, random } = simulation;
  checker.runs.finishes(sending.run, 'it looks at the images');
  simulation.watch.touched(key.split('/')[2]!);
  return play(simulation, {
    ...sending,
    name: /\/preview-\d+\.webp$/.test(key) ? 'look at a preview' : 'look at an image',
    faults: [...anywhere, 'throttled', 'object missing'],
    async apply() {
      const bytes = bucket.size(key);
      return bytes === null ? emptyAnswer(404) : emptyAnswer(200, { 'content-length': String(bytes) });
    },
    refusals: { '500': () => emptyAnswer(500), throttled: () => emptyAnswer(503) },
    distort: () => emptyAnswer(random.pick([403, 404])),
  });
}

/** S3 answers the same whether there was anything to delete. */
function toDeletion(simulation: Simulation, key: string, sending: Sending): Promise<HttpAnswer> {
  const { bucket, checker } = simulation;
  const ofRequest = bucket.askToDelete(key);
  if (ofRequest !== null) checker.runs.deletesCopies(sending.run, ofRequest);
  return play(simulation, {
    ...sending,
    name: ofRequest === null ? 'delete an image' : 'delete a copy',
    faults: [...anywhere, 'throttled', 'timeout after', 'applied late'],
    async apply() {
      bucket.delete(key);
      return emptyAnswer(204);
    },
    refusals: { '500': () => emptyAnswer(500), throttled: () => emptyAnswer(503) },
  });
}

/** The note that a request is deleted, which outlives the table, and the one that it was cancelled. */
function toMark(simulation: Simulation, key: string, sending: Sending): Promise<HttpAnswer> {
  const { bucket, checker, must } = simulation;
  const { run } = sending;
  const [kind, , requestId] = key.split('/');
  const isFlag = kind === 'cancelled';
  return play(simulation, {
    ...sending,
    name: isFlag ? 'put a flag' : 'put a tombstone',
    isHurried: isFlag,
    faults: [...anywhere, 'throttled', 'timeout after', 'applied late'],
    async apply() {
      const { errorCode } = checker.record(requestId!)!.item;
      must(!isFlag || errorCode === 'CANCELLED', `${run.name}: stops what is not cancelled`);
      bucket.mark(key);
      return emptyAnswer(200);
    },
    refusals: { '500': () => emptyAnswer(500), throttled: () => emptyAnswer(503) },
  });
}

function toModel(
  simulation: Simulation,
  body: ModelRequest | ModelProbe,
  sending: Sending,
): Promise<HttpAnswer> {
  const { checker, capacity } = simulation;
  const { run, signal } = sending;
  const behavior = capacity.refuses() ? 'scaled to zero' : drawBehavior(simulation, run);
  const isProbe = 'probe' in body;
  if (!isProbe) checker.runs.callsModel(run);
  checker.coldStarts.called(run);
  // What it said last counts: a probe that it refuses may show that it is there.
  run.isRefused = behavior === 'refused' || Boolean(modelRefusal(behavior));
  if (behavior === 'scaled to zero' || behavior === 'no capacity') checker.coldStarts.found(run);
  if (!behavior.startsWith('good')) run.faults.push({ call: 'the model', fault: behavior });
  const name = `${isProbe ? 'probe' : 'call'} the model (${behavior})`;
  if (behavior === 'refused') {
    simulation.note(run.name, name);
    return Promise.reject(socketError('ECONNREFUSED'));
  }
  return play(simulation, {
    ...sending,
    name,
    faults: anywhere.filter((fault) => !fault.startsWith('500')),
    refusals: {},
    async apply() {
      if (!isProbe && behavior !== 'scaled to zero') checker.generates(body, run);
      const refusal = modelRefusal(behavior);
      if (refusal !== undefined) return refusal;
      return isProbe ? probeAnswer() : modelAnswer(simulation, { behavior, request: body, run, signal });
    },
  });
}

function drawBehavior({ random, profile, outage, isCalm }: Simulation, run: Run): ModelBehavior {
  const good = () => (random.chance(0.03) ? 'good but slow' : 'good');
  if (isCalm() || !run.mayFail) return 'good';
  if (profile.hasUnreadableReferences) return 'fails before it begins';
  if (outage.model !== null) return outage.model;
  return random.chance(profile.model) ? random.weighted(profile.modelKinds) : good();
}

/** The function that fetches reference images. */
function toReferences(
  simulation: Simulation,
  { items }: FetchReferencesCommand,
  sending: Sending,
): Promise<HttpAnswer> {
  const { random, bucket } = simulation;
  const { run } = sending;
  return play(simulation, {
    ...sending,
    name: 'fetch references',
    faults: [...anywhere, 'timeout after', 'applied late'],
    async apply() {
      const bad = random.chance(0.1) ? random.int(0, items.length - 1) : null;
      if (bad !== null) run.hasUnusableReference = true;
      const late = run.faults.some(({ call }) => call === 'fetch references');
      // Now and then a put of its own fails, after which nobody knows what is there.
      const stored = bad === null || random.chance(0.2) ? items : [];
      for (const { putLink } of stored) if (putLink !== null) bucket.copy(keyOfLink(putLink), run, late);
      return jsonAnswer(200, { problems: items.map((_, i) => (i === bad ? 'is a GIF' : null)) });
    },
    refusals: { '500': () => jsonAnswer(500, { message: 'failed' }) },
  });
}

/** SQS takes a message or refuses it, or has one that was received come back. */
function toQueue(
  simulation: Simulation,
  queues: Queues,
  target: string | null,
  sent: Json,
  sending: Sending,
): Promise<HttpAnswer> {
  const { runs } = simulation.checker;
  const isNew = target === 'AmazonSQS.SendMessage';
  if (!isNew && target !== 'AmazonSQS.ChangeMessageVisibility') throw new Error(`nobody does ${target}`);
  if (isNew) runs.enqueues(JSON.parse(sent.MessageBody).requestId, sending.run);
  else runs.bringsBack(sending.run, sent.VisibilityTimeout);
  return play(simulation, {
    ...sending,
    name: isNew ? 'enqueue' : 'bring back',
    faults: [...anywhere, 'throttled', 'timeout after', 'applied late'],
    isHurried: true,
    async apply() {
      if (isNew) queues.take(JSON.parse(sent.MessageBody));
      else if (!queues.bringBack(sent.ReceiptHandle, sent.VisibilityTimeout))
        return queueError(400, 'MessageNotInflight');
      return jsonAnswer(200, isNew ? { MessageId: 'simulated' } : {});
    },
    refusals: {
      '500': () => queueError(500, 'InternalError'),
      throttled: () => queueError(400, 'RequestThrottled'),
    },
  });
}
