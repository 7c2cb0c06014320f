import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
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
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 65_000, requireHostHeader: false });
  let serving: RequestListener = answerStarting;
  const serve: RequestListener = (req, res) => (hasHost(req) ? serving : answerUnreadable)(req, res);
  server.on('request', serve);
  // Any expectation but 100-continue may be passed over (RFC 9110, section 10.1.1).
  server.on('checkExpectation', serve);
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

/** One host and no more (RFC 9112, section 3.2); HTTP/1.0 needs none. */
function hasHost({ headersDistinct, httpVersion }: IncomingMessage): boolean {
  const hosts = headersDistinct.host?.length ?? 0;
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
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

const unreadable = { error: 'This is not a valid HTTP request.', code: 'INVALID_PARAMETERS' };
const overflow = { ...unreadable, error: 'The path and headers must be at most 16 KiB together.' };

const answerUnreadable: RequestListener = (_req, res) => {
  res.writeHead(400, {
    'content-type': 'application/json',
    'x-request-id': randomUUID(),
    connection: 'close',
  });
  res.end(JSON.stringify(unreadable));
};

/** What is no HTTP request never reaches the service; it is told so in the API's shape all the same. */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const body = JSON.stringify(error.code === 'HPE_HEADER_OVERFLOW' ? overflow : unreadable);
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Request-Id: ${randomUUID()}\r\nConnection: close\r\n\r\n${body}`,
  );
}
