import { Buffer } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import { readBody } from '../http/read-body.ts';
import { S3Error } from './errors.ts';
import { checkBucket, digestHeaders, headersToStore, type Service } from './exchange.ts';
import { digestsOf, tooLarge } from './payload.ts';
import type { Fields } from './post-policy.ts';
import { checkPolicy } from './post-policy.ts';
import type { S3Request } from './request.ts';
import { checkKey } from './request.ts';
import type { Signer } from './signature.ts';
import { algorithm, checkCredential, sameSignature } from './signature.ts';

/** Of a form, without its file. */
const maxFormBytes = 64 * 1024;

const understoodField =
  /^(bucket|key|policy|content-(type|disposition|encoding|language)|cache-control|expires|x-ignore-.*|x-amz-(algorithm|credential|date|signature|checksum-crc32))$/;

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
  fields.set('bucket', request.bucket);
  checkPolicy(policy, fields, file.size, signer.clock());
  checkBucket(service, request);
  if (file.size > maxObjectBytes) throw tooLarge(file.size, maxObjectBytes);
  refuseUnknown(fields);
  const key = checkKey(fields.get('key') ?? '');

  const attributes = { headers: headersToStore(Object.fromEntries(fields)), lastModified: signer.clock() };
  const object = await store.put(key, attributes, async (write) => {
    const data = Buffer.from(await file.arrayBuffer());
    await write(data);
    return digestsOf(data, Object.fromEntries(fields));
  });
  const path = object.key.split('/').map(encodeURIComponent).join('/');
  const location = `http://${request.headers['host']}/${request.bucket}/${path}`;
  res.writeHead(204, { ...digestHeaders(object), location }).end();
}

function refuseUnknown(fields: Fields): void {
  const unknown = [...fields.keys()].find((name) => !understoodField.test(name));
  const what = unknown ?? (fields.get('key')?.includes('${filename}') ? '${filename}' : null);
  if (what !== null)
    throw new S3Error('NotImplemented', `The form field '${what}' is not implemented by this store.`);
}

async function readForm(request: S3Request, maxObjectBytes: number): Promise<{ fields: Fields; file: File }> {
  const length = request.headers['content-length'];
  if (length === undefined) throw new S3Error('MissingContentLength');
  const body = await readBody(request.body, maxObjectBytes + maxFormBytes);
  if (body === null) throw tooLarge(Number(length), maxObjectBytes);
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  let form: FormData;
  try {
    form = await new Response(body as Buffer<ArrayBuffer>, { headers }).formData();
  } catch {
    throw new S3Error('MalformedPOSTRequest');
  }
  const fields: Fields = new Map();
  for (const [givenName, value] of form) {
    const name = givenName.toLowerCase();
    // As with S3, fields after the file are ignored.
    if (name === 'file' && typeof value !== 'string') return { fields, file: value };
    if (typeof value !== 'string' || fields.has(name)) {
      throw new S3Error('InvalidArgument', `POST requires exactly one text value for the field '${name}'.`);
    }
    fields.set(name, value);
  }
  throw new S3Error('InvalidArgument', 'POST requires exactly one file upload per request.');
}

/** Returns the policy, still in base64, once it is known to be signed. */
async function verifyPolicySignature(signer: Signer, fields: Fields): Promise<string> {
  const policy = fields.get('policy');
  const signature = fields.get('x-amz-signature');
  if (!policy || !signature) throw new S3Error('AccessDenied');
  if (fields.has('x-amz-security-token')) throw new S3Error('InvalidToken');
  if (fields.get('x-amz-algorithm') !== algorithm) {
    throw new S3Error('InvalidArgument', `X-Amz-Algorithm only supports "${algorithm}"`);
  }
  const credential = fields.get('x-amz-credential') ?? '';
  const { date } = checkCredential(
    signer,
    credential,
    fields.get('x-amz-date') ?? '',
    (message, details) =>
      new S3Error('InvalidArgument', `Error parsing the X-Amz-Credential field; ${message}`, details),
  );
  if (!sameSignature(signature, await signer.sign(policy, date))) throw new S3Error('SignatureDoesNotMatch');
  return policy;
}
