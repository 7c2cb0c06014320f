import { createHash, timingSafeEqual } from 'node:crypto';
import { Sha256 } from '@aws-crypto/sha256-js';
import { getCanonicalHeaders, getCanonicalQuery, SignatureV4 } from '@smithy/signature-v4';
import { S3Error } from './errors.ts';
import { queryValue, type S3Request } from './request.ts';

export interface SigningOptions {
  credentials: { accessKeyId: string; secretAccessKey: string };
  region: string;
  clock: () => Date;
}

export interface Signer extends SigningOptions {
  /** Signs any text with the key of that day, region and service: lower-case hex. */
  sign(text: string, date: Date): Promise<string>;
}

export const algorithm = 'AWS4-HMAC-SHA256';
const maxSkewMs = 15 * 60 * 1000;
const maxExpirySeconds = 7 * 24 * 60 * 60;

/** AWS's own signer, configured as S3 needs it: the path is encoded once, never normalised. */
export function createSigner(options: SigningOptions): Signer {
  const { credentials, region } = options;
  const signer = new SignatureV4({
    credentials,
    region,
    service: 's3',
    sha256: Sha256,
    uriEscapePath: false,
  });
  return { ...options, sign: (text, signingDate) => signer.sign(text, { signingDate }) };
}

/** What a request says of its signature. */
interface Claim {
  credential: string;
  amzDate: string;
  signedHeaders: string[];
  signature: string;
  payloadHash: string;
  /** Of a link; null for a signature in the header. */
  expiresSeconds: number | null;
}

/**
 * Verifies the signature in the Authorization header or in the query.
 * @returns the hex digest of the payload, or `UNSIGNED-PAYLOAD`; still unchecked.
 * @throws S3's error when it does not hold.
 */
export async function authenticate(signer: Signer, request: S3Request): Promise<string> {
  const claim = request.headers['authorization'] === undefined ? inQuery(request) : inHeader(request);
  const { credential, amzDate, signedHeaders, signature, payloadHash, expiresSeconds } = claim;
  const date = checkCredential(signer, credential, amzDate);
  checkTime(signer.clock(), date, expiresSeconds);
  // An unsigned x-amz-… header would let whoever holds a link change what it does.
  const mustBeSigned = ['host', ...Object.keys(request.headers).filter((name) => name.startsWith('x-amz-'))];
  const unsigned = mustBeSigned.filter((name) => !signedHeaders.includes(name));
  if (unsigned.length > 0) {
    const message = 'There were headers present in the request which were not signed';
    throw new S3Error('AccessDenied', message, { HeadersNotSigned: unsigned.join(', ') });
  }
  const scope = credential.split('/').slice(1).join('/');
  const hash = sha256Hex(canonicalRequest(request, signedHeaders, payloadHash));
  await checkSignature(signer, [algorithm, amzDate, scope, hash].join('\n'), date, signature);
  return payloadHash;
}

function inHeader({ headers }: S3Request): Claim {
  const shape = /^AWS4-HMAC-SHA256 Credential=([^,\s]+),\s*SignedHeaders=([^,\s]+),\s*Signature=(\w+)$/;
  const [, credential, signedHeaders, signature] = shape.exec(headers['authorization']!) ?? [];
  if (!credential || !signedHeaders || !signature) {
    throw new S3Error('AccessDenied', 'The authorization header is malformed.');
  }
  return {
    credential,
    amzDate: headers['x-amz-date'] ?? '',
    signedHeaders: signedHeaders.split(';'),
    signature,
    payloadHash: headers['x-amz-content-sha256'] ?? '',
    expiresSeconds: null,
  };
}

function inQuery(request: S3Request): Claim {
  const value = (name: string) => queryValue(request, name) ?? '';
  const signature = value('X-Amz-Signature');
  if (signature === '' || value('X-Amz-Algorithm') !== algorithm) throw new S3Error('AccessDenied');
  const expires = value('X-Amz-Expires');
  if (!/^\d{1,9}$/.test(expires) || Number(expires) < 1 || Number(expires) > maxExpirySeconds) {
    throw new S3Error('AuthorizationQueryParametersError');
  }
  return {
    credential: value('X-Amz-Credential'),
    amzDate: value('X-Amz-Date'),
    signedHeaders: value('X-Amz-SignedHeaders').split(';'),
    signature,
    payloadHash:
      request.headers['x-amz-content-sha256'] ?? (value('X-Amz-Content-Sha256') || 'UNSIGNED-PAYLOAD'),
    expiresSeconds: Number(expires),
  };
}

/** @returns the date that was named beside the store's own credential. */
export function checkCredential({ credentials, region }: Signer, credential: string, amzDate: string): Date {
  const scope = `${amzDate.slice(0, 8)}/${region}/s3/aws4_request`;
  if (credential !== `${credentials.accessKeyId}/${scope}`) {
    throw new S3Error(
      'SignatureDoesNotMatch',
      `The credential is not the store's own; expecting <KEY>/${scope}.`,
    );
  }
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(amzDate);
  const [, year, month, day, hour, minute, second] = match ?? [];
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(date.getTime())) throw new S3Error('AccessDenied', 'The request has no valid x-amz-date.');
  return date;
}

/** A link works from its signing, or 15 minutes before for the sake of wrong clocks, until it expires. */
function checkTime(now: Date, date: Date, expiresSeconds: number | null): void {
  const ageMs = now.getTime() - date.getTime();
  if (expiresSeconds === null) {
    if (Math.abs(ageMs) > maxSkewMs) throw new S3Error('RequestTimeTooSkewed');
    return;
  }
  if (ageMs > expiresSeconds * 1000) throw new S3Error('AccessDenied', 'Request has expired');
  if (ageMs < -maxSkewMs) throw new S3Error('AccessDenied', 'Request is not yet valid');
}

/** Compares in constant time. */
export async function checkSignature(signer: Signer, text: string, date: Date, given: string): Promise<void> {
  const [bytes, expected] = [Buffer.from(given), Buffer.from(await signer.sign(text, date))];
  if (bytes.length === expected.length && timingSafeEqual(bytes, expected)) return;
  throw new S3Error('SignatureDoesNotMatch');
}

/** Source: AWS, "Signature Version 4 signing process". */
function canonicalRequest(request: S3Request, signedHeaders: string[], payloadHash: string): string {
  const { method, query } = request;
  const headers = Object.fromEntries(signedHeaders.map((name) => [name, request.headers[name] ?? '']));
  const parts = { method, protocol: '', hostname: '', path: '', query, headers };
  const canonical = getCanonicalHeaders(parts, new Set(), new Set(signedHeaders));
  const names = Object.keys(canonical).sort();
  return [
    method,
    encodePath(request.path),
    getCanonicalQuery(parts),
    ...names.map((name) => `${name}:${canonical[name]}`),
    '',
    names.join(';'),
    payloadHash,
  ].join('\n');
}

function sha256Hex(data: string): string {
  return createHash('sha256').update(data).digest('hex');
}

function encodePath(path: string): string {
  const encode = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(path)
    .replaceAll('%2F', '/')
    .replace(/[!'()*]/g, encode);
}
