import type { IncomingMessage } from 'node:http';
import { S3Error } from './errors.ts';

/** A request as the signature and the operations see it: everything decoded once. */
export interface S3Request {
  method: string;
  /** Decoded, with its leading slash. */
  path: string;
  bucket: string;
  /** Empty for a request on the bucket itself. */
  key: string;
  /** A name that came more than once holds every value. */
  query: Record<string, string | string[]>;
  headers: Record<string, string>;
  body: IncomingMessage;
}

const maxKeyBytes = 1024;
const authenticationParameter = /^X-Amz-(Algorithm|Credential|Date|Expires|SignedHeaders|Signature)$/;

/**
 * Reads the target without `new URL`, which would resolve the `..` segments; they are plain characters of a key.
 * A slash of the key may come encoded or not, as with S3. Decoding the path once gives the key.
 */
export function parseRequest(message: IncomingMessage): S3Request {
  const [rawPath = '', ...rawQuery] = (message.url ?? '').split('?');
  const path = decodePath(rawPath);
  const [, bucket = '', ...segments] = path.split('/');
  const key = segments.join('/');
  if (Buffer.byteLength(key) > maxKeyBytes) throw new S3Error('KeyTooLongError');
  const headers = Object.entries(message.headers).map(([name, value]) => [name, String(value)]);
  return {
    method: message.method ?? '',
    path,
    bucket,
    key,
    query: parseQuery(rawQuery.join('?')),
    headers: Object.fromEntries(headers),
    body: message,
  };
}

function decodePath(rawPath: string): string {
  try {
    if (rawPath.startsWith('/')) return decodeURIComponent(rawPath);
  } catch {
    // It is refused as well.
  }
  throw new S3Error('InvalidURI');
}

function parseQuery(raw: string): S3Request['query'] {
  // It has no prototype, so that a parameter may be named as a member of one.
  const query: S3Request['query'] = Object.create(null);
  for (const [name, value] of new URLSearchParams(raw)) {
    const earlier = query[name];
    query[name] = earlier === undefined ? value : [earlier, value].flat();
  }
  return query;
}

/** The value of a parameter. One that came twice is refused, since it could be read in two ways. */
export function queryValue(request: S3Request, name: string): string | undefined {
  const value = request.query[name];
  if (!Array.isArray(value)) return value;
  throw new S3Error('InvalidArgument', `The parameter '${name}' was given more than once.`);
}

export interface OperationInput {
  /** The operation's own parameters: neither the signature's nor the SDK's `x-id`. */
  parameters: Record<string, string>;
  headers: Record<string, string>;
}

/**
 * What an operation may read, once the signature is verified. A presigner moves `x-amz-…` headers into the
 * query, where they mean the same, so they come back as headers here.
 */
export function operationInput(request: S3Request): OperationInput {
  const parameters: Record<string, string> = Object.create(null);
  const headers = { ...request.headers };
  for (const name of Object.keys(request.query)) {
    if (authenticationParameter.test(name) || name === 'x-id') continue;
    const value = queryValue(request, name) ?? '';
    const isHeader = name.toLowerCase().startsWith('x-amz-');
    if (isHeader) headers[name.toLowerCase()] ??= value;
    else parameters[name] = value;
  }
  return { parameters, headers };
}
