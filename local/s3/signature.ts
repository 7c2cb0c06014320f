import { createHash, timingSafeEqual } from 'node:crypto';
import { Sha256 } from '@aws-crypto/sha256-js';
import { getCanonicalHeaders, getCanonicalQuery, SignatureV4 } from '@smithy/signature-v4';
import { S3Error } from './errors.ts';
import type { S3Request } from './request.ts';

export interface SigningOptions {
  credentials: { accessKeyId: string; secretAccessKey: string };
  region: string;
  clock: () => Date;
}

export interface Signer extends SigningOptions {
  /** Signs any text with the key of that day, region and service: lower-case hex. */
  sign(text: string, date: Date): Promise<string>;
}

/** The time and the scope that a signature names, already checked. */
export interface SigningTime {
  date: Date;
  /** As it was sent: `20130524T000000Z`. */
  amzDate: string;
  /** `20130524/us-east-1/s3/aws4_request` */
  scope: string;
}

export const algorithm = 'AWS4-HMAC-SHA256';

/** AWS's own signer, configured as S3 needs it: the path is encoded once, never normalised. */
export function createSigner(options: SigningOptions): Signer {
  const signer = new SignatureV4({
    credentials: options.credentials,
    region: options.region,
    service: 's3',
    sha256: Sha256,
    uriEscapePath: false,
  });
  return { ...options, sign: (text, signingDate) => signer.sign(text, { signingDate }) };
}

/**
 * Checks a credential (`<access key>/<day>/<region>/s3/aws4_request`) and the date next to it.
 * @param fault makes the error for a malformed or misdirected scope, which differs between headers, links and forms.
 */
export function checkCredential(
  signer: Signer,
  credential: string,
  amzDate: string,
  fault: (message: string, details?: Record<string, string>) => S3Error,
): SigningTime {
  const [accessKeyId, day, region, service, terminator, ...more] = credential.split('/');
  if (terminator !== 'aws4_request' || more.length > 0) {
    throw fault(
      'the Credential is mal-formed; expecting "<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request".',
    );
  }
  const date = parseAmzDate(amzDate);
  if (!date) throw fault('the date must be in ISO 8601 basic format, like 20130524T000000Z.');
  if (day !== amzDate.slice(0, 8)) throw fault('the credential date is not the same as the request date.');
  if (region !== signer.region) {
    throw fault(`the region '${region}' is wrong; expecting '${signer.region}'`, { Region: signer.region });
  }
  if (service !== 's3') throw fault(`incorrect service "${service}". This endpoint belongs to "s3".`);
  if (accessKeyId !== signer.credentials.accessKeyId) throw new S3Error('InvalidAccessKeyId');
  return { date, amzDate, scope: `${day}/${region}/${service}/${terminator}` };
}

/** The signature that these headers of the request should carry. Source: AWS, "Signature Version 4 signing process". */
export async function requestSignature(
  signer: Signer,
  request: S3Request,
  time: SigningTime,
  signedHeaders: string[],
  payloadHash: string,
): Promise<string> {
  const headers = Object.fromEntries(signedHeaders.map((name) => [name, request.headers[name] ?? '']));
  const parts = {
    method: request.method,
    protocol: '',
    hostname: '',
    path: '',
    query: request.query,
    headers,
  };
  const canonical = getCanonicalHeaders(parts, new Set(), new Set(signedHeaders));
  const names = Object.keys(canonical).sort();
  const canonicalRequest = [
    request.method,
    encodePath(request.path),
    getCanonicalQuery(parts),
    ...names.map((name) => `${name}:${canonical[name]}`),
    '',
    names.join(';'),
    payloadHash,
  ].join('\n');
  return signer.sign(
    [algorithm, time.amzDate, time.scope, sha256Hex(canonicalRequest)].join('\n'),
    time.date,
  );
}

/** Compares in constant time. */
export function sameSignature(given: string, expected: string): boolean {
  const bytes = Buffer.from(given);
  return bytes.length === expected.length && timingSafeEqual(bytes, Buffer.from(expected));
}

function sha256Hex(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

function encodePath(path: string): string {
  const encode = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(path)
    .replaceAll('%2F', '/')
    .replace(/[!'()*]/g, encode);
}

/** `20130524T000000Z` → Date; undefined for anything that is no such date. */
function parseAmzDate(text: string): Date | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
  const date = new Date(iso);
  return !Number.isNaN(date.getTime()) && date.toISOString() === iso ? date : undefined;
}
