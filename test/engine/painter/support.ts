import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as sendHttp } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ModelEvent } from '../../../shared/contracts/model-server.ts';

export interface Upload {
  path: string;
  contentType: string | undefined;
  bytes: Buffer;
  sha256: string;
}

export interface Sink {
  /** A link for a name; the last upload to it is in `uploads`. */
  link(name: string): string;
  uploads: Upload[];
  close(): Promise<void>;
}

/** A place that takes PUTs as S3's presigned links do; `answer` may refuse them. */
export async function startSink(
  answer: (path: string, attempt: number) => number = () => 200,
): Promise<Sink> {
  const uploads: Upload[] = [];
  const attempts = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const attempt = (attempts.get(path) ?? 0) + 1;
    attempts.set(path, attempt);
    void take(request, response, path, attempt);
  });
  const take = async (request: IncomingMessage, response: ServerResponse, path: string, attempt: number) => {
    const bytes = await readAll(request);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    uploads.push({ path, contentType: request.headers['content-type'], bytes, sha256 });
    const status = answer(path, attempt);
    if (status === 0) request.socket.destroy();
    else response.writeHead(status).end();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    link: (name) => `http://127.0.0.1:${port}/${name}`,
    uploads,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readAll(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** A request that fits the contract, with one output for each link. */
export function modelRequest(
  links: string[],
  changes: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    requestId: '0198c0de-0000-7000-8000-000000000001',
    deadline: inMs(60_000),
    prompt: 'a quiet sea',
    negativePrompt: '',
    seed: 11,
    numInferenceSteps: 20,
    guidanceScale: 7.5,
    width: 512,
    height: 512,
    numOutputs: links.length,
    referenceMode: 'reference',
    preserveBranding: false,
    references: [],
    identity: { id: 'idn_a', adapterUrl: null, adapterVersion: null, settings: { style: 'flint' } },
    outputs: links.map((putUrl) => ({ putUrl })),
    ...changes,
  };
}

export function identity(settings: Record<string, unknown>): Record<string, unknown> {
  return {
    identity: {
      id: 'idn_a',
      adapterUrl: null,
      adapterVersion: null,
      settings: { style: 'flint', ...settings },
    },
  };
}

export function inMs(milliseconds: number): string {
  return new Date(Date.now() + milliseconds).toISOString();
}

export interface Exchange {
  status: number;
  contentType: string | undefined;
  events: ModelEvent[];
  /** Milliseconds from the request to each event. */
  times: number[];
  closing: ModelEvent | undefined;
}

export interface Watcher {
  /** Hears each event as it comes; `hangUp` destroys the connection. */
  onEvent?(event: ModelEvent, hangUp: () => void): void;
}

/** Posts a body to /invocations and reads the events as they come, until the answer ends or is hung up on. */
export function invoke(url: string, body: unknown, { onEvent }: Watcher = {}): Promise<Exchange> {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const request = sendHttp(`${url}/invocations`, { method: 'POST', agent: false });
    request.on('error', reject);
    request.on('response', (response) => {
      const exchange: Exchange = {
        status: response.statusCode ?? 0,
        contentType: response.headers['content-type'],
        events: [],
        times: [],
        closing: undefined,
      };
      let rest = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        const lines = (rest + piece).split('\n');
        rest = lines.pop()!;
        for (const line of lines) {
          const event = JSON.parse(line) as ModelEvent;
          exchange.events.push(event);
          exchange.times.push(performance.now() - start);
          onEvent?.(event, () => request.destroy());
        }
      });
      const end = (): void => {
        exchange.closing = exchange.events.at(-1);
        resolve(exchange);
      };
      response.on('end', end);
      response.on('error', end);
      response.on('close', end);
    });
    request.end(text);
  });
}

/** The events that may close an answer. */
export function closings({ events }: Exchange): ModelEvent[] {
  return events.filter(({ event }) => event === 'completed' || event === 'failed' || event === 'ready');
}
