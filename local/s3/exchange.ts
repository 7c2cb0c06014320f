import type { ServerResponse } from 'node:http';
import type { Authentication } from './authentication.ts';
import { S3Error } from './errors.ts';
import type { Digests } from './payload.ts';
import type { OperationInput, S3Request } from './request.ts';
import type { Signer } from './signature.ts';
import type { Store } from './store.ts';

/** What every request to one store shares. */
export interface Service {
  bucketName: string;
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

/** @throws NoSuchBucket for any but the one bucket. */
export function checkBucket({ bucketName }: Service, { bucket }: S3Request): void {
  if (bucket !== bucketName) throw new S3Error('NoSuchBucket', undefined, { BucketName: bucket });
}

const storedHeaderNames = [
  'content-type',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'expires',
];

/** The headers (or form fields) that are kept with an object and answered with it. */
export function headersToStore(given: Record<string, string>): Record<string, string> {
  const stored = Object.entries(given).filter(
    ([name, value]) => storedHeaderNames.includes(name) && value !== '',
  );
  // HTTP can't carry anything else, and a line break would split the answer.
  if (stored.some(([, value]) => !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))) {
    throw new S3Error('InvalidArgument', 'Header value cannot be represented using ISO-8859-1.');
  }
  return Object.fromEntries(stored);
}

export function digestHeaders({ md5, crc32 }: Digests): Record<string, string> {
  return { etag: `"${md5}"`, 'x-amz-checksum-crc32': crc32, 'x-amz-checksum-type': 'FULL_OBJECT' };
}
