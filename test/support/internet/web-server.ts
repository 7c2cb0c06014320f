import { once } from 'node:events';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import {
  createSecureContext,
  createServer as createTlsServer,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import type { Authority, CertificateFlaw } from './certificates.ts';

/** What a page does with whoever asks for it: it has the whole connection, below HTTP. */
export type Page = (socket: TLSSocket) => void | Promise<void>;

export interface WebRequest {
  host: string;
  /** Path and query, as they came. */
  path: string;
  /** The request line and the headers, as they came. */
  head: string;
}

export interface WebServer {
  port: number;
  requests: WebRequest[];
  /** Connections that are open at this moment. */
  open(): number;
  set(host: string, path: string, page: Page): void;
  /** The certificate that a host shows from now on. */
  spoil(host: string, flaw: CertificateFlaw): void;
  clear(): void;
  close(): Promise<void>;
}

/**
 * All the web sites of the small internet, on a free port of 127.0.0.1. One request a connection.
 * @param ownAddress whose certificate it shows to clients that want no name, and whose pages they get.
 */
export async function startWebServer(authority: Authority, ownAddress: string): Promise<WebServer> {
  const pages = new Map<string, Page>();
  const flaws = new Map<string, CertificateFlaw>();
  const contexts = new Map<string, SecureContext>();
  const requests: WebRequest[] = [];
  const sockets = new Set<Socket>();

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
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
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
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    open: () => sockets.size,
    set: (host, path, page) => void pages.set(`${host.toLowerCase()}${path}`, page),
    spoil: (host, flaw) => void flaws.set(host.toLowerCase(), flaw),
    clear() {
      pages.clear();
      flaws.clear();
      requests.length = 0;
    },
    close: () => closeServer(server, sockets),
  };
}

/** A server that speaks no TLS: it does with each connection what it is told. */
export async function startRawServer(
  serve: (socket: Socket) => void,
): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => closeServer(server, sockets) };
}

async function closeServer(server: Server, sockets: Set<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
}

/** Up to the empty line; a client that goes away before it is never answered. */
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
