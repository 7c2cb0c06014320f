import type { ServerResponse } from 'node:http';
import type { Authentication } from './authentication.ts';
import { s3Error } from './errors.ts';
import type { Digests, Expectations } from './payload.ts';
import type { OperationInput, S3Request } from './request.ts';
import type { Signer } from './signature.ts';
import type { Store } from './store.ts';

/** What every request to one store shares. */
export interface Service {
  store: Store;
  signer: Signer;
  maxObjectBytes: number;
}

/** One authenticated request, and where its answer goes. */
export interface Exchange extends Service {
  request: S3Request;
  input: OperationInput;
  authentication: Authentication;
  res: ServerResponse;
}

const storedHeaderNames = [
  'content-type',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'expires',
];
const metadataName = /^x-amz-meta-[a-z0-9!#$%&'*+.^_`|~-]+$/;
const maxMetadataBytes = 2048;

/** The headers (or form fields) that are kept with an object and answered with it. */
export function headersToStore(given: Record<string, string>): Record<string, string> {
  const kept: Record<string, string> = {};
  let metadataBytes = 0;
  for (const [name, value] of Object.entries(given)) {
    const isMetadata = name.startsWith('x-amz-meta-');
    if (isMetadata && !metadataName.test(name))
      throw s3Error('InvalidArgument', 'A metadata name is not a token.');
    if (isMetadata) metadataBytes += name.length - 'x-amz-meta-'.length + Buffer.byteLength(value);
    const plain = name === 'content-encoding' ? withoutChunkedEncoding(value) : value;
    if ((isMetadata || storedHeaderNames.includes(name)) && plain !== '')
      kept[name] = checkHeaderValue(plain);
  }
  if (metadataBytes > maxMetadataBytes) throw s3Error('MetadataTooLarge');
  return kept;
}

/** Refuses what HTTP cannot carry, so that no stored or overridden header can split an answer. */
export function checkHeaderValue(value: string): string {
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return value;
  throw s3Error('InvalidArgument', 'Header value cannot be represented using ISO-8859-1.');
}

/** What the payload of this exchange must turn out to be. */
export function expectationsOf(exchange: Exchange, maxBytes: number): Expectations {
  return {
    headers: exchange.input.headers,
    authentication: exchange.authentication,
    signer: exchange.signer,
    maxBytes,
  };
}

/** The body, which stays readable when its reader gives up: the client is still to get an answer. */
export function bodyOf(request: S3Request): AsyncIterableIterator<Buffer> {
  return request.body.iterator({ destroyOnReturn: false });
}

export function digestHeaders({ md5, crc32 }: Digests): Record<string, string> {
  return { etag: `"${md5}"`, 'x-amz-checksum-crc32': crc32, 'x-amz-checksum-type': 'FULL_OBJECT' };
}

export function sendXml(res: ServerResponse, status: number, xml: string): void {
  const body = Buffer.from(xml);
  res.writeHead(status, { 'content-type': 'application/xml', 'content-length': body.length });
  res.end(body);
}

/** `aws-chunked` describes the transfer, not the object. */
function withoutChunkedEncoding(value: string): string {
  const encodings = value.split(',').map((encoding) => encoding.trim());
  return encodings.filter((encoding) => encoding !== 'aws-chunked').join(',');
}
