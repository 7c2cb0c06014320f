import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { Duplex } from 'node:stream';
import type { GatewayFailure } from '../shared/routes/gateway-failures.ts';
import { fail, failureBody, failureHeaders } from './gateway/fail.ts';
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
  const serve: RequestListener = (req, res) => (isReadable(req) ? serving : answerUnreadable)(req, res);
  server.on('request', serve);
  // Expectations other than 100-continue may be ignored (RFC 9110, section 10.1.1).
  server.on('checkExpectation', (req, res) => server.emit('request', req, res));
  server.on('clientError', refuse);
  const running = await listen(server, port).catch((error: NodeJS.ErrnoException) => {
    const taken = error.code === 'EADDRINUSE';
    const reason = taken ? 'is already in use' : `can't be opened (${error.code})`;
    throw new StartError(`Port ${port} ${reason}: stop what uses it, or choose another with --port.`);
  });
  return { ...running, serve: (listener) => void (serving = listener) };
}

/** A request names a path and exactly one host (RFC 9112, section 3.2); HTTP/1.0 may name no host, and OPTIONS no path. */
function isReadable({ headersDistinct, httpVersion, url = '' }: IncomingMessage): boolean {
  const hosts = headersDistinct.host?.length ?? 0;
  const hasHost = hosts === 1 || (hosts === 0 && httpVersion === '1.0');
  return hasHost && (url.startsWith('/') || url === '*');
}

/** The answer until the service is ready. The port is taken first, so that a second service fails at once. */
export const answerStarting: RequestListener = (_req, res) => fail(res, starting);

const starting: GatewayFailure = {
  code: 'SERVICE_UNAVAILABLE',
  error: 'The service is starting. Try again in a second.',
  retryAfterSeconds: 1,
};
const unreadable: GatewayFailure = {
  code: 'INVALID_PARAMETERS',
  error: 'This is not a valid HTTP request.',
};
const overflow = { ...unreadable, error: 'The path and headers must be at most 16 KiB together.' };

const answerUnreadable: RequestListener = (_req, res) => {
  res.setHeader('connection', 'close');
  fail(res, unreadable);
};

/** Node refuses what is not an HTTP request. The sender gets an error in the shape of the API's. */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const failure = error.code === 'HPE_HEADER_OVERFLOW' ? overflow : unreadable;
  const body = failureBody(failure);
  const headers = {
    ...failureHeaders(failure, 400),
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join('')}\r\n${body}`);
}
