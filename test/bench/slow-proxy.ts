import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Span } from './trips.ts';

export interface SlowCall extends Span {
  /** Of DynamoDB, such as GetItem. */
  operation: string;
}

/** Stands before an engine and can make every call take long, so that what waits for what can be seen. */
export async function startSlowProxy(target: string) {
  const calls: SlowCall[] = [];
  let delayMs = 0;
  const server = createServer(async (req, res) => {
    const beginMs = performance.now();
    try {
      const body = await buffer(req);
      await sleep(delayMs);
      const outgoing = request(`${target}${req.url}`, { method: req.method, headers: req.headers });
      outgoing.end(body);
      const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
      const answered = await buffer(answer);
      const operation = String(req.headers['x-amz-target']).split('.')[1] ?? '';
      calls.push({ operation, beginMs, endMs: performance.now() });
      const { 'transfer-encoding': _, ...headers } = answer.headers;
      res.writeHead(answer.statusCode!, { ...headers, 'content-length': answered.length }).end(answered);
    } catch (error) {
      res.destroy(error as Error);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Of each call from now on, beside what the engine takes. */
    delay: (ms: number) => void (delayMs = ms),
    take: () => calls.splice(0),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
