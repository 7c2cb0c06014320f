import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { Duplex } from 'node:stream';
import { listen, type RunningServer } from './http/server.ts';
import { StartError } from './start-error.ts';

/** The one address for everything that browsers and clients see. */
export interface Port extends RunningServer {
  serve(listener: RequestListener): void;
}

/** Takes a port of this machine, 0 for any free one. @throws StartError when it can't be had. */
export async function openPort(port: number): Promise<Port> {
  // Generations outlast Node's default of five minutes for a whole request.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 65_000, requireHostHeader: false });
  let serving: RequestListener = answerStarting;
  const serve: RequestListener = (req, res) => (hasHost(req) ? serving : answerUnreadable)(req, res);
  server.on('request', serve);
  // Expectations other than 100-continue may be ignored (RFC 9110, section 10.1.1).
  server.on('checkExpectation', serve);
  server.on('clientError', refuse);
  const running = await listen(server, port).catch((error: NodeJS.ErrnoException) => {
    const taken = error.code === 'EADDRINUSE';
    const reason = taken ? 'is already in use' : `can't be opened (${error.code})`;
    throw new StartError(`Port ${port} ${reason}: stop what uses it, or choose another with --port.`);
  });
  return { ...running, serve: (listener) => void (serving = listener) };
}

/** A request names exactly one host (RFC 9112, section 3.2); HTTP/1.0 may name none. */
function hasHost({ headersDistinct, httpVersion }: IncomingMessage): boolean {
  const hosts = headersDistinct.host?.length ?? 0;
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}

/** The answer until the service is ready. The port is taken first, so that a second service fails at once. */
export const answerStarting: RequestListener = (_req, res) => {
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

/** Node refuses what is not an HTTP request. The sender gets an error in the shape of the API's. */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const body = JSON.stringify(error.code === 'HPE_HEADER_OVERFLOW' ? overflow : unreadable);
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Request-Id: ${randomUUID()}\r\nConnection: close\r\n\r\n${body}`,
  );
}
