import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { StartError } from './start-error.ts';

/** The one address that everything a browser or client sees is served on. */
export interface Port {
  url: string;
  serve(listener: RequestListener): void;
  close(): Promise<void>;
}

/** Takes a port of this machine, 0 for any free one. @throws StartError when it can't be had. */
export function openPort(port: number): Promise<Port> {
  // Generations outlast Node's default of five minutes for a whole request.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 65_000 });
  let serving: RequestListener = answerStarting;
  server.on('request', (req, res) => serving(req, res));
  server.on('clientError', refuse);
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      const reason = taken ? 'is already in use' : `can't be opened (${error.code})`;
      reject(new StartError(`Port ${port} ${reason}: stop what uses it, or choose another with --port.`));
    });
    server.listen(port, '127.0.0.1', () => {
      resolve({
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        serve: (listener) => void (serving = listener),
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            server.closeAllConnections();
          }),
      });
    });
  });
}

/** The port is taken first, so that a second service learns at once that it can't have it. */
const answerStarting: RequestListener = (_req, res) => {
  res.writeHead(503, {
    'content-type': 'application/json',
    'retry-after': '1',
    'x-request-id': randomUUID(),
  });
  res.end(
    JSON.stringify({ error: 'The service is starting. Try again in a second.', code: 'SERVICE_UNAVAILABLE' }),
  );
};

/** What is no HTTP request never reaches the service; it is told so in the API's shape all the same. */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const sentence = tooLarge
    ? 'The path and headers must be at most 16 KiB together.'
    : 'This is not a valid HTTP request.';
  const body = JSON.stringify({ error: sentence, code: 'INVALID_PARAMETERS' });
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Request-Id: ${randomUUID()}\r\nConnection: close\r\n\r\n${body}`,
  );
}
