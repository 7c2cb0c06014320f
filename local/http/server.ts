import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
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
  server.prependListener('request', toOriginForm);
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

/**
 * Rewrites a request for a whole address, as clients send to proxies, to one for its path. The host in the address counts, not the
 * header's (RFC 9112, section 3.2.2). What is no address of HTTP stays as it is, and so does one with credentials.
 */
function toOriginForm(request: IncomingMessage): void {
  const [, host, target = ''] = /^https?:\/\/([^/?#@]+)((?:[/?].*)?)$/i.exec(request.url ?? '') ?? [];
  if (host === undefined) return;
  request.url = target.startsWith('/') ? target : `/${target}`;
  request.headers.host = host;
}
