import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { readBody } from '../http/read-body.ts';
import { listen, type RunningServer } from '../http/server.ts';
import { callContainer, type Answer } from './container.ts';
import { serveControlPlane, type Component } from './control-plane.ts';
import {
  answerFailure,
  bodyTooLarge,
  componentNotNamed,
  containerUnreachable,
  internalFailure,
  modelError,
  noCapacity,
  notFound,
  unknownOperation,
  unsignedRequest,
  type Failure,
} from './failures.ts';
import { modelStreamError, payloadPart } from './frames.ts';

export interface SageMakerOptions {
  /** Endpoint names and the base URL of the container behind each, for example `http://127.0.0.1:8080`. */
  endpoints: Record<string, string>;
  /** The inference component of one of them, which may be scaled to zero. */
  component?: Component;
}

/** AWS's limits: https://docs.aws.amazon.com/sagemaker/latest/dg/deploy-model-options.html (real-time inference) */
const maxBodyBytes = 25_000_000;
const streamLimitMs = 480_000;
const maxOriginalMessageBytes = 2048;

/**
 * Starts a SageMaker runtime: InvokeEndpointWithResponseStream in front of HTTP containers. With an inference component,
 * the same address is that of SageMaker's control plane, too.
 */
export async function startSageMakerRuntime(options: SageMakerOptions): Promise<RunningServer> {
  const server = createServer((request, response) => {
    response.setHeader('x-amzn-requestid', randomUUID());
    serve(request, response, options).catch(() => {
      if (response.headersSent) response.destroy();
      else answerFailure(response, internalFailure, true);
    });
  });
  // Node's own limit of five minutes for a request would end a stream before SageMaker's eight.
  server.requestTimeout = 0;
  return listen(server);
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { endpoints, component }: SageMakerOptions,
): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://runtime').pathname;
  if (path === '/' && component !== undefined) return serveControlPlane(request, response, component);
  const [, name] = /^\/endpoints\/([\w-]+)\/invocations-response-stream$/.exec(path) ?? [];
  if (name === undefined || request.method !== 'POST') return answerFailure(response, unknownOperation, true);
  const { authorization } = request.headers;
  if (!authorization?.startsWith('AWS4-')) return answerFailure(response, unsignedRequest, true);
  const container = Object.hasOwn(endpoints, name) ? endpoints[name] : undefined;
  if (container === undefined) return answerFailure(response, notFound(`Endpoint ${name}`), true);
  const body = await readBody(request, maxBodyBytes);
  if (!body) return answerFailure(response, bodyTooLarge(maxBodyBytes), true);
  const call = { name, container, body };
  if (component?.endpointName !== name) return passOn(request, response, call);
  const failure = componentFailure(request, component);
  if (failure !== null) return answerFailure(response, failure);
  await passOn(request, response, call).finally(() => component.scaling.end());
}

/** Why a component takes no call; null where it has taken this one. */
function componentFailure({ headers }: IncomingMessage, { name, scaling }: Component): Failure | null {
  const asked = headers['x-amzn-sagemaker-inference-component'];
  if (asked === undefined) return componentNotNamed;
  if (asked !== name) return notFound(`Inference Component ${String(asked)}`);
  return scaling.begin() ? null : noCapacity;
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
  const { signal } = caller;
  const answer = await callContainer(container, { body, headers, signal, timeLimitMs: streamLimitMs });
  if (signal.aborted) return;
  if ('failure' in answer) {
    const { failure } = answer;
    const why =
      failure === 'timed_out' ? 'Your invocation timed out.' : 'The container closed the connection.';
    return answerFailure(
      response,
      failure === 'unreachable' ? containerUnreachable : modelError(name, 0, why),
    );
  }
  try {
    const status = answer.response.statusCode ?? 0;
    if (status >= 200 && status < 300) return await answerStream(response, answer, signal);
    const read = await readBody(answer.response, 1_000_000).catch(() => null);
    const text = read?.subarray(0, maxOriginalMessageBytes).toString('utf8') ?? '';
    answerFailure(response, modelError(name, status, text));
  } finally {
    answer.done();
  }
}

type Reply = Extract<Answer, { response: IncomingMessage }>;

/** Passes each piece on as it comes; a piece waits while the caller reads more slowly than the container writes. */
async function answerStream(response: ServerResponse, reply: Reply, signal: AbortSignal): Promise<void> {
  response.writeHead(200, {
    'content-type': 'application/vnd.amazon.eventstream',
    'x-amzn-sagemaker-content-type': reply.response.headers['content-type'] ?? 'application/octet-stream',
  });
  response.flushHeaders();
  try {
    for await (const chunk of reply.response as AsyncIterable<Buffer>) {
      if (!response.write(payloadPart(chunk))) await once(response, 'drain', { signal });
    }
  } catch {
    // Nothing arrives any more where it was the caller that left.
    response.write(modelStreamError(reply.timedOut() ? 'ModelInvocationTimeExceeded' : 'StreamBroken'));
  }
  response.end();
}
