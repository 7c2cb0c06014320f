import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callContainer } from './container.ts';
import type { Answer } from './container.ts';
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
  /** 0, the default, lets the system choose. */
  port?: number;
  /** AWS's own limits unless told otherwise; tests shorten them. */
  limits?: Partial<Limits>;
}

/** https://docs.aws.amazon.com/sagemaker/latest/dg/deploy-model-options.html (real-time inference) */
interface Limits {
  /** Either way, for one invocation. */
  bodyBytes: number;
  invokeMs: number;
  streamMs: number;
}

const awsLimits: Limits = { bodyBytes: 25_000_000, invokeMs: 60_000, streamMs: 480_000 };
const ORIGINAL_MESSAGE_BYTES = 2048;

/**
 * Starts a SageMaker runtime: InvokeEndpoint and InvokeEndpointWithResponseStream in front of HTTP containers.
 *
 * @throws when the port is taken.
 */
export async function startSageMakerRuntime({
  endpoints,
  port = 0,
  limits = {},
}: SageMakerOptions): Promise<{ url: string; close(): Promise<void> }> {
  const containers = new Map(Object.entries(endpoints));
  const settings = { ...awsLimits, ...limits };
  const server = createServer((request, response) => {
    response.setHeader('x-amzn-requestid', randomUUID());
    serve(request, response, containers, settings).catch(() => {
      if (response.headersSent) response.destroy();
      else answerFailure(response, internalFailure(), true);
    });
  });
  // Node's own limit of five minutes for a request would end a stream before SageMaker's eight.
  server.requestTimeout = 0;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => closeServer(server),
  };
}

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  containers: Map<string, string>,
  limits: Limits,
): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://runtime').pathname;
  const route = /^\/endpoints\/([^/]+)\/invocations(-response-stream)?$/.exec(path);
  if (!route || request.method !== 'POST') return answerFailure(response, unknownOperation(), true);
  const { authorization } = request.headers;
  if (!authorization?.startsWith('AWS4-')) return answerFailure(response, unsignedRequest(), true);
  const name = decodeName(route[1]!);
  const container = containers.get(name);
  if (container === undefined) return answerFailure(response, endpointNotFound(name), true);
  const body = await readBody(request, limits.bodyBytes);
  if (!body) return answerFailure(response, bodyTooLarge(limits.bodyBytes), true);

  const caller = new AbortController();
  response.on('close', () => caller.abort());
  const streams = route[2] !== undefined;
  const timeLimitMs = streams ? limits.streamMs : limits.invokeMs;
  const answer = await callContainer(container, {
    body,
    headers: request.headers,
    signal: caller.signal,
    timeLimitMs,
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
    else if (streams) await answerStream(response, answer);
    else await answerWhole(response, name, answer, limits);
  } finally {
    answer.done();
  }
}

/** A name that is no valid percent-encoding is looked up as it stands, and so not found. */
function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The whole body, or nothing when it is longer than the limit. */
async function readBody(message: IncomingMessage, limitBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limitBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function answerModelError(
  response: ServerResponse,
  name: string,
  container: IncomingMessage,
): Promise<void> {
  const status = container.statusCode ?? 0;
  const body = await readBody(container, 1_000_000).catch(() => undefined);
  const text = body?.subarray(0, ORIGINAL_MESSAGE_BYTES).toString('utf8') ?? '';
  answerFailure(response, modelError(name, status, text));
}

type Reply = Extract<Answer, { response: IncomingMessage }>;

async function answerWhole(
  response: ServerResponse,
  name: string,
  reply: Reply,
  limits: Limits,
): Promise<void> {
  let body: Buffer | undefined;
  try {
    body = await readBody(reply.response, limits.bodyBytes);
  } catch {
    return answerFailure(response, modelSilent(name, reply.timedOut()));
  }
  if (!body)
    return answerFailure(
      response,
      modelError(name, 0, `The response is larger than ${limits.bodyBytes} bytes.`),
    );
  response.writeHead(200, {
    ...commonHeaders(reply.response),
    'content-type': reply.response.headers['content-type'] ?? 'application/octet-stream',
    'content-length': body.length,
  });
  response.end(body);
}

/** Passes each piece on as it comes; a piece waits while the caller reads more slowly than the container writes. */
async function answerStream(response: ServerResponse, reply: Reply): Promise<void> {
  response.writeHead(200, {
    ...commonHeaders(reply.response),
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

function commonHeaders({ headers }: IncomingMessage): Record<string, string> {
  const attributes = headers['x-amzn-sagemaker-custom-attributes'];
  return {
    'x-amzn-invoked-production-variant': 'AllTraffic',
    ...(attributes === undefined ? {} : { 'x-amzn-sagemaker-custom-attributes': String(attributes) }),
  };
}
