import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { TLSSocket } from 'node:tls';
import type { Page } from './web-server.ts';

/** The start of an answer, as it goes over the wire. Header values are taken as they are. */
export function head(status: number, headers: Record<string, string | number> = {}): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Whatever\r\n${lines.join('')}\r\n`;
}

/** A whole answer with its length, as a good server gives it. */
export function answer(body: Uint8Array | string, headers: Record<string, string | number> = {}): Page {
  const bytes = Buffer.from(body as string);
  return raw(head(200, { 'content-length': bytes.length, connection: 'close', ...headers }), bytes);
}

export const status = (code: number): Page => raw(head(code, { 'content-length': 2 }), 'no');

export const redirect = (code: number, location?: string): Page =>
  raw(head(code, { 'content-length': 0, ...(location === undefined ? {} : { location }) }));

/** Any bytes, HTTP or not, and then the end of the connection. */
export const raw =
  (...parts: (string | Uint8Array)[]): Page =>
  (socket) => {
    for (const part of parts) socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part);
    socket.end();
  };

/** The start of an answer, and nothing more for as long as the client waits. */
export const unfinished =
  (start = ''): Page =>
  (socket) =>
    void socket.write(start);

/** The start of an answer, and then the connection is cut. */
export const cut =
  (start: string): Page =>
  (socket) =>
    void socket.write(start, () => socket.destroy());

/** The same piece again and again until the client goes away: at full speed, or one every so many milliseconds. */
export const endless =
  (start: string, piece: string | Uint8Array, everyMs = 0): Page =>
  async (socket) => {
    socket.write(start);
    while (socket.writable) {
      if (!socket.write(piece)) await drained(socket);
      if (everyMs > 0) await new Promise((resolve) => setTimeout(resolve, everyMs));
      else await new Promise((resolve) => setImmediate(resolve));
    }
  };

/** A small answer that is large once it is unpacked. */
export function bomb(encoding: 'gzip' | 'br' | 'deflate', plainBytes: number): Page {
  const compress = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync }[encoding];
  return answer(compress(Buffer.alloc(plainBytes)), { 'content-encoding': encoding });
}

/** One chunk of a chunked body. */
export const chunk = (bytes: Uint8Array) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);

/** Resolves when the socket takes more again, or is closed. */
function drained(socket: TLSSocket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
  });
}
