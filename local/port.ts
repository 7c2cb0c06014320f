import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StartError } from './start-error.ts';

/** The one address that everything a browser or client sees is served on. */
export interface Port {
  url: string;
  serve(listener: RequestListener): void;
  /** No new connections; those that are open may finish what runs on them. */
  stopAccepting(): void;
  close(): Promise<void>;
}

/** Takes a port of this machine, 0 for any free one. @throws StartError when it can't be had. */
export function openPort(port: number): Promise<Port> {
  // Generations outlast Node's default of five minutes for a whole request.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 65_000 });
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      const reason = taken ? 'is already in use' : `can't be opened (${error.code})`;
      reject(new StartError(`Port ${port} ${reason}: stop what uses it, or choose another with --port.`));
    });
    server.listen(port, '127.0.0.1', () => {
      resolve({
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        serve: (listener) => void server.on('request', listener),
        stopAccepting() {
          server.close();
          server.closeIdleConnections();
        },
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            server.closeAllConnections();
          }),
      });
    });
  });
}
