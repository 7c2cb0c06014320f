import { createServer, request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * What happens to a request: it passes; its connection is cut before the service gets it, at the head of the answer, or
 * once the answer has told so much; the service gets it and somebody else answers; or somebody else answers at once.
 */
export type Fate =
  | 'passes'
  | 'is cut before'
  | 'is cut at the head'
  | { cutAfter: string }
  | { forwardedButAnswered: Canned }
  | { answered: Canned };

export interface Canned {
  status: number;
  headers?: Record<string, string>;
  body: unknown;
}

export interface CuttingProxy {
  url: string;
  /** The fates of the next requests to generate; those after them pass. */
  fates: Fate[];
  /** Every request so far, as `POST /api/v1/generate`. */
  seen: string[];
  close(): Promise<void>;
}

/** Stands between a client and a service, as networks do. */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const fates: Fate[] = [];
  const seen: string[] = [];
  const server = createServer((req, res) => {
    seen.push(`${req.method} ${req.url}`);
    const isGeneration = req.method === 'POST' && req.url!.endsWith('/generate');
    const fate = (isGeneration && fates.shift()) || 'passes';
    meet(fate, target, req, res).catch(() => res.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fates,
    seen,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function meet(fate: Fate, target: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const body = await buffer(req);
  if (fate === 'is cut before') return void res.destroy();
  if (typeof fate === 'object' && 'answered' in fate) return sendCanned(res, fate.answered);
  const answer = await forward(target, req, body);
  if (fate === 'is cut at the head') {
    // The service finishes for a client that is gone.
    answer.resume();
    return void res.destroy();
  }
  if (typeof fate === 'object' && 'forwardedButAnswered' in fate) {
    answer.resume();
    return sendCanned(res, fate.forwardedButAnswered);
  }
  res.writeHead(answer.statusCode!, answer.headers);
  let told = '';
  answer.on('data', (chunk: Buffer) => {
    if (res.destroyed) return;
    res.write(chunk);
    told += chunk.toString();
    if (typeof fate === 'object' && told.includes(fate.cutAfter)) setImmediate(() => res.destroy());
  });
  answer.on('end', () => res.end());
  answer.on('error', () => res.destroy());
}

function forward(target: string, req: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
  const { method, headers } = req;
  return new Promise((resolve, reject) => {
    const forwarded = sendRequest(new URL(req.url!, target), { method, headers });
    forwarded.on('response', resolve);
    forwarded.on('error', reject);
    forwarded.end(body);
  });
}

function sendCanned(res: ServerResponse, { status, headers, body }: Canned): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
