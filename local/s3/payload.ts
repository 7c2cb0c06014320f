import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { crc32 } from 'node:zlib';
import { S3Error } from './errors.ts';

export interface Digests {
  /** Bytes. */
  size: number;
  /** Lower-case hex: the ETag. */
  md5: string;
  /** Base64, as in `x-amz-checksum-crc32`. */
  crc32: string;
}

/** Everything that says what the payload must be. */
export interface Expectations {
  headers: Record<string, string>;
  /** As it was signed: the payload's SHA-256 in hex, or `UNSIGNED-PAYLOAD`. */
  payloadHash: string;
  maxBytes: number;
}

/** Passes the payload on as it comes. @throws at its end when a digest differs from what was announced. */
export async function receivePayload(
  body: IncomingMessage,
  { headers, payloadHash, maxBytes }: Expectations,
  sink: (piece: Buffer) => Promise<void>,
): Promise<Digests> {
  if (payloadHash !== 'UNSIGNED-PAYLOAD' && !isSha256(payloadHash)) {
    const message = 'x-amz-content-sha256 must be UNSIGNED-PAYLOAD or a sha256 value.';
    throw new S3Error('InvalidArgument', message);
  }
  const length = Number(headers['content-length'] ?? Number.NaN);
  if (Number.isNaN(length)) throw new S3Error('MissingContentLength');
  if (length > maxBytes) throw tooLarge(length, maxBytes);

  const digester = createDigester(headers, payloadHash);
  // The body stays readable after an error: the client is still to get an answer.
  for await (const piece of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    digester.update(piece);
    await sink(piece);
  }
  return digester.verify();
}

/** The digests of bytes that are all here already. */
export function digestsOf(data: Buffer, headers: Record<string, string> = {}): Digests {
  const digester = createDigester(headers, 'UNSIGNED-PAYLOAD');
  digester.update(data);
  return digester.verify();
}

export function tooLarge(size: number, maxBytes: number) {
  return new S3Error('EntityTooLarge', undefined, {
    ProposedSize: String(size),
    MaxSizeAllowed: String(maxBytes),
  });
}

function createDigester(headers: Record<string, string>, payloadHash: string) {
  const md5 = createHash('md5');
  const sha256 = isSha256(payloadHash) ? createHash('sha256') : undefined;
  let crc = 0;
  let size = 0;
  return {
    update(piece: Buffer): void {
      size += piece.length;
      md5.update(piece);
      sha256?.update(piece);
      crc = crc32(piece, crc);
    },
    verify(): Digests {
      if (sha256 && sha256.digest('hex') !== payloadHash) throw new S3Error('XAmzContentSHA256Mismatch');
      const checksum = crcBase64(crc);
      const expected = headers['x-amz-checksum-crc32'];
      if (expected !== undefined && expected !== checksum) {
        throw new S3Error('BadDigest', 'The CRC32 you specified did not match the calculated checksum.');
      }
      return { size, md5: md5.digest('hex'), crc32: checksum };
    },
  };
}

function isSha256(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

function crcBase64(crc: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc);
  return bytes.toString('base64');
}
