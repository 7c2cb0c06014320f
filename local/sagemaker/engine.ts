import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { readBody } from '../http/read-body.ts';
import { listen, type RunningServer } from '../http/server.ts';
import { callContainer, type Answer } from './container.ts';
import { serveControlPlane, type Component } from './control-plane.ts';
import {
  answerFailure,
  bodyTooLarge,
  componentNotFound,
  componentNotNamed,
  containerUnreachable,
  endpointNotFound,
  internalFailure,
  modelError,
  modelSilent,
  noCapacity,
  unknownOperation,
  unsignedRequest,
  type Failure,
} from './failures.ts';
import { internalStreamFailure, modelStreamError, payloadPart } from './frames.ts';

export interface SageMakerOptions {
  /** Endpoint names and the base URL of the container behind each, for example `http://127.0.0.1:8080`. */
  endpoints: Record<string, string>;
  /** The inference component of one of them, which may sleep. */
  component?: Component;
}

/** AWS's limits: https://docs.aws.amazon.com/sagemaker/latest/dg/deploy-model-options.html (real-time inference) */
const maxBodyBytes = 25_000_000;
const streamLimitMs = 480_000;
const maxOriginalMessageBytes = 2048;

interface Runtime {
  containers: Map<string, string>;
  component: Component | undefined;
}

/**
 * Starts a SageMaker runtime: InvokeEndpointWithResponseStream in front of HTTP containers. With an inference component,
 * the same address is that of SageMaker's control plane, too.
 */
export async function startSageMakerRuntime(options: SageMakerOptions): Promise<RunningServer> {
  const { component } = options;
  const runtime = { containers: new Map(Object.entries(options.endpoints)), component };
  const server = createServer((request, response) => {
    response.setHeader('x-amzn-requestid', randomUUID());
    serve(request, response, runtime).catch(() => {
      if (response.headersSent) response.destroy();
      else answerFailure(response, internalFailure(), true);
    });
  });
  // Node's own limit of five minutes for a request would end a stream before SageMaker's eight.
  server.requestTimeout = 0;
  return listen(server);
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { containers, component }: Runtime,
): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://runtime').pathname;
  if (path === '/' && component !== undefined) return serveControlPlane(request, response, component);
  const route = /^\/endpoints\/([^/]+)\/invocations-response-stream$/.exec(path);
  if (!route || request.method !== 'POST') return answerFailure(response, unknownOperation(), true);
  const { authorization } = request.headers;
  if (!authorization?.startsWith('AWS4-')) return answerFailure(response, unsignedRequest(), true);
  const name = decodeName(route[1]!);
  const container = containers.get(name);
  if (container === undefined) return answerFailure(response, endpointNotFound(name), true);
  const body = await readBody(request, maxBodyBytes);
  if (!body) return answerFailure(response, bodyTooLarge(maxBodyBytes), true);
  if (component?.endpointName !== name) return passOn(request, response, { name, container, body });
  const failure = componentFailure(request, component);
  if (failure !== null) return answerFailure(response, failure);
  await passOn(request, response, { name, container, body }).finally(() => component.sleeper.end());
}

/** Why a component takes no call; null where it has taken this one. */
function componentFailure({ headers }: IncomingMessage, { name, sleeper }: Component): Failure | null {
  const asked = headers['x-amzn-sagemaker-inference-component'];
  if (asked === undefined) return componentNotNamed();
  if (asked !== name) return componentNotFound(String(asked));
  return sleeper.begin() ? null : noCapacity();
}

interface TakenCall {
  name: string;
  container: string;
  body: Buffer;
}

async function passOn(
  { headers }: IncomingMessage,
  response: ServerResponse,
  { name, container, body }: TakenCall,
): Promise<void> {
  const caller = new AbortController();
  response.on('close', () => caller.abort());
  const answer = await callContainer(container, {
    body,
    headers,
    signal: caller.signal,
    timeLimitMs: streamLimitMs,
  });
  if (caller.signal.aborted) return;
  if ('failure' in answer) {
    const unreachable = answer.failure === 'unreachable';
    return answerFailure(
      response,
      unreachable ? containerUnreachable() : modelSilent(name, answer.failure === 'timed_out'),
    );
  }
  try {
    const status = answer.response.statusCode ?? 0;
    if (status < 200 || status > 299) await answerModelError(response, name, answer.response);
    else await answerStream(response, answer);
  } finally {
    answer.done();
  }
}

/** A name that can't be decoded is looked up as it is, and so not found. */
function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function answerModelError(
  response: ServerResponse,
  name: string,
  container: IncomingMessage,
): Promise<void> {
  const status = container.statusCode ?? 0;
  const body = await readBody(container, 1_000_000).catch(() => null);
  const text = body?.subarray(0, maxOriginalMessageBytes).toString('utf8') ?? '';
  answerFailure(response, modelError(name, status, text));
}

type Reply = Extract<Answer, { response: IncomingMessage }>;

/** Passes each piece on as it comes; a piece waits while the caller reads more slowly than the container writes. */
async function answerStream(response: ServerResponse, reply: Reply): Promise<void> {
  response.writeHead(200, {
    'content-type': 'application/vnd.amazon.eventstream',
    'x-amzn-sagemaker-content-type': reply.response.headers['content-type'] ?? 'application/octet-stream',
  });
  response.flushHeaders();
  try {
    for await (const chunk of reply.response as AsyncIterable<Buffer>) {
      if (response.destroyed) return;
      if (!response.write(payloadPart(chunk))) await drained(response);
    }
  } catch {
    if (response.destroyed) return;
    const broken = reply.response.destroyed && !reply.response.complete;
    const code = reply.timedOut() ? 'ModelInvocationTimeExceeded' : 'StreamBroken';
    response.write(broken ? modelStreamError(code) : internalStreamFailure());
  }
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      response.off('drain', go);
      response.off('close', go);
      resolve();
    };
    response.on('drain', go);
    response.on('close', go);
  });
}
