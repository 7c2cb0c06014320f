import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen, type RunningServer } from '../../local/http/server.ts';
import { forward } from './forward.ts';

/**
 * What happens to a request: it passes; its connection is cut before the service gets it, when the service has it, at the
 * head of the answer, or after this text of the answer; the service gets it but the proxy answers; or the proxy answers
 * at once.
 */
export type Fate =
  | 'passes'
  | 'is cut before'
  | 'is cut once it arrived'
  | 'is cut at the head'
  | { cutAfter: string }
  | { forwardedButAnswered: Canned }
  | { answered: Canned };

export interface Canned {
  status: number;
  headers?: Record<string, string>;
  body: unknown;
}

export interface CuttingProxy extends RunningServer {
  /** The fates of the next requests to generate. Later requests pass. */
  fates: Fate[];
  /** Every request so far, as `POST /api/v1/generate`. */
  seen: string[];
}

/** Starts a proxy between a client and a service, which breaks connections as networks do. */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const fates: Fate[] = [];
  const seen: string[] = [];
  const server = createServer((req, res) => {
    seen.push(`${req.method} ${req.url}`);
    const isGeneration = req.method === 'POST' && req.url!.endsWith('/generate');
    const fate = (isGeneration && fates.shift()) || 'passes';
    meet(fate, target, req, res).catch(() => res.destroy());
  });
  return { ...(await listen(server)), fates, seen };
}

async function meet(fate: Fate, target: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const body = await buffer(req);
  if (fate === 'is cut before') return void res.destroy();
  if (typeof fate === 'object' && 'answered' in fate) return sendCanned(res, fate.answered);
  const answering = forward(target, req, body);
  if (fate === 'is cut once it arrived') {
    // The service finishes although the client is gone.
    void answering.then((answer) => answer.resume());
    return void res.destroy();
  }
  const answer = await answering;
  if (fate === 'is cut at the head') {
    answer.resume();
    return void res.destroy();
  }
  if (typeof fate === 'object' && 'forwardedButAnswered' in fate) {
    answer.resume();
    return sendCanned(res, fate.forwardedButAnswered);
  }
  res.writeHead(answer.statusCode!, answer.headers);
  let sent = '';
  answer.on('data', (chunk: Buffer) => {
    if (res.destroyed) return;
    res.write(chunk);
    sent += chunk.toString();
    if (typeof fate === 'object' && sent.includes(fate.cutAfter)) setImmediate(() => res.destroy());
  });
  answer.on('end', () => res.end());
  answer.on('error', () => res.destroy());
}

function sendCanned(res: ServerResponse, { status, headers, body }: Canned): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
