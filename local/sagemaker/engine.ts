import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { readBody } from '../http/read-body.ts';
import { listen, type RunningServer } from '../http/server.ts';
import { callContainer, type Answer } from './container.ts';
import {
  answerFailure,
  bodyTooLarge,
  containerUnreachable,
  endpointNotFound,
  internalFailure,
  modelError,
  modelSilent,
  unknownOperation,
  unsignedRequest,
} from './failures.ts';
import { internalStreamFailure, modelStreamError, payloadPart } from './frames.ts';

export interface SageMakerOptions {
  /** Endpoint names and the base URL of the container behind each, for example `http://127.0.0.1:8080`. */
  endpoints: Record<string, string>;
}

/** AWS's limits: https://docs.aws.amazon.com/sagemaker/latest/dg/deploy-model-options.html (real-time inference) */
const maxBodyBytes = 25_000_000;
const streamLimitMs = 480_000;
const maxOriginalMessageBytes = 2048;

/** Starts a SageMaker runtime: InvokeEndpointWithResponseStream in front of HTTP containers. */
export async function startSageMakerRuntime({ endpoints }: SageMakerOptions): Promise<RunningServer> {
  const containers = new Map(Object.entries(endpoints));
  const server = createServer((request, response) => {
    response.setHeader('x-amzn-requestid', randomUUID());
    serve(request, response, containers).catch(() => {
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
  containers: Map<string, string>,
): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://runtime').pathname;
  const route = /^\/endpoints\/([^/]+)\/invocations-response-stream$/.exec(path);
  if (!route || request.method !== 'POST') return answerFailure(response, unknownOperation(), true);
  const { authorization } = request.headers;
  if (!authorization?.startsWith('AWS4-')) return answerFailure(response, unsignedRequest(), true);
  const name = decodeName(route[1]!);
  const container = containers.get(name);
  if (container === undefined) return answerFailure(response, endpointNotFound(name), true);
  const body = await readBody(request, maxBodyBytes);
  if (!body) return answerFailure(response, bodyTooLarge(maxBodyBytes), true);

  const caller = new AbortController();
  response.on('close', () => caller.abort());
  const { headers } = request;
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
