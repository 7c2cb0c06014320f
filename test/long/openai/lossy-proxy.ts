import { once } from 'node:events';
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Random } from '../../faults/simulation/random.ts';

/** What becomes of a try, all but the last: where its connection breaks, or what the proxy answers itself. */
const fates = [
  'passes',
  'never arrives',
  'breaks at once',
  'breaks unanswered',
  'breaks in the answer',
  '502',
] as const;
export type Fate = (typeof fates)[number];

/** A proxy that loses answers of programs that try three times: the third passes. */
export async function startLossyProxy(port: number, random: Random, without: readonly Fate[] = []) {
  const counts: Partial<Record<Fate, number>> = {};
  const possible = fates.filter((fate) => !without.includes(fate));
  const server = createServer((req, res) => void forward(req, res).catch(() => res.destroy()));

  async function forward(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const fate = req.headers['x-stainless-retry-count'] === '2' ? 'passes' : random.pick(possible);
    counts[fate] = (counts[fate] ?? 0) + 1;
    const body = await buffer(req);
    if (fate === 'never arrives') return void res.destroy();
    const { url: path, method, headers } = req;
    const sent = send({ port, path, method, headers: { ...headers, host: `127.0.0.1:${port}` } }).end(body);
    sent.on('error', () => {});
    if (fate === 'breaks at once') {
      // The service has it by then, and goes on.
      setTimeout(() => res.destroy(), 20);
    }
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const content = await buffer(answer);
    if (fate === 'breaks unanswered') return void res.destroy();
    if (fate === '502') return void res.writeHead(502).end('no');
    const { 'transfer-encoding': _, ...others } = answer.headers;
    res.writeHead(answer.statusCode!, { ...others, 'content-length': content.length });
    if (fate !== 'breaks in the answer') return void res.end(content);
    res.write(content.subarray(0, content.length / 2), () => res.destroy());
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    close: () => void server.close().closeAllConnections(),
  };
}
