import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { RunningServer } from '../../local/http/server.ts';

export interface OneAnswerProxy extends RunningServer {
  /** How many connections were made, and how many were used again after an answer, in vain. */
  seen: { connections: number; reused: number };
}

/**
 * A proxy whose connections die silently after one answer, as those of a function that was frozen for a while: the client
 * learns it only when it sends the next request on one.
 */
export async function startOneAnswerProxy(target: string): Promise<OneAnswerProxy> {
  const seen = { connections: 0, reused: 0 };
  const open = new Set<Socket>();
  const server = createServer((client) => {
    seen.connections += 1;
    const engine = connect(Number(new URL(target).port), '127.0.0.1');
    let answered = false;
    for (const socket of [client, engine]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => open.delete(socket));
    }
    client.on('data', (bytes) => {
      if (answered) {
        seen.reused += 1;
        client.resetAndDestroy();
        engine.destroy();
      } else engine.write(bytes);
    });
    engine.on('data', (bytes) => {
      answered = true;
      client.write(bytes);
    });
    client.on('end', () => engine.end());
    // The client does not learn that the engine's connection has ended.
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
