import { modelError } from '../../../local/sagemaker/failures.ts';
import { payloadPart } from '../../../local/sagemaker/frames.ts';
import type { GenerationRef } from '../../../shared/generations/worker-contract.ts';
import type { ModelProbe, ModelRequest } from '../../../shared/model/contract.ts';
import type { FetchReferencesCommand } from '../../../shared/references/contract.ts';
import { jobs } from '../../../shared/routes/jobs.ts';
import { keyOf, previewKey } from './bucket.ts';
import { distortTableAnswer, lagging } from './distortions.ts';
import type { EventQueue } from './event-queue.ts';
import {
  conflict,
  internalError,
  jsonAnswer,
  socketError,
  throttled,
  byteStream,
  type HttpAnswer,
} from './answers.ts';
import { anywhere, play, type Exchange, type Sending } from './exchange.ts';
import type { CallFault, ModelBehavior } from './faults.ts';
import { playModel } from './model.ts';
import { currentRun, type Run } from './runs.ts';
import { readTableCall, type TableCall } from './table-calls.ts';
import type { World } from './world.ts';

interface HttpRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: Uint8Array | string;
}

/** Where the calls of the SDK's clients, and `fetch`, go instead of to the network. */
export function createNetwork(world: World, events: EventQueue) {
  return {
    send(request: HttpRequest, timeoutMs: number | undefined, signal: AbortSignal | undefined) {
      const run = currentRun.getStore();
      if (run === undefined) throw new Error(`a call by nobody: ${request.method} ${request.path}`);
      const sending = { run, timeoutMs, signal };
      const operation = request.headers['x-amz-target']?.split('.')[1];
      if (operation !== undefined) return toTable(world, readTableCall(operation, text(request)), sending);
      if (request.path.startsWith('/endpoints/')) return toModel(world, JSON.parse(text(request)), sending);
      return toBucket(world, request, sending);
    },
    async fetch(url: string, { body, signal }: RequestInit): Promise<Response> {
      const sending = { run: currentRun.getStore()!, timeoutMs: undefined, signal: signal ?? undefined };
      const event = JSON.parse(String(body));
      const isForWorker = url.includes(`/${jobs.runGeneration.functionName}`);
      const answer = await (isForWorker
        ? toWorker(world, events, event, sending)
        : toReferences(world, event, sending));
      return new Response(answer.body as Buffer<ArrayBuffer>, { status: answer.statusCode });
    },
  };
}

export type Network = ReturnType<typeof createNetwork>;

const decoder = new TextDecoder();

function text({ body }: HttpRequest): string {
  return typeof body === 'string' ? body : decoder.decode(body);
}

function toTable(world: World, call: TableCall, sending: Sending): Promise<HttpAnswer> {
  const writes = call.keys.length > 0;
  const faults: CallFault[] = [...anywhere, 'throttled'];
  if (writes) faults.push('timeout after', 'applied late');
  if (call.operation === 'TransactWriteItems' || call.purpose === 'start') faults.push('conflict');
  if (call.operation === 'BatchGetItem') faults.push('unprocessed keys');
  if (call.purpose === 'query lease') faults.push('stale index');
  if (call.purpose === 'settle') world.checker.runs.finishes(sending.run, 'it charges for the images');
  const isOfWaking = call.purpose.endsWith(' model');
  if (isOfWaking) world.checker.waking.used(sending.run, call.purpose);
  return play(world, {
    ...sending,
    name: call.purpose,
    faults,
    isHarmless: isOfWaking,
    async apply() {
      if (call.purpose === 'read gen') world.checker.runs.read(sending.run);
      const { status, body } = await world.database.send(call.operation, call.text);
      if (writes) await world.checker.applied(call, sending.run, status);
      return jsonAnswer(status, status === 200 ? lagging(world, call, body) : body);
    },
    refusals: {
      '500': internalError,
      throttled: () => throttled(call),
      conflict: () => conflict(call),
    },
    distort: (fault, answer) => distortTableAnswer(world, fault, call, answer),
  });
}

function toBucket(world: World, { path, method }: HttpRequest, sending: Sending): Promise<HttpAnswer> {
  const key = keyOf(path.split('?')[0]!);
  if (method === 'DELETE') return toDeletion(world, key, sending);
  if (method !== 'HEAD') throw new Error(`the service only looks at images: ${method} ${path}`);
  const missing = (statusCode: number): HttpAnswer => ({ statusCode, headers: {}, body: Buffer.alloc(0) });
  world.checker.runs.finishes(sending.run, 'it looks at the images');
  return play(world, {
    ...sending,
    name: previewKey.test(key) ? 'look at a preview' : 'look at an image',
    faults: [...anywhere, 'throttled', 'object missing'],
    async apply() {
      const bytes = world.bucket.size(key);
      if (bytes === null) return missing(404);
      return { statusCode: 200, headers: { 'content-length': String(bytes) }, body: Buffer.alloc(0) };
    },
    refusals: { '500': () => missing(500), throttled: () => missing(503) },
    distort: () => missing(world.random.pick([403, 404])),
  });
}

/** S3 answers the same whether there was anything to delete. */
function toDeletion(world: World, key: string, sending: Sending): Promise<HttpAnswer> {
  const answer = (statusCode: number): HttpAnswer => ({ statusCode, headers: {}, body: Buffer.alloc(0) });
  const ofRequest = world.bucket.askToDelete(key);
  if (ofRequest !== null) world.checker.runs.deletesCopies(sending.run, ofRequest);
  return play(world, {
    ...sending,
    name: ofRequest === null ? 'delete an image' : 'delete a copy',
    faults: [...anywhere, 'throttled', 'timeout after', 'applied late'],
    async apply() {
      world.bucket.delete(key);
      return answer(204);
    },
    refusals: { '500': () => answer(500), throttled: () => answer(503) },
  });
}

