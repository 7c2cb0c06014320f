import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import type { ModelEvent } from './contract.ts';
import { createRate } from './estimate.ts';
import { runJob } from './job.ts';
import type { ServerContext } from './job.ts';
import { Line } from './line.ts';
import { MODEL_VERSION } from './model-version.ts';
import { createPool } from './pool.ts';
import { parseRequest } from './request.ts';
import { createSemaphore } from './semaphore.ts';

const BODY_LIMIT_BYTES = 1024 * 1024;

export interface PainterOptions {
  /** 0, the default, lets the system choose. */
  port?: number;
  host?: string;
  /** Painting threads; by default two, or one on a machine with one core. */
  workers?: number;
}

/**
 * Starts the painter behind the model container's contract: GET /ping and POST /invocations.
 *
 * It serves as soon as the promise resolves; its threads load meanwhile, and requests wait for them.
 *
 * @throws when the port is taken.
 */
export async function startPainter(
  options: PainterOptions = {},
): Promise<{ url: string; close(): Promise<void> }> {
  const { port = 0, host = '127.0.0.1', workers = Math.min(2, availableParallelism()) } = options;
  const server = createServer();
  server.listen(port, host);
  await once(server, 'listening');
  const rate = createRate();
  const pool = createPool(workers, rate);
  const context: ServerContext = {
    pool,
    line: new Line({ pool, rate }),
    semaphore: createSemaphore(workers),
  };
  server.on('request', (request, response) => {
    serve(request, response, context).catch(() => response.destroy());
  });
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    close: async () => {
      await Promise.all([closeServer(server), pool.close()]);
    },
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
  context: ServerContext,
): Promise<void> {
  const path = (request.url ?? '/').split('?')[0];
  if (path === '/ping' && (request.method === 'GET' || request.method === 'HEAD')) {
    response.writeHead(200, { 'content-length': 0 }).end();
    return;
  }
  if (path !== '/invocations' || request.method !== 'POST') {
    response
      .writeHead(path === '/ping' || path === '/invocations' ? 405 : 404, { 'content-length': 0 })
      .end();
    return;
  }
  const body = await readBody(request);
  if (body === undefined) return answerOnce(response, 413, invalid('The body is larger than 1 MiB.'));
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return answerOnce(response, 400, invalid('The body is not JSON.'));
  }
  const parsed = parseRequest(json);
  if ('probe' in parsed) return answerOnce(response, 200, { event: 'ready', modelVersion: MODEL_VERSION });
  if ('problem' in parsed) return answerOnce(response, 200, invalid(parsed.problem));

  const hangUp = new AbortController();
  response.on('close', () => hangUp.abort(new Error('The caller hung up.')));
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  // A caller that goes away between two events is no error. It only ends the work.
  response.on('error', () => hangUp.abort(new Error('The caller hung up.')));
  await runJob(parsed.request, context, (event) => void response.write(line(event)), hangUp.signal);
  response.end();
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_LIMIT_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function invalid(message: string): ModelEvent {
  return { event: 'failed', reason: 'invalid_request', message };
}

function line(event: ModelEvent): string {
  return `${JSON.stringify(event)}\n`;
}

function answerOnce(response: ServerResponse, status: number, event: ModelEvent): void {
  const body = line(event);
  response.writeHead(status, {
    'content-type': 'application/x-ndjson',
    'content-length': Buffer.byteLength(body),
    // The rest of a body that is too long stays unread, so the connection can't be used again.
    ...(status === 413 ? { connection: 'close' } : {}),
  });
  response.end(body);
}
