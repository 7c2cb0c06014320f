import { pipeline } from 'node:stream/promises';
import { S3Error } from './errors.ts';
import { digestHeaders, headersToStore, type Exchange } from './exchange.ts';
import { receivePayload } from './payload.ts';
import type { StoredObject } from './store.ts';
import { sendXml, textElement, xmlDocument } from './xml.ts';

/** Answers the whole object: HTTP lets a server ignore `Range` (RFC 9110, section 14.2). */
export async function getObject(exchange: Exchange): Promise<void> {
  const { store, request, res } = exchange;
  const opened = store.open(request.key);
  if (!opened) throw new S3Error('NoSuchKey', undefined, { Key: request.key });
  answerHead(exchange, opened.object);
  await pipeline(opened.read(), res);
}

export function headObject(exchange: Exchange): void {
  const { store, request, res } = exchange;
  const object = store.head(request.key);
  if (!object) throw new S3Error('NoSuchKey', undefined, { Key: request.key });
  answerHead(exchange, object);
  res.end();
}

function answerHead({ input, res }: Exchange, object: StoredObject): void {
  const { etag, ...checksum } = digestHeaders(object);
  res.writeHead(200, {
    'content-type': 'binary/octet-stream',
    ...object.headers,
    etag,
    'last-modified': new Date(object.lastModified).toUTCString(),
    'content-length': object.size,
    ...(input.headers['x-amz-checksum-mode'] === 'ENABLED' && checksum),
  });
}

export async function putObject(exchange: Exchange): Promise<void> {
  const { store, signer, request, input, res, maxObjectBytes, authentication } = exchange;
  const attributes = { headers: headersToStore(input.headers), lastModified: signer.clock() };
  const { payloadHash } = authentication;
  const object = await store.put(request.key, attributes, (write) =>
    receivePayload(request.body, { headers: input.headers, payloadHash, maxBytes: maxObjectBytes }, write),
  );
  res.writeHead(200, { ...digestHeaders(object), 'content-length': 0 }).end();
}

export function deleteObject({ store, request, res }: Exchange): void {
  store.remove(request.key);
  res.writeHead(204).end();
}

/** ListObjectsV2, with everything on one page. */
export function listObjects({ store, request, input, res }: Exchange): void {
  const prefix = input.parameters['prefix'] ?? '';
  const objects = store.list().filter(({ key }) => key.startsWith(prefix));
  const elements = [
    textElement('Name', request.bucket),
    textElement('Prefix', prefix),
    textElement('KeyCount', objects.length),
    textElement('MaxKeys', objects.length),
    textElement('IsTruncated', false),
    ...objects.map(contents),
  ];
  sendXml(res, 200, xmlDocument('ListBucketResult', elements));
}

function contents(object: StoredObject): string {
  const elements = [
    textElement('Key', object.key),
    textElement('LastModified', object.lastModified),
    textElement('ETag', `"${object.md5}"`),
    textElement('Size', object.size),
    textElement('StorageClass', 'STANDARD'),
  ];
  return `<Contents>${elements.join('')}</Contents>`;
}
