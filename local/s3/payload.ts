import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { S3Error } from './errors.ts';

export interface Digests {
  /** Bytes. */
  size: number;
  /** Lower-case hex: the ETag. */
  md5: string;
}

/** Everything that says what a payload must be. */
export interface Expectations {
  headers: Record<string, string>;
  /** As it was signed: the payload's SHA-256 in hex, or `UNSIGNED-PAYLOAD`. */
  payloadHash: string;
  maxBytes: number;
}

/** Passes the payload on as it comes. @throws at its end when a digest differs from what was announced. */
export async function receivePayload(
  body: AsyncIterable<Buffer>,
  { headers, payloadHash, maxBytes }: Expectations,
  sink: (piece: Buffer) => Promise<void>,
): Promise<Digests> {
  if (!/^(UNSIGNED-PAYLOAD|[0-9a-f]{64})$/.test(payloadHash)) {
    throw new S3Error('InvalidArgument', 'x-amz-content-sha256 must be UNSIGNED-PAYLOAD or a sha256 value.');
  }
  const { 'content-length': length, 'x-amz-checksum-crc32': expectedCrc } = headers;
  if (length === undefined) throw new S3Error('MissingContentLength');
  if (Number(length) > maxBytes) throw tooLarge(Number(length), maxBytes);

  const [md5, sha256] = [createHash('md5'), createHash('sha256')];
  let crc = 0;
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    md5.update(piece);
    sha256.update(piece);
    crc = crc32(piece, crc);
    await sink(piece);
  }
  if (payloadHash !== 'UNSIGNED-PAYLOAD' && sha256.digest('hex') !== payloadHash) {
    throw new S3Error('XAmzContentSHA256Mismatch');
  }
  const crcHex = crc.toString(16).padStart(8, '0');
  if (expectedCrc !== undefined && Buffer.from(expectedCrc, 'base64').toString('hex') !== crcHex) {
    throw new S3Error('BadDigest');
  }
  return { size, md5: md5.digest('hex') };
}

export function tooLarge(size: number, maxBytes: number): S3Error {
  return new S3Error('EntityTooLarge', undefined, { ProposedSize: size, MaxSizeAllowed: maxBytes });
}
