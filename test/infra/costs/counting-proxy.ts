import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen, type RunningServer } from '../../../local/http/server.ts';
import { forward } from '../../support/forward.ts';

export interface Exchange {
  method: string;
  headers: IncomingMessage['headers'];
  /** Of the answer. */
  body: Buffer;
}

export interface CountingProxy extends RunningServer {
  /** The exchanges since the last call. Waits for those under way. */
  take(): Promise<Exchange[]>;
}

interface Options {
  /** The engine. */
  target: string;
  /** Changes a request's body. */
  rewrite?: (body: Buffer) => Buffer;
  /** Runs around each exchange. */
  around?: (exchange: () => Promise<Exchange>) => Promise<Exchange>;
}

/** A proxy in front of an engine. It forwards one request at a time and records it with its answer. */
export async function startCountingProxy(options: Options): Promise<CountingProxy> {
  const { target, rewrite = (body) => body, around = (exchange) => exchange() } = options;
  let seen: Exchange[] = [];
  let last: Promise<unknown> = Promise.resolve();
  const server = createServer((req, res) => {
    const exchange = async () => {
      const answer = await forward(target, req, rewrite(await buffer(req)));
      const body = await buffer(answer);
      res.writeHead(answer.statusCode!, answer.headers).end(body);
      return { method: req.method!, headers: req.headers, body };
    };
    const run = async () => seen.push(await around(exchange));
    last = last.then(run).catch((error: unknown) => res.destroy(error as Error));
  });
  return {
    ...(await listen(server)),
    async take() {
      await last;
      const taken = seen;
      seen = [];
      return taken;
    },
  };
}
