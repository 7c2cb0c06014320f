import { randomUUID } from 'node:crypto';
import { AwsFault, startRest, type RestAnswer } from '../http/rest.ts';
import type { RunningServer } from '../http/server.ts';
import type { SigningScope } from '../http/signed.ts';
import { eventQueue, type EventQueue, type Functions } from './event-queue.ts';

export interface LambdaOptions extends Omit<SigningScope, 'service'> {
  functions: Functions;
  /** For functions that are invoked without waiting: where the record of an event that failed goes. There is no second try. */
  onFailure?: Record<string, string>;
}

export interface Lambda extends RunningServer, EventQueue {}

/** Where a function is invoked, below the engine's or AWS's own address (AWS Lambda API, "Invoke"). */
export function invocationPath(functionName: string): string {
  return `/2015-03-31/functions/${functionName}/invocations`;
}

/** Every function has this alias, as in a deployment. */
const onlyAlias = 'live';

/** AWS's limit for an event, and a lower one that all of AWS's regions have for an event that nobody waits for. */
const maxBodyBytes = 6 * 1024 * 1024;
const maxQueuedBytes = 256 * 1024;

/**
 * Starts Lambda's Invoke in front of functions of this process, by name or by `NAME%3Alive`. The caller waits for them
 * (`RequestResponse`), or only until the event was taken (`Event`).
 */
export async function startLambda({ functions, onFailure = {}, ...signing }: LambdaOptions): Promise<Lambda> {
  const queue = eventQueue(functions, onFailure);
  const options = {
    ...signing,
    service: 'lambda',
    maxBodyBytes,
    signatureFault: 'InvalidSignatureException',
  };
  const server = await startRest(options, async ({ url = '', method, headers }, body) => {
    const path = /^\/2015-03-31\/functions\/([\w-]+)(?:%3A([\w-]+))?\/invocations$/.exec(url);
    const [, name, alias = onlyAlias] = path ?? [];
    if (name === undefined || method !== 'POST') {
      throw new AwsFault('UnknownOperationException', 'This engine serves Invoke.', 404);
    }
    const run = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (run === undefined || alias !== onlyAlias) {
      throw new AwsFault('ResourceNotFoundException', `Function not found: ${name}`, 404);
    }
    const event = parse(body);
    const type = headers['x-amz-invocation-type'] ?? 'RequestResponse';
    if (type === 'RequestResponse') return answerOf(run, event);
    if (type !== 'Event') {
      throw new AwsFault('ValidationException', `This engine invokes no function as ${String(type)}.`);
    }
    if (body.length > maxQueuedBytes) {
      throw new AwsFault('RequestTooLargeException', `At most ${maxQueuedBytes} bytes are queued.`, 413);
    }
    queue.take(name, event);
    return { status: 202 };
  });
  return { ...server, ...queue };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new AwsFault('InvalidRequestContentException', 'The event is not JSON.');
  }
}

/** When a function throws, the status is 200 as well, with a header that marks the error. */
async function answerOf(run: Functions[string], event: unknown): Promise<RestAnswer> {
  try {
    return { status: 200, value: (await run(event, { awsRequestId: randomUUID() })) ?? null };
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    const headers = { 'x-amz-function-error': 'Unhandled' };
    return { status: 200, headers, value: { errorType: name, errorMessage: message } };
  }
}
