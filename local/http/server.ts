import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RunningServer {
  url: string;
  /** Ends open connections, too. It may be called more than once. */
  close(): Promise<void>;
}

/**
 * Listens on this machine only, on any free port unless one is named.
 * @throws Node's error when the port can't be had, with the code `EADDRINUSE` for one that is taken.
 */
export async function listen(server: Server, port = 0): Promise<RunningServer> {
  await once(server.listen(port, '127.0.0.1'), 'listening');
  let closed: Promise<unknown> | undefined;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      if (closed === undefined) {
        closed = once(server, 'close');
        server.close();
        server.closeAllConnections();
      }
      await closed;
    },
  };
}