function toModel(world: World, body: ModelRequest | ModelProbe, sending: Sending): Promise<HttpAnswer> {
  const behavior = world.sleep.refuses() ? 'asleep' : drawBehavior(world, sending.run);
  const isProbe = 'probe' in body;
  if (!isProbe) world.checker.runs.callsModel(sending.run);
  sending.run.foundAsleepAtMs = behavior === 'asleep' ? world.scheduler.now() : null;
  if (['asleep', 'no capacity'].includes(behavior)) world.checker.waking.foundAsleep(sending.run);
  if (!behavior.startsWith('good')) {
    sending.run.faults.push({ call: 'the model', fault: behavior });
    world.counts.add(`model: ${behavior}`);
  }
  const exchange: Exchange = {
    ...sending,
    name: isProbe ? `probe the model (${behavior})` : `call the model (${behavior})`,
    faults: [
      'slow',
      'reset before',
      'reset after',
      'timeout before',
      'killed before',
      'killed after',
      'stalled',
    ],
    refusals: {},
    async apply() {
      if (!isProbe && behavior !== 'asleep') world.checker.painted(body, sending.run);
      if (behavior === 'never answers') return null;
      const refuse = refusing[behavior];
      if (refuse !== undefined) return refuse();
      return isProbe ? probeAnswer() : modelAnswer(world, behavior, body, sending);
    },
  };
  if (behavior === 'refused') return Promise.reject(socketError('ECONNREFUSED'));
  return play(world, exchange);
}

function drawBehavior({ random, profile, outage, isCalm }: World, run: Run): ModelBehavior {
  const good = () => (random.chance(0.03) ? 'good but slow' : 'good');
  if (isCalm() || !run.mayFail) return 'good';
  if (outage.model !== null) return outage.model;
  return random.chance(profile.model) ? random.weighted(profile.modelKinds) : good();
}

const refusing: Partial<Record<ModelBehavior, () => HttpAnswer>> = {
  throttled: () => endpointError(400, 'ThrottlingException', 'Rate exceeded'),
  'no capacity': noCapacity,
  asleep: noCapacity,
  'answers 500': () => containerError(500),
  'answers 400': () => containerError(400),
};

function noCapacity(): HttpAnswer {
  const sentence = 'Inference Component has no capacity to process this request.';
  return endpointError(400, 'ValidationError', sentence);
}

/** A container that can answer at all says that it is there. */
function probeAnswer(): HttpAnswer {
  const stream = byteStream();
  stream.send(payloadPart(Buffer.from('{"event":"ready","modelVersion":"simulated"}\n')));
  stream.end();
  return { statusCode: 200, headers: {}, body: stream.read };
}

function modelAnswer(
  world: World,
  behavior: ModelBehavior,
  request: ModelRequest,
  { run, signal }: Sending,
): HttpAnswer {
  const stream = byteStream();
  // Whoever hangs up closes the socket, also while the SDK waits for the first event.
  signal?.addEventListener('abort', () => stream.fail(socketError('ECONNRESET')), { once: true });
  const { scheduler, random, bucket } = world;
  playModel({
    behavior,
    request,
    random,
    bucket,
    busyUntil: world.sleep.usedUntil,
    nowMs: scheduler.now(),
    later: (delayMs, action) => void scheduler.after(delayMs, action),
    answer: (delayMs, action) => void scheduler.after(delayMs, () => action(stream), run),
  });
  return { statusCode: 200, headers: {}, body: stream.read };
}

function containerError(status: number): HttpAnswer {
  const { name, status: statusCode, members } = modelError('model', status, '');
  return jsonAnswer(statusCode, members, { 'x-amzn-errortype': name });
}

function endpointError(statusCode: number, name: string, Message: string): HttpAnswer {
  return jsonAnswer(statusCode, { Message }, { 'x-amzn-errortype': name });
}

/** The function that fetches reference images. */
function toReferences(
  world: World,
  { items }: FetchReferencesCommand,
  sending: Sending,
): Promise<HttpAnswer> {
  const { run } = sending;
  return play(world, {
    ...sending,
    name: 'fetch references',
    faults: [...anywhere, 'timeout after', 'applied late'],
    async apply() {
      const bad = world.random.chance(0.1) ? world.random.int(0, items.length - 1) : null;
      if (bad !== null) run.hasUnusableReference = true;
      const late = run.faults.some(({ call }) => call === 'fetch references');
      // Now and then a put of its own fails, after which nobody knows what is there.
      const stored = bad === null || world.random.chance(0.2) ? items : [];
      for (const { putLink } of stored)
        if (putLink !== null) world.bucket.copy(keyOf(new URL(putLink).pathname), run, late);
      return jsonAnswer(200, { problems: items.map((_, i) => (i === bad ? 'is a GIF' : null)) });
    },
    refusals: { '500': () => jsonAnswer(500, { message: 'failed' }) },
  });
}

/** Lambda takes an event of the function that nobody waits for, or refuses it. */
function toWorker(
  world: World,
  events: EventQueue,
  event: GenerationRef,
  sending: Sending,
): Promise<HttpAnswer> {
  const { run } = sending;
  world.checker.runs.handedOver(event.requestId, run);
  return play(world, {
    ...sending,
    name: 'hand over',
    faults: [...anywhere, 'throttled', 'timeout after', 'applied late'],
    isHurried: true,
    async apply() {
      events.take(event);
      return { statusCode: 202, headers: {}, body: Buffer.alloc(0) };
    },
    refusals: {
      '500': () => jsonAnswer(500, { Type: 'Service' }),
      throttled: () => jsonAnswer(429, { Type: 'User', Reason: 'CallerRateLimitExceeded' }),
    },
  });
}
