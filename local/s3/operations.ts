import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { notImplemented, S3Error } from './errors.ts';
import { abortUpload, completeUpload, createUpload, uploadPart } from './multipart.ts';
import { receivePayload } from './payload.ts';
import { operationInput, type OperationInput, type S3Request } from './request.ts';
import { authenticate, type Signer } from './signature.ts';
import type { Store, StoredObject } from './store.ts';
import { sendXml, textElement } from './xml.ts';

/** What every request to one store shares. */
export interface Service {
  bucketName: string;
  store: Store;
  /** Of uploads that are not complete. */
  parts: Store;
  signer: Signer;
  maxObjectBytes: number;
}

/** One authenticated request, and where its answer goes. */
interface Exchange extends Service {
  request: S3Request;
  input: OperationInput;
  payloadHash: string;
  res: ServerResponse;
}

interface Operation {
  method: string;
  on: 'bucket' | 'object';
  /** The parameter by which it is told from others of the same method. */
  by?: string;
  /** Everything that it understands. Anything else is refused by name, not ignored. */
  parameters?: string[];
  headers?: string[];
  run(exchange: Exchange): Promise<void> | void;
}

const readHeaders = ['x-amz-checksum-mode'];
const writeHeaders = ['x-amz-checksum-crc32', 'x-amz-sdk-checksum-algorithm'];
const uploadHeaders = ['x-amz-checksum-algorithm', 'x-amz-checksum-type', 'x-amz-mp-object-size'];
const everyOperationsHeaders = ['x-amz-content-sha256', 'x-amz-date', 'x-amz-user-agent'];
/** Other headers that must not be ignored: each forbids something that the store would then do. */
const conditions = ['if-match', 'if-unmodified-since', 'content-md5'];

/** The whole of what the store does, apart from POST uploads. */
const operations: Operation[] = [
  { method: 'POST', on: 'object', by: 'uploads', headers: uploadHeaders, run: createUpload },
  { method: 'POST', on: 'object', by: 'uploadId', headers: uploadHeaders, run: completeUpload },
  { method: 'DELETE', on: 'object', by: 'uploadId', run: abortUpload },
  {
    method: 'PUT',
    on: 'object',
    by: 'uploadId',
    parameters: ['partNumber'],
    headers: writeHeaders,
    run: uploadPart,
  },
  { method: 'GET', on: 'object', headers: readHeaders, run: getObject },
  { method: 'HEAD', on: 'object', headers: readHeaders, run: headObject },
  { method: 'PUT', on: 'object', headers: writeHeaders, run: putObject },
  { method: 'DELETE', on: 'object', run: deleteObject },
  { method: 'GET', on: 'bucket', parameters: ['list-type', 'prefix'], run: listObjects },
];

/** Authenticates a request and performs it; throws S3's error for anything it may not or cannot do. */
export async function perform(service: Service, request: S3Request, res: ServerResponse): Promise<void> {
  const payloadHash = await authenticate(service.signer, request);
  const input = operationInput(request);
  const operation = findOperation(request, input);
  checkBucket(service, request);
  await operation.run({ ...service, request, input, payloadHash, res });
}

/** @throws NoSuchBucket for any but the one bucket. */
export function checkBucket({ bucketName }: Service, { bucket }: S3Request): void {
  if (bucket !== bucketName) throw new S3Error('NoSuchBucket', undefined, { BucketName: bucket });
}

function findOperation({ method, bucket, key }: S3Request, input: OperationInput): Operation {
  const on = bucket === '' ? 'service' : key === '' ? 'bucket' : 'object';
  const operation = operations.find(
    (one) => one.method === method && one.on === on && (one.by === undefined || one.by in input.parameters),
  );
  if (!operation) {
    const parameters = Object.keys(input.parameters).join('&');
    throw notImplemented(`${method} ${on}${parameters && `?${parameters}`}`);
  }
  const { by, parameters = [], headers = [] } = operation;
  const parameter = Object.keys(input.parameters).find((name) => name !== by && !parameters.includes(name));
  if (parameter !== undefined) throw notImplemented(`The parameter '${parameter}' of this operation`);
  const known = [...headers, ...everyOperationsHeaders];
  const isUnknown = (name: string) =>
    (name.startsWith('x-amz-') && !known.includes(name)) ||
    conditions.includes(name) ||
    (name === 'if-none-match' && method === 'PUT');
  const header = Object.keys(input.headers).find(isUnknown);
  if (header !== undefined) throw notImplemented(`The header '${header}' of this operation`);
  return operation;
}

/** Answers the whole object: HTTP lets a server ignore `Range` (RFC 9110, section 14.2). */
async function getObject(exchange: Exchange): Promise<void> {
  const { store, request, res } = exchange;
  const opened = store.open(request.key);
  if (!opened) throw new S3Error('NoSuchKey', undefined, { Key: request.key });
  answerHead(exchange, opened.object);
  await pipeline(opened.read(), res);
}

function headObject(exchange: Exchange): void {
  const { store, request, res } = exchange;
  const object = store.head(request.key);
  if (!object) throw new S3Error('NoSuchKey', undefined, { Key: request.key });
  answerHead(exchange, object);
  res.end();
}

function answerHead({ res }: Exchange, object: StoredObject): void {
  res.writeHead(200, {
    'content-type': 'binary/octet-stream',
    ...object.headers,
    etag: etagOf(object),
    'last-modified': new Date(object.lastModified).toUTCString(),
    'content-length': object.size,
  });
}

async function putObject(exchange: Exchange): Promise<void> {
  const { store, signer, request, input, res, maxObjectBytes: maxBytes, payloadHash } = exchange;
  const attributes = { headers: headersToStore(input.headers), lastModified: signer.clock() };
  // The body stays readable after an error: the client is still to get an answer.
  const body = request.body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  const object = await store.put(request.key, attributes, (write) =>
    receivePayload(body, { headers: input.headers, payloadHash, maxBytes }, write),
  );
  res.writeHead(200, { etag: etagOf(object), 'content-length': 0 }).end();
}

function deleteObject({ store, request, res }: Exchange): void {
  store.remove(request.key);
  res.writeHead(204).end();
}

/** ListObjectsV2, with everything on one page. */
function listObjects({ store, request, input, res }: Exchange): void {
  if (input.parameters['list-type'] !== '2') throw notImplemented('ListObjects version 1');
  const prefix = input.parameters['prefix'] ?? '';
  const objects = store.list().filter(({ key }) => key.startsWith(prefix));
  const elements = [
    textElement('Name', request.bucket),
    textElement('KeyCount', objects.length),
    textElement('IsTruncated', false),
    ...objects.map(contents),
  ];
  sendXml(res, 200, 'ListBucketResult', elements);
}

function contents(object: StoredObject): string {
  const elements = [
    textElement('Key', object.key),
    textElement('LastModified', object.lastModified),
    textElement('ETag', etagOf(object)),
    textElement('Size', object.size),
  ];
  return `<Contents>${elements.join('')}</Contents>`;
}

export function etagOf({ md5 }: StoredObject): string {
  return `"${md5}"`;
}

const storedHeaderNames = [
  'content-type',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'expires',
];

/** The headers that are kept with an object and answered with it. */
function headersToStore(given: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => storedHeaderNames.includes(name) && value !== ''),
  );
}
