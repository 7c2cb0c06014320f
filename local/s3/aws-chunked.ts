import { createHash } from 'node:crypto';
import type { Authentication } from './authentication.ts';
import { s3Error } from './errors.ts';
import type { Signer } from './signature.ts';
import { sameSignature, sha256Hex } from './signature.ts';

const maxLineBytes = 4096;
const maxTrailerLines = 16;

export interface ChunkedMode {
  /** Each chunk carries a signature that continues the chain which the request's own began. */
  signed: boolean;
  trailer: boolean;
}

/** The aws-chunked modes, by their `x-amz-content-sha256`; undefined for a plain body. */
export function chunkedMode(payloadHash: string): ChunkedMode | undefined {
  if (payloadHash === 'STREAMING-UNSIGNED-PAYLOAD-TRAILER') return { signed: false, trailer: true };
  if (payloadHash === 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD') return { signed: true, trailer: false };
  if (payloadHash === 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER') return { signed: true, trailer: true };
  return undefined;
}

/**
 * Takes the framing off: yields the data, returns the trailers. Throws when the framing or a chunk's signature is
 * wrong, so nothing yielded counts before the end is reached.
 * Source: AWS, "Transferring payload in multiple chunks", with and without trailing headers.
 */
export async function* decodeChunks(
  body: AsyncIterable<Buffer>,
  mode: ChunkedMode,
  signer: Signer,
  authentication: Authentication,
): AsyncGenerator<Buffer, Map<string, string>> {
  const reader = createReader(body);
  const chain = createChain(signer, authentication);
  for (;;) {
    const { size, signature } = parseChunkLine(await reader.line());
    const hash = createHash('sha256');
    for (let left = size; left > 0;) {
      const piece = await reader.bytes(left);
      left -= piece.length;
      if (mode.signed) hash.update(piece);
      yield piece;
    }
    if (mode.signed) await chain.verify('PAYLOAD', signature, `${sha256Hex('')}\n${hash.digest('hex')}`);
    if (size === 0) break;
    if ((await reader.line()) !== '') throw malformed();
  }
  const trailers = await readTrailers(reader);
  const signature = trailers.get('x-amz-trailer-signature');
  trailers.delete('x-amz-trailer-signature');
  if (mode.signed && mode.trailer) {
    const text = [...trailers].map(([name, value]) => `${name}:${value}\n`).join('');
    await chain.verify('TRAILER', signature, sha256Hex(text));
  }
  if (!mode.trailer && trailers.size > 0) throw malformed();
  await reader.end();
  return trailers;
}

function createChain(signer: Signer, { time, signature }: Authentication) {
  let previous = signature;
  return {
    async verify(kind: 'PAYLOAD' | 'TRAILER', given: string | undefined, digests: string): Promise<void> {
      const text = [`AWS4-HMAC-SHA256-${kind}`, time.amzDate, time.scope, previous, digests].join('\n');
      const expected = await signer.sign(text, time.date);
      if (!given || !sameSignature(given, expected)) throw s3Error('SignatureDoesNotMatch');
      previous = expected;
    },
  };
}

function parseChunkLine(line: string): { size: number; signature: string | undefined } {
  const match = /^([0-9a-fA-F]{1,8})(?:;chunk-signature=([0-9a-f]{64}))?$/.exec(line);
  if (!match) throw malformed();
  return { size: Number.parseInt(match[1] ?? '', 16), signature: match[2] };
}

async function readTrailers(reader: Reader): Promise<Map<string, string>> {
  const trailers = new Map<string, string>();
  for (let count = 0; count <= maxTrailerLines; count += 1) {
    const line = (await reader.line()).trim();
    if (line === '') return trailers;
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase().trim();
    if (colon < 1 || trailers.has(name)) throw malformed();
    trailers.set(name, line.slice(colon + 1).trim());
  }
  throw malformed();
}

interface Reader {
  /** Up to CRLF, which it takes off. */
  line(): Promise<string>;
  /** At least one byte, at most `most`. */
  bytes(most: number): Promise<Buffer>;
  /** Nothing may follow. */
  end(): Promise<void>;
}

function createReader(body: AsyncIterable<Buffer>): Reader {
  const source = body[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);
  /** False at the end of the body. */
  async function more(): Promise<boolean> {
    const next = await source.next();
    if (!next.done) held = held.length === 0 ? next.value : Buffer.concat([held, next.value]);
    return !next.done;
  }
  function take(length: number): Buffer {
    const taken = held.subarray(0, length);
    held = held.subarray(length);
    return taken;
  }
  return {
    async line() {
      for (;;) {
        const at = held.indexOf('\r\n');
        if (at >= 0) return take(at + 2).toString('latin1', 0, at);
        if (held.length > maxLineBytes) throw malformed();
        if (!(await more())) throw s3Error('IncompleteBody');
      }
    },
    async bytes(most) {
      while (held.length === 0) if (!(await more())) throw s3Error('IncompleteBody');
      return take(Math.min(most, held.length));
    },
    async end() {
      while (held.length === 0) if (!(await more())) return;
      throw malformed();
    },
  };
}

function malformed() {
  return s3Error('InvalidRequest', 'The aws-chunked framing of the body is malformed.');
}
