import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { eventQueue, type EventQueue, type Functions } from './event-queue.ts';
import { readBody } from '../http/read-body.ts';
import { listen, type RunningServer } from '../http/server.ts';
import { isSigned } from '../http/signed.ts';

export interface LambdaOptions {
  functions: Functions;
  /** For functions that are invoked without waiting: who is told of an event that failed. There is no second try. */
  onFailure?: Record<string, string>;
  credentials: { accessKeyId: string; secretAccessKey: string };
  region: string;
}

export interface Lambda extends RunningServer, EventQueue {}

/** Where a function is invoked, below the engine's or AWS's own address (AWS Lambda API, "Invoke"). */
export function invocationPath(functionName: string): string {
  return `/2015-03-31/functions/${functionName}/invocations`;
}

/** Every function has this alias, as in a deployment. */
const onlyAlias = 'live';

/** AWS's limit for an event, and a lower one that all of AWS's regions have for an event that nobody waits for. */
const maxPayloadBytes = 6 * 1024 * 1024;
const maxQueuedBytes = 256 * 1024;

/**
 * Starts Lambda's Invoke in front of functions of this process, by name or by `NAME%3Alive`. The caller waits for them
 * (`RequestResponse`), or only until the event was taken (`Event`).
 */
export async function startLambda(options: LambdaOptions): Promise<Lambda> {
  const queue = eventQueue(options.functions, options.onFailure ?? {});
  const server = createServer((request, response) => {
    response.setHeader('x-amzn-requestid', randomUUID());
    serve(request, response, options, queue).catch(() => {
      if (response.headersSent) response.destroy();
      else fail(response, 500, 'ServiceException', 'An internal failure occurred.');
    });
  });
  return { ...(await listen(server)), ...queue };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  options: LambdaOptions,
  queue: EventQueue,
): Promise<void> {
  const path = /^\/2015-03-31\/functions\/([\w-]+)(?:%3A([\w-]+))?\/invocations$/.exec(request.url ?? '');
  const [, name, alias] = path ?? [];
  if (name === undefined || request.method !== 'POST') {
    return fail(response, 404, 'UnknownOperationException', 'This engine serves Invoke.');
  }
  const body = await readBody(request, maxPayloadBytes);
  if (body === null) {
    response.setHeader('connection', 'close');
    return fail(response, 413, 'RequestTooLargeException', `At most ${maxPayloadBytes} bytes are taken.`);
  }
  if (!(await isSigned(request, body, { service: 'lambda', ...options }))) {
    return fail(response, 403, 'InvalidSignatureException', 'The signature does not match the request.');
  }
  const run = Object.hasOwn(options.functions, name) ? options.functions[name] : undefined;
  if (run === undefined || (alias !== undefined && alias !== onlyAlias))
    return fail(response, 404, 'ResourceNotFoundException', `Function not found: ${name}`);
  let event: unknown;
  try {
    event = JSON.parse(body.toString());
  } catch {
    return fail(response, 400, 'InvalidRequestContentException', 'The event is not JSON.');
  }
  const type = request.headers['x-amz-invocation-type'] ?? 'RequestResponse';
  if (type === 'RequestResponse') return answer(response, run, event);
  if (type !== 'Event') {
    return fail(response, 400, 'ValidationException', `This engine invokes no function as ${String(type)}.`);
  }
  if (body.length > maxQueuedBytes) {
    return fail(response, 413, 'RequestTooLargeException', `At most ${maxQueuedBytes} bytes are queued.`);
  }
  queue.take(name, event);
  response.writeHead(202).end();
}

/** When a function throws, the status is 200 as well, with a header that marks the error. */
async function answer(response: ServerResponse, run: Functions[string], event: unknown): Promise<void> {
  response.setHeader('x-amz-executed-version', '$LATEST');
  const payload = await run(event, { awsRequestId: randomUUID() }).catch((error: unknown) => {
    response.setHeader('x-amz-function-error', 'Unhandled');
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return { errorType: name, errorMessage: message };
  });
  send(response, 200, payload ?? null);
}

function fail(response: ServerResponse, status: number, type: string, message: string): void {
  response.setHeader('x-amzn-errortype', type);
  send(response, status, { Type: 'User', Message: message });
}

function send(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
