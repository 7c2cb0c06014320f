import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { S3Error } from './errors.ts';
import { receivePayload, type Digests } from './payload.ts';
import type { OperationInput, S3Request } from './request.ts';
import type { Signer } from './signature.ts';
import type { Store } from './store.ts';
import { sendXml, textElement } from './xml.ts';

/** A request of an upload in parts. Parts are objects of a store of their own, named by their upload and number. */
interface PartExchange {
  store: Store;
  parts: Store;
  signer: Signer;
  maxObjectBytes: number;
  request: S3Request;
  input: OperationInput;
  payloadHash: string;
  res: ServerResponse;
}

const maxListBytes = 1024 * 1024;

export async function createUpload({ parts, signer, request, input, res }: PartExchange): Promise<void> {
  const uploadId = randomUUID();
  const type = input.headers['content-type'];
  const headers = { key: request.key, ...(type ? { 'content-type': type } : {}) };
  const attributes = { headers, lastModified: signer.clock() };
  // It stands for the upload itself.
  await parts.put(`${uploadId}/0`, attributes, () => Promise.resolve({ size: 0, md5: '' }));
  const elements = [textElement('Key', request.key), textElement('UploadId', uploadId)];
  sendXml(res, 200, 'InitiateMultipartUploadResult', elements);
}

export async function uploadPart(exchange: PartExchange): Promise<void> {
  const { parts, signer, input, res } = exchange;
  const { uploadId } = openUpload(exchange);
  const number = Number(input.parameters['partNumber']);
  if (!(Number.isInteger(number) && number >= 1 && number <= 10_000)) throw new S3Error('InvalidArgument');
  const attributes = { headers: {}, lastModified: signer.clock() };
  const part = await parts.put(`${uploadId}/${number}`, attributes, (write) => receive(exchange, write));
  res.writeHead(200, { etag: `"${part.md5}"`, 'content-length': 0 }).end();
}

export async function completeUpload(exchange: PartExchange): Promise<void> {
  const { store, parts, signer, request, res } = exchange;
  const { uploadId, headers } = openUpload(exchange);
  let text = '';
  const take = async (piece: Buffer) => void (text += piece.toString('latin1'));
  await receive({ ...exchange, maxObjectBytes: maxListBytes }, take);
  const numbers = text.matchAll(/<PartNumber>(\d+)<\/PartNumber>/g);
  const names = [...numbers].map(([, number]) => `${uploadId}/${Number(number)}`);
  if (names.length === 0 || names.some((name) => !parts.head(name))) throw new S3Error('InvalidPart');
  const attributes = { headers, lastModified: signer.clock() };
  const { md5 } = await store.put(request.key, attributes, (write) => join(parts, names, write));
  remove(parts, uploadId);
  const elements = [textElement('Key', request.key), textElement('ETag', `"${md5}"`)];
  sendXml(res, 200, 'CompleteMultipartUploadResult', elements);
}

export function abortUpload(exchange: PartExchange): void {
  remove(exchange.parts, openUpload(exchange).uploadId);
  exchange.res.writeHead(204).end();
}

/** @throws NoSuchUpload for one that is not open, or is another key's. */
function openUpload({ parts, request, input }: PartExchange) {
  const uploadId = input.parameters['uploadId'] ?? '';
  const { key, ...headers } = parts.head(`${uploadId}/0`)?.headers ?? {};
  if (key !== request.key) throw new S3Error('NoSuchUpload');
  return { uploadId, headers };
}

function remove(parts: Store, uploadId: string): void {
  for (const { key } of parts.list()) if (key.startsWith(`${uploadId}/`)) parts.remove(key);
}

type Write = (piece: Buffer) => Promise<void>;

function receive({ request, input, payloadHash, maxObjectBytes }: PartExchange, write: Write) {
  const body = request.body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  return receivePayload(body, { headers: input.headers, payloadHash, maxBytes: maxObjectBytes }, write);
}

function join(parts: Store, names: string[], write: Write): Promise<Digests> {
  const size = names.reduce((sum, name) => sum + parts.head(name)!.size, 0);
  const pieces = async function* () {
    for (const name of names) yield* parts.open(name)!.read() as AsyncIterable<Buffer>;
  };
  const expected = { headers: { 'content-length': String(size) }, payloadHash: 'UNSIGNED-PAYLOAD' };
  return receivePayload(pieces(), { ...expected, maxBytes: size }, write);
}
