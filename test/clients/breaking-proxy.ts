import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Random } from '../faults/simulation/random.ts';
import { pause } from '../support/until.ts';

export interface BreakingProxy {
  url: string;
  /** How often each kind of fault befell an exchange. */
  counts: Record<string, number>;
  close(): Promise<void>;
}

/**
 * A proxy below HTTP, between a client and a server, which breaks connections at bytes that a seed draws: each request on a
 * connection and its answer have a fate of their own. Now and then it does not listen at all for a moment.
 */
export async function startBreakingProxy(
  port: number,
  random: Random,
  { mayStall = true } = {},
): Promise<BreakingProxy> {
  const counts: Record<string, number> = {};
  const count = (what: string): void => void (counts[what] = (counts[what] ?? 0) + 1);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    sockets.add(client.once('close', () => sockets.delete(client)));
    bridge(client, port, () => drawFate(random, mayStall), count);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: own } = server.address() as AddressInfo;
  const closing = new AbortController();
  const door = slamDoor(server, own, random, closing.signal, () => count('nobody listens'));
  return {
    url: `http://127.0.0.1:${own}`,
    counts,
    async close() {
      closing.abort();
      await door;
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Stops listening for a moment, again and again, so that connections are refused. Open ones go on. */
async function slamDoor(
  server: Server,
  port: number,
  random: Random,
  signal: AbortSignal,
  onShut: () => void,
): Promise<void> {
  while (!signal.aborted) {
    await pause(random.int(1000, 4000));
    if (signal.aborted) return;
    server.close();
    onShut();
    await pause(random.int(20, 300));
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  }
}

/** One request and its answer. */
interface Exchange {
  fate: Fate;
  isAnswered: boolean;
  /** What passed in the direction of the fault. */
  passed: string;
}

function bridge(client: Socket, port: number, draw: () => Fate, count: (what: string) => void): void {
  const server = connect(port, '127.0.0.1');
  const next = (): Exchange => ({ fate: draw(), isAnswered: false, passed: '' });
  let exchange = next();
  let isOver = false;
  const end = (how: Fate['how']): void => {
    isOver = true;
    count(`${exchange.fate.direction} ${how}`);
    // Nothing comes any more, and nobody says so: the client has to notice by itself.
    if (how === 'stalls') return;
    if (how === 'is reset') client.resetAndDestroy();
    else client.end();
    server.destroy();
  };

  const pass = async (
    direction: Fate['direction'],
    chunk: Buffer,
    from: Socket,
    to: Socket,
  ): Promise<void> => {
    if (isOver) return;
    const { fate } = exchange;
    const at = fate.direction === direction ? cutOf(exchange, chunk) : null;
    if (at === null) return void to.write(chunk);
    to.write(chunk.subarray(0, at));
    if (fate.how !== 'is late') return end(fate.how);
    count(`${direction} is late`);
    exchange.fate = { ...fate, how: 'passes' };
    from.pause();
    await pause(fate.lateMs);
    to.write(chunk.subarray(at));
    from.resume();
  };
  client.on('data', (chunk: Buffer) => {
    if (exchange.isAnswered) exchange = next();
    void pass('request', asSentTo(port, chunk), client, server);
  });
  server.on('data', (chunk: Buffer) => {
    exchange.isAnswered = true;
    void pass('answer', chunk, server, client);
  });
  client.on('close', () => server.destroy());
  client.on('end', () => server.end());
  server.on('end', () => isOver || client.end());
  for (const socket of [client, server]) {
    socket.on('error', () => {
      client.destroy();
      server.destroy();
    });
  }
}

/** Names the server in the Host header, since links are signed for its address. */
function asSentTo(port: number, chunk: Buffer): Buffer {
  const text = chunk.toString('latin1');
  return Buffer.from(text.replace(/^(host: 127\.0\.0\.1:)\d+/im, `$1${port}`), 'latin1');
}

/** @returns how many bytes of a chunk pass before the fault; null if it does not come in this chunk */
function cutOf(exchange: Exchange, chunk: Buffer): number | null {
  const { fate, passed } = exchange;
  exchange.passed += chunk.toString('latin1');
  if (fate.how === 'passes') return null;
  const found = fate.mark === '' ? 0 : exchange.passed.indexOf(fate.mark);
  if (found === -1) return null;
  const at = found + fate.mark.length + fate.bytesMore - passed.length;
  return at < chunk.length ? Math.max(0, at) : null;
}

/** What befalls a request and its answer: at so many bytes behind a mark, in one of the two directions. */
interface Fate {
  direction: 'request' | 'answer';
  /** A text, or nothing for the first byte. */
  mark: string;
  /** Negative: inside the mark. */
  bytesMore: number;
  how: 'passes' | 'is reset' | 'is closed' | 'is late' | 'stalls';
  lateMs: number;
}

/** Where a client's understanding of a request or an answer changes. */
const marks = {
  request: ['', '\r\n\r\n', 'dempotency-', '"prompt"'],
  answer: [
    '',
    'HTTP/1.1 ',
    '\r\n\r\n',
    'x-request-id',
    'X-Request-Id',
    'retry-after',
    'event: accepted',
    'event: started',
    'event: progress',
    'event: completed',
    '"requestId"',
    '"outputs"',
    '"usage"',
    '"status"',
    '"code"',
    // The end of a body in chunks.
    '\r\n0\r\n',
  ],
};

// A stall costs its client up to 45 seconds: it is rare.
const hows = { 'is reset': 45, 'is closed': 45, 'is late': 8, stalls: 1 };

/** @param mayStall whether a connection may also fall silent */
function drawFate(random: Random, mayStall: boolean): Fate {
  const direction = random.chance(0.3) ? 'request' : 'answer';
  const passes = random.chance(0.5);
  const mark = random.pick(marks[direction]);
  // Anywhere, or near a mark: before its end, right behind it, or in what follows.
  const bytesMore =
    mark === '' ? random.int(0, random.pick([2, 900, 3000])) : random.int(-3, random.pick([3, 60]));
  return {
    direction,
    mark,
    bytesMore,
    how: passes ? 'passes' : random.weighted({ ...hows, stalls: mayStall ? hows.stalls : 0 }),
    lateMs: random.int(20, 1500),
  };
}
