import type { ServerResponse } from 'node:http';
import { authenticate } from './authentication.ts';
import { deleteObjects, getBucketLocation, headBucket, listObjects } from './buckets.ts';
import { s3Error } from './errors.ts';
import type { Exchange, Service } from './exchange.ts';
import { isFormUpload, postObject } from './presigned-post.ts';
import { getObject, headObject, overrides } from './read-object.ts';
import type { OperationInput, S3Request } from './request.ts';
import { operationInput } from './request.ts';
import { copyObject, deleteObject, putObject } from './write-object.ts';

interface Operation {
  method: string;
  on: 'bucket' | 'object';
  /** The parameter or x-amz-… header that tells it from others with this method. */
  marker?: string;
  /** Everything else that it understands; anything beyond is refused by name rather than ignored. */
  parameters?: string[];
  headers?: string[];
  run(exchange: Exchange): Promise<void> | void;
}

const payloadHeaders = [
  'x-amz-checksum-crc32',
  'x-amz-checksum-sha256',
  'x-amz-decoded-content-length',
  'x-amz-sdk-checksum-algorithm',
  'x-amz-trailer',
];
const readHeaders = ['x-amz-checksum-mode'];
const listParameters = ['prefix', 'start-after', 'continuation-token', 'max-keys', 'encoding-type'];
const everyOperationsHeaders = ['x-amz-content-sha256', 'x-amz-date', 'x-amz-user-agent'];

/** The whole of what the store does, apart from POST uploads. The first that fits is taken. */
const operations: Operation[] = [
  { method: 'GET', on: 'object', parameters: Object.keys(overrides), headers: readHeaders, run: getObject },
  { method: 'HEAD', on: 'object', parameters: Object.keys(overrides), headers: readHeaders, run: headObject },
  {
    method: 'PUT',
    on: 'object',
    marker: 'x-amz-copy-source',
    headers: ['x-amz-metadata-directive', 'x-amz-meta-*'],
    run: copyObject,
  },
  { method: 'PUT', on: 'object', headers: [...payloadHeaders, 'x-amz-meta-*'], run: putObject },
  { method: 'DELETE', on: 'object', run: deleteObject },
  { method: 'HEAD', on: 'bucket', run: headBucket },
  { method: 'GET', on: 'bucket', marker: 'location', run: getBucketLocation },
  { method: 'GET', on: 'bucket', marker: 'list-type', parameters: listParameters, run: listObjects },
  { method: 'POST', on: 'bucket', marker: 'delete', headers: payloadHeaders, run: deleteObjects },
];

/** Authenticates a request and performs it; throws S3's error for anything it may not or cannot do. */
export async function perform(service: Service, request: S3Request, res: ServerResponse): Promise<void> {
  if (isFormUpload(request)) return postObject(service, request, res);
  const authentication = await authenticate(service.signer, request);
  const input = operationInput(request);
  const operation = findOperation(request, input);
  if (!service.store.has(request.bucket)) {
    throw s3Error('NoSuchBucket', undefined, { BucketName: request.bucket });
  }
  await operation.run({ ...service, request, input, authentication, res });
}

function findOperation(request: S3Request, input: OperationInput): Operation {
  const on = request.key === '' ? 'bucket' : 'object';
  const given = { ...input.parameters, ...input.headers };
  const operation = operations.find(
    ({ method, on: target, marker }) =>
      method === request.method && target === on && (marker === undefined || marker in given),
  );
  if (!operation || request.bucket === '') {
    const target = request.bucket === '' ? 'service' : on;
    const parameters = Object.keys(input.parameters).join('&');
    throw notImplemented(`${request.method} ${target}${parameters && `?${parameters}`}`);
  }
  refuseUnknown(operation, input);
  return operation;
}

function refuseUnknown(
  { marker = '', parameters = [], headers = [] }: Operation,
  input: OperationInput,
): void {
  const knownHeaders = new Set([marker, ...headers, ...everyOperationsHeaders]);
  const isKnown = (name: string) =>
    knownHeaders.has(name) || (name.startsWith('x-amz-meta-') && knownHeaders.has('x-amz-meta-*'));
  const parameter = Object.keys(input.parameters).find((name) => ![marker, ...parameters].includes(name));
  if (parameter !== undefined) throw notImplemented(`The parameter '${parameter}' of this operation`);
  const header = Object.keys(input.headers).find((name) => name.startsWith('x-amz-') && !isKnown(name));
  if (header !== undefined) throw notImplemented(`The header '${header}' of this operation`);
  if (marker === 'list-type' && input.parameters['list-type'] !== '2')
    throw notImplemented('ListObjects version 1');
}

function notImplemented(what: string) {
  return s3Error('NotImplemented', `${what} is not implemented by this store.`);
}
