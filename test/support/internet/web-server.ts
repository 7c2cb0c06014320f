import { once } from 'node:events';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import {
  createSecureContext,
  createServer as createTlsServer,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import type { Authority, CertificateFlaw } from './certificates.ts';

/** Answers a request. It gets the connection itself, so that it may break every rule of HTTP. */
export type Page = (socket: TLSSocket) => void | Promise<void>;

export interface WebRequest {
  host: string;
  /** Path and query, as they came. */
  path: string;
  /** The request line and the headers, as they came. */
  head: string;
}

export interface WebServer extends Listening {
  requests: WebRequest[];
  set(host: string, path: string, page: Page): void;
  /** The certificate that a host shows from now on. */
  spoil(host: string, flaw: CertificateFlaw): void;
  clear(): void;
}

/**
 * All web sites of the small internet, on one free port of 127.0.0.1. Each connection has one request.
 * @param ownAddress the host of clients that send no server name: they get its certificate and its pages.
 */
export async function startWebServer(authority: Authority, ownAddress: string): Promise<WebServer> {
  const pages = new Map<string, Page>();
  const flaws = new Map<string, CertificateFlaw>();
  const contexts = new Map<string, SecureContext>();
  const requests: WebRequest[] = [];

  function contextFor(host: string): SecureContext {
    const flaw = flaws.get(host);
    const name = `${host} ${flaw ?? ''}`;
    const context = contexts.get(name) ?? createSecureContext(authority.issue(host, flaw));
    contexts.set(name, context);
    return context;
  }

  const server = createTlsServer({
    ...authority.issue(ownAddress),
    SNICallback: (name, done) => done(null, contextFor(name.toLowerCase())),
  });
  server.on('tlsClientError', () => undefined);
  server.on('secureConnection', (socket) => {
    socket.on('error', () => undefined);
    void readHead(socket).then((head) => {
      const [, path = ''] = head.split(' ');
      const host = (socket.servername || ownAddress).toLowerCase();
      requests.push({ host, path, head });
      return (pages.get(`${host}${path}`) ?? notFound)(socket);
    });
  });
  return {
    ...(await listen(server)),
    requests,
    set: (host, path, page) => void pages.set(`${host.toLowerCase()}${path}`, page),
    spoil: (host, flaw) => void flaws.set(host.toLowerCase(), flaw),
    clear() {
      pages.clear();
      flaws.clear();
      requests.length = 0;
    },
  };
}

/** A server without TLS. */
export function startRawServer(serve: (socket: Socket) => void): Promise<Listening> {
  return listen(createTcpServer(serve));
}

interface Listening {
  port: number;
  /** How many connections are open at this moment. */
  open(): number;
  /** Ends open connections, too. */
  close(): Promise<void>;
}

async function listen(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    open: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A request's text up to the empty line; never resolves when the client goes away before. */
function readHead(socket: TLSSocket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      socket.off('data', onData).resume();
      resolve(text.slice(0, end));
    };
    socket.on('data', onData);
  });
}

const notFound: Page = (socket) => void socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
