import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Authentication } from './authentication.ts';
import { chunkedMode, decodeChunks } from './aws-chunked.ts';
import { s3Error } from './errors.ts';
import type { Signer } from './signature.ts';

export interface Digests {
  /** Bytes. */
  size: number;
  /** Lower-case hex: the ETag. */
  md5: string;
  /** Base64, as in `x-amz-checksum-crc32`. */
  crc32: string;
}

/** Everything that says what the payload must be, apart from the payload itself. */
export interface Expectations {
  headers: Record<string, string>;
  authentication: Authentication;
  signer: Signer;
  maxBytes: number;
}

const checksumHeaders = ['x-amz-checksum-crc32', 'x-amz-checksum-sha256'];

/** Passes the payload on as it comes; throws at its end unless every length, digest and signature held. */
export async function receivePayload(
  body: AsyncIterableIterator<Buffer>,
  expectations: Expectations,
  sink: (piece: Buffer) => Promise<void>,
): Promise<Digests> {
  const { headers, authentication, signer, maxBytes } = expectations;
  const { payloadHash } = authentication;
  const mode = chunkedMode(payloadHash);
  if (!mode && payloadHash !== 'UNSIGNED-PAYLOAD' && !/^[0-9a-f]{64}$/.test(payloadHash)) {
    throw s3Error(
      'InvalidArgument',
      'x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-… or a sha256 value.',
    );
  }
  const length = declaredLength(headers[mode ? 'x-amz-decoded-content-length' : 'content-length']);
  if (length > maxBytes) throw tooLarge(length, maxBytes);

  const trailerNames = declaredTrailers(headers);
  const digester = createDigester(headers, trailerNames, payloadHash);
  try {
    const pieces = mode ? decodeChunks(body, mode, signer, authentication) : body;
    let next = await pieces.next();
    for (; !next.done; next = await pieces.next()) {
      digester.update(next.value);
      if (digester.size() > length) throw s3Error('IncompleteBody');
      await sink(next.value);
    }
    if (digester.size() !== length) throw s3Error('IncompleteBody');
    return digester.verify(acceptTrailers(next.value ?? new Map(), trailerNames));
  } finally {
    // A body that is still held here could not be drained.
    await body.return?.();
  }
}

/** The digests of bytes that are all here already. */
export function digestsOf(data: Buffer, headers: Record<string, string> = {}): Digests {
  const digester = createDigester(headers, [], 'UNSIGNED-PAYLOAD');
  digester.update(data);
  return digester.verify({});
}

export function tooLarge(size: number, maxBytes: number) {
  return s3Error('EntityTooLarge', undefined, {
    ProposedSize: String(size),
    MaxSizeAllowed: String(maxBytes),
  });
}

function declaredLength(text: string | undefined): number {
  if (text === undefined) throw s3Error('MissingContentLength');
  if (!/^\d{1,15}$/.test(text)) throw s3Error('InvalidArgument', 'The content length is not a number.');
  return Number(text);
}

function declaredTrailers(headers: Record<string, string>): string[] {
  const names = (headers['x-amz-trailer'] ?? '').toLowerCase().split(',');
  const declared = names.map((name) => name.trim()).filter((name) => name !== '');
  const unknown = declared.find((name) => !checksumHeaders.includes(name));
  if (unknown) throw s3Error('NotImplemented', `The trailer '${unknown}' is not implemented by this store.`);
  return declared;
}

function acceptTrailers(trailers: Map<string, string>, declared: string[]): Record<string, string> {
  const asDeclared = trailers.size === declared.length && declared.every((name) => trailers.has(name));
  if (!asDeclared)
    throw s3Error('InvalidRequest', 'The trailers differ from those that x-amz-trailer declares.');
  return Object.fromEntries(trailers);
}

function createDigester(headers: Record<string, string>, trailerNames: string[], payloadHash: string) {
  const wantsSha256 =
    /^[0-9a-f]{64}$/.test(payloadHash) ||
    [...Object.keys(headers), ...trailerNames].includes('x-amz-checksum-sha256');
  const md5 = createHash('md5');
  const sha256 = wantsSha256 ? createHash('sha256') : undefined;
  let crc = 0;
  let size = 0;
  return {
    size: () => size,
    update(piece: Buffer): void {
      size += piece.length;
      md5.update(piece);
      sha256?.update(piece);
      crc = crc32(piece, crc);
    },
    verify(trailers: Record<string, string>): Digests {
      const md5Bytes = md5.digest();
      const sha256Bytes = sha256?.digest();
      const crc32Text = crcBase64(crc);
      const expected = { ...headers, ...trailers };
      if (/^[0-9a-f]{64}$/.test(payloadHash) && sha256Bytes?.toString('hex') !== payloadHash) {
        throw s3Error('XAmzContentSHA256Mismatch');
      }
      checkMd5(expected['content-md5'], md5Bytes);
      checkChecksum('CRC32', 4, expected['x-amz-checksum-crc32'], crc32Text);
      checkChecksum('SHA256', 32, expected['x-amz-checksum-sha256'], sha256Bytes?.toString('base64'));
      return { size, md5: md5Bytes.toString('hex'), crc32: crc32Text };
    },
  };
}

function checkMd5(given: string | undefined, actual: Buffer): void {
  if (given === undefined) return;
  if (Buffer.from(given, 'base64').length !== 16) throw s3Error('InvalidDigest');
  if (given !== actual.toString('base64')) throw s3Error('BadDigest');
}

function checkChecksum(
  name: string,
  bytes: number,
  given: string | undefined,
  actual: string | undefined,
): void {
  if (given === undefined || given === actual) return;
  if (Buffer.from(given, 'base64').length !== bytes) {
    throw s3Error('InvalidRequest', `Value for x-amz-checksum-${name.toLowerCase()} header is invalid.`);
  }
  throw s3Error('BadDigest', `The ${name} you specified did not match the calculated checksum.`);
}

function crcBase64(crc: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc);
  return bytes.toString('base64');
}
