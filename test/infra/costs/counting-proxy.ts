import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Exchange {
  method: string;
  headers: IncomingMessage['headers'];
  /** The answer's body. */
  body: Buffer;
}

export interface CountingProxy {
  url: string;
  /** What went through since the last time this was asked, once all of it is through. */
  take(): Promise<Exchange[]>;
  close(): Promise<void>;
}

interface Options {
  /** Where requests go. They keep their Host header, which links are signed for. */
  target: string;
  /** Changes a request's body on its way. */
  rewrite?: (body: Buffer) => Buffer;
  /** Runs around each exchange. */
  around?: (forward: () => Promise<Exchange>) => Promise<Exchange>;
}

/** Stands before an engine, one exchange at a time, and remembers what went through. */
export async function startCountingProxy({ target, rewrite, around }: Options): Promise<CountingProxy> {
  let seen: Exchange[] = [];
  let last: Promise<unknown> = Promise.resolve();
  const server = createServer((req, res) => {
    const run = async () => {
      const sent = await bytesOf(req);
      const forward = async () => {
        const answer = await send(target, req, rewrite ? rewrite(sent) : sent);
        res.writeHead(answer.status, answer.headers).end(answer.body);
        return { method: req.method!, headers: req.headers, body: answer.body };
      };
      seen.push(around ? await around(forward) : await forward());
    };
    last = last.then(run).catch((error: unknown) => res.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async take() {
      await last;
      const taken = seen;
      seen = [];
      return taken;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

async function send(target: string, req: IncomingMessage, body: Buffer): Promise<Answer> {
  const headers = withoutEncoding(req.headers);
  if (body.length > 0) headers['content-length'] = String(body.length);
  const outgoing = httpRequest(`${target}${req.url}`, { method: req.method, headers });
  outgoing.end(body);
  const [res] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: res.statusCode!, headers: withoutEncoding(res.headers), body: await bytesOf(res) };
}

/** What goes on is whole, whatever it came in. */
function withoutEncoding(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  const { ...kept } = headers;
  delete kept['transfer-encoding'];
  return kept;
}

async function bytesOf(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
