import { s3Error } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { bodyOf, digestHeaders, expectationsOf, headersToStore, sendXml } from './exchange.ts';
import { receivePayload } from './payload.ts';
import { etagMatches } from './read-object.ts';
import type { Fill, StoredObject } from './store.ts';
import { textElement, xmlDocument } from './xml.ts';

export async function putObject(exchange: Exchange): Promise<void> {
  const { store, signer, request, input, res } = exchange;
  const attributes = { headers: headersToStore(input.headers), lastModified: signer.clock() };
  const fill: Fill = (write) =>
    receivePayload(bodyOf(request), expectationsOf(exchange, exchange.maxObjectBytes), write);
  const object = await store.put(
    request.bucket,
    request.key,
    attributes,
    fill,
    writeCondition(input.headers),
  );
  res.writeHead(200, { ...digestHeaders(object), 'content-length': 0 }).end();
}

export async function copyObject(exchange: Exchange): Promise<void> {
  const { store, signer, request, input, res } = exchange;
  const directive = input.headers['x-amz-metadata-directive'] ?? 'COPY';
  if (directive !== 'COPY' && directive !== 'REPLACE') {
    throw s3Error('InvalidArgument', 'x-amz-metadata-directive must be COPY or REPLACE.');
  }
  const replaced = directive === 'REPLACE' ? headersToStore(input.headers) : undefined;
  const from = parseSource(input.headers['x-amz-copy-source'] ?? '');
  if (!store.has(from.bucket)) throw s3Error('NoSuchBucket', undefined, { BucketName: from.bucket });
  if (!replaced && from.bucket === request.bucket && from.key === request.key) {
    throw s3Error('InvalidRequest', 'An object can only be copied to itself with the directive REPLACE.');
  }
  const condition = writeCondition(input.headers);
  const source = store.open(from.bucket, from.key);
  if (!source) throw s3Error('NoSuchKey', undefined, { Key: from.key });
  const { size, md5, crc32, headers } = source.object;
  let reading = false;
  const fill: Fill = async (write) => {
    reading = size > 0;
    if (reading) for await (const piece of source.read(0, size - 1)) await write(piece);
    return { size, md5, crc32 };
  };
  const attributes = { headers: replaced ?? headers, lastModified: signer.clock() };
  const copying = store.put(request.bucket, request.key, attributes, fill, condition);
  // Reading closes the source at its end; without it, nobody else would.
  const object = await copying.finally(() => reading || source.close());
  const elements = [textElement('ETag', `"${object.md5}"`), textElement('LastModified', object.lastModified)];
  sendXml(res, 200, xmlDocument('CopyObjectResult', elements));
}

export function deleteObject({ store, request, input, res }: Exchange): void {
  // Deleting regardless of a condition would be worse than not deleting at all.
  if (input.headers['if-match'] !== undefined) {
    throw s3Error('NotImplemented', 'If-Match on DeleteObject is not implemented by this store.');
  }
  store.remove(request.bucket, request.key);
  res.writeHead(204).end();
}

function parseSource(source: string): { bucket: string; key: string } {
  const [encoded = '', ...query] = source.split('?');
  if (query.length > 0)
    throw s3Error('NotImplemented', 'Copying a version is not implemented by this store.');
  let decoded: string;
  try {
    decoded = decodeURIComponent(encoded);
  } catch {
    throw s3Error('InvalidArgument', 'Copy Source must be URL-encoded.');
  }
  const [, bucket, key] = /^\/?([^/]+)\/(.+)$/s.exec(decoded) ?? [];
  if (!bucket || !key)
    throw s3Error('InvalidArgument', 'Copy Source must mention the source bucket and key.');
  return { bucket, key };
}

/** `If-None-Match: *` writes only what is not there yet, `If-Match` only over what the writer has seen. */
function writeCondition(headers: Record<string, string>) {
  const ifMatch = headers['if-match'];
  const ifNoneMatch = headers['if-none-match'];
  if (ifNoneMatch !== undefined && ifNoneMatch !== '*') {
    throw s3Error('NotImplemented', 'If-None-Match on a write is implemented for "*" only.');
  }
  return (current: StoredObject | undefined): void => {
    if (ifNoneMatch !== undefined && current) throw s3Error('PreconditionFailed');
    if (ifMatch === undefined) return;
    if (!current) throw s3Error('NoSuchKey');
    if (!etagMatches(ifMatch, current)) throw s3Error('PreconditionFailed');
  };
}
