import { Buffer } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import { s3Error } from './errors.ts';
import type { Service } from './exchange.ts';
import { bodyOf, digestHeaders, headersToStore, sendXml } from './exchange.ts';
import { digestsOf, tooLarge } from './payload.ts';
import type { Fields } from './post-policy.ts';
import { checkPolicy } from './post-policy.ts';
import type { S3Request } from './request.ts';
import { checkKey } from './request.ts';
import type { Signer } from './signature.ts';
import { algorithm, checkCredential, sameSignature } from './signature.ts';
import type { StoredObject } from './store.ts';
import { textElement, xmlDocument } from './xml.ts';

/** What a form may weigh besides its file. */
const maxFormBytes = 64 * 1024;

const understoodField =
  /^(bucket|key|policy|success_action_status|content-(type|disposition|encoding|language)|cache-control|expires|x-ignore-.*|x-amz-(meta-.*|algorithm|credential|date|signature|checksum-crc32|checksum-sha256))$/;

export function isFormUpload(request: S3Request): boolean {
  const isForm = /^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '');
  return (
    request.method === 'POST' &&
    request.key === '' &&
    isForm &&
    request.headers['authorization'] === undefined
  );
}

/** A browser's upload: a form whose policy is signed in place of the request. */
export async function postObject(service: Service, request: S3Request, res: ServerResponse): Promise<void> {
  const { store, signer, maxObjectBytes } = service;
  const { fields, file } = await readForm(request, maxObjectBytes);
  const policy = await verifyPolicySignature(signer, fields);
  fields.set(
    'key',
    (fields.get('key') ?? '').replaceAll('${filename}', () => file.name),
  );
  fields.set('bucket', request.bucket);
  checkPolicy(policy, fields, file.size, signer.clock());
  if (!store.has(request.bucket)) throw s3Error('NoSuchBucket', undefined, { BucketName: request.bucket });
  if (file.size > maxObjectBytes) throw tooLarge(file.size, maxObjectBytes);
  const unknown = [...fields.keys()].find((name) => !understoodField.test(name));
  if (unknown)
    throw s3Error('NotImplemented', `The form field '${unknown}' is not implemented by this store.`);
  const key = checkKey(fields.get('key') ?? '');

  const attributes = { headers: headersToStore(Object.fromEntries(fields)), lastModified: signer.clock() };
  const object = await store.put(request.bucket, key, attributes, async (write) => {
    const data = Buffer.from(await file.arrayBuffer());
    await write(data);
    return digestsOf(data, Object.fromEntries(fields));
  });
  answer(request, res, object, fields.get('success_action_status'));
}

async function readForm(request: S3Request, maxObjectBytes: number): Promise<{ fields: Fields; file: File }> {
  const length = request.headers['content-length'];
  if (length === undefined) throw s3Error('MissingContentLength');
  if (Number(length) > maxObjectBytes + maxFormBytes) throw tooLarge(Number(length), maxObjectBytes);
  const pieces: Buffer[] = [];
  for await (const piece of bodyOf(request)) pieces.push(piece);
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  let form: FormData;
  try {
    form = await new Response(Buffer.concat(pieces), { headers }).formData();
  } catch {
    throw s3Error('MalformedPOSTRequest');
  }
  const fields: Fields = new Map();
  for (const [givenName, value] of form) {
    const name = givenName.toLowerCase();
    // As with S3, what follows the file does not count.
    if (name === 'file' && typeof value !== 'string') return { fields, file: value };
    if (typeof value !== 'string' || fields.has(name)) {
      throw s3Error('InvalidArgument', `POST requires exactly one text value for the field '${name}'.`);
    }
    fields.set(name, value);
  }
  throw s3Error('InvalidArgument', 'POST requires exactly one file upload per request.');
}

/** Returns the policy, still in base64, once it is known to be signed. */
async function verifyPolicySignature(signer: Signer, fields: Fields): Promise<string> {
  const policy = fields.get('policy');
  const signature = fields.get('x-amz-signature');
  if (!policy || !signature) throw s3Error('AccessDenied');
  if (fields.has('x-amz-security-token')) throw s3Error('InvalidToken');
  if (fields.get('x-amz-algorithm') !== algorithm) {
    throw s3Error('InvalidArgument', `X-Amz-Algorithm only supports "${algorithm}"`);
  }
  const credential = fields.get('x-amz-credential') ?? '';
  const { date } = checkCredential(signer, credential, fields.get('x-amz-date') ?? '', (message, details) =>
    s3Error('InvalidArgument', `Error parsing the X-Amz-Credential field; ${message}`, details),
  );
  if (!sameSignature(signature, await signer.sign(policy, date))) throw s3Error('SignatureDoesNotMatch');
  return policy;
}

function answer(
  request: S3Request,
  res: ServerResponse,
  object: StoredObject,
  wanted: string | undefined,
): void {
  const path = object.key.split('/').map(encodeURIComponent).join('/');
  const location = `http://${request.headers['host']}/${request.bucket}/${path}`;
  for (const [name, value] of Object.entries({ ...digestHeaders(object), location }))
    res.setHeader(name, value);
  if (wanted !== '201') {
    res.writeHead(wanted === '200' ? 200 : 204).end();
    return;
  }
  const elements = [
    textElement('Location', location),
    textElement('Bucket', request.bucket),
    textElement('Key', object.key),
    textElement('ETag', `"${object.md5}"`),
  ];
  sendXml(res, 201, xmlDocument('PostResponse', elements, false));
}
