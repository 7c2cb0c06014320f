import type { ServerResponse } from 'node:http';
import { authenticate } from './authentication.ts';
import { S3Error } from './errors.ts';
import { checkBucket, type Exchange, type Service } from './exchange.ts';
import { deleteObject, getObject, headObject, listObjects, putObject } from './objects.ts';
import { isFormUpload, postObject } from './presigned-post.ts';
import { operationInput, type OperationInput, type S3Request } from './request.ts';

interface Operation {
  method: string;
  on: 'bucket' | 'object';
  /** Everything that it understands. Anything else is refused by name, not ignored. */
  parameters?: string[];
  headers?: string[];
  run(exchange: Exchange): Promise<void> | void;
}

const readHeaders = ['x-amz-checksum-mode'];
const writeHeaders = ['x-amz-checksum-crc32', 'x-amz-sdk-checksum-algorithm'];
const everyOperationsHeaders = ['x-amz-content-sha256', 'x-amz-date', 'x-amz-user-agent'];
/** Other headers that must not be ignored: each forbids something that the store would then do. */
const conditions = ['if-match', 'if-unmodified-since', 'content-md5'];

/** The whole of what the store does, apart from POST uploads. */
const operations: Operation[] = [
  { method: 'GET', on: 'object', headers: readHeaders, run: getObject },
  { method: 'HEAD', on: 'object', headers: readHeaders, run: headObject },
  { method: 'PUT', on: 'object', headers: writeHeaders, run: putObject },
  { method: 'DELETE', on: 'object', run: deleteObject },
  { method: 'GET', on: 'bucket', parameters: ['list-type', 'prefix'], run: listObjects },
];

/** Authenticates a request and performs it; throws S3's error for anything it may not or cannot do. */
export async function perform(service: Service, request: S3Request, res: ServerResponse): Promise<void> {
  if (isFormUpload(request)) return postObject(service, request, res);
  const authentication = await authenticate(service.signer, request);
  const input = operationInput(request);
  const operation = findOperation(request, input);
  checkBucket(service, request);
  await operation.run({ ...service, request, input, authentication, res });
}

function findOperation(request: S3Request, input: OperationInput): Operation {
  const on = request.key === '' ? 'bucket' : 'object';
  const operation = operations.find(
    ({ method, on: target }) => method === request.method && target === on && request.bucket !== '',
  );
  if (!operation) {
    const target = request.bucket === '' ? 'service' : on;
    const parameters = Object.keys(input.parameters).join('&');
    throw notImplemented(`${request.method} ${target}${parameters && `?${parameters}`}`);
  }
  refuseUnknown(operation, input);
  return operation;
}

function refuseUnknown(
  { method, on, parameters = [], headers = [] }: Operation,
  { parameters: givenParameters, headers: givenHeaders }: OperationInput,
): void {
  const parameter = Object.keys(givenParameters).find((name) => !parameters.includes(name));
  if (parameter !== undefined) throw notImplemented(`The parameter '${parameter}' of this operation`);
  const known = [...headers, ...everyOperationsHeaders];
  const unknown = (name: string) =>
    (name.startsWith('x-amz-') && !known.includes(name)) ||
    conditions.includes(name) ||
    (name === 'if-none-match' && method === 'PUT');
  const header = Object.keys(givenHeaders).find(unknown);
  if (header !== undefined) throw notImplemented(`The header '${header}' of this operation`);
  if (on === 'bucket' && givenParameters['list-type'] !== '2') throw notImplemented('ListObjects version 1');
}

function notImplemented(what: string) {
  return new S3Error('NotImplemented', `${what} is not implemented by this store.`);
}
