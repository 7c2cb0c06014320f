import type { ServerResponse } from 'node:http';
import { readBody } from '../http/read-body.ts';
import { notImplemented, S3Error } from './errors.ts';
import { checkBucket, etagOf, type Service } from './operations.ts';
import { receivePayload, tooLarge } from './payload.ts';
import type { S3Request } from './request.ts';
import { algorithm, checkCredential, checkSignature, type Signer } from './signature.ts';

/** A form's fields by their lower-case names; `bucket` is the one that the form was sent to. */
type Fields = Map<string, string>;

/** Of a form, without its file. */
const maxFormBytes = 64 * 1024;
const understoodField = /^(bucket|key|policy|content-type|x-amz-(algorithm|credential|date|signature))$/;
const fieldsOutsidePolicy = ['policy', 'x-amz-signature'];

export function isFormUpload({ method, key, headers }: S3Request): boolean {
  const isForm = /^multipart\/form-data\b/i.test(headers['content-type'] ?? '');
  return method === 'POST' && key === '' && isForm && headers['authorization'] === undefined;
}

/** A browser's upload: a form whose policy is signed in place of the request. */
export async function postObject(service: Service, request: S3Request, res: ServerResponse): Promise<void> {
  const { store, signer, maxObjectBytes: maxBytes } = service;
  const { fields, file } = await readForm(request, maxBytes);
  const policy = await verifyPolicySignature(signer, fields);
  fields.set('bucket', request.bucket);
  checkPolicy(policy, fields, file.size, signer.clock());
  checkBucket(service, request);
  const unknown = [...fields.keys()].find((name) => !understoodField.test(name));
  if (unknown !== undefined) throw notImplemented(`The form field '${unknown}'`);
  const type = fields.get('content-type');
  const attributes = { headers: type ? { 'content-type': type } : {}, lastModified: signer.clock() };
  const expected = {
    headers: { 'content-length': String(file.size) },
    payloadHash: 'UNSIGNED-PAYLOAD',
    maxBytes,
  };
  const pieces = file.stream().values() as AsyncIterable<Uint8Array>;
  const key = fields.get('key')!;
  const object = await store.put(key, attributes, (write) =>
    receivePayload(pieces as AsyncIterable<Buffer>, expected, write),
  );
  const path = key.split('/').map(encodeURIComponent).join('/');
  const location = `http://${request.headers['host']}/${request.bucket}/${path}`;
  res.writeHead(204, { etag: etagOf(object), location }).end();
}

async function readForm(request: S3Request, maxObjectBytes: number): Promise<{ fields: Fields; file: File }> {
  const { 'content-length': length, 'content-type': type = '' } = request.headers;
  if (length === undefined) throw new S3Error('MissingContentLength');
  const body = await readBody(request.body, maxObjectBytes + maxFormBytes);
  if (body === null) throw tooLarge(Number(length), maxObjectBytes);
  const headers = { 'content-type': type };
  const form = await new Response(body as Buffer<ArrayBuffer>, { headers }).formData().catch(() => {
    throw new S3Error('MalformedPOSTRequest');
  });
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

/** @returns the policy, still in base64, once it is known to be signed. */
async function verifyPolicySignature(signer: Signer, fields: Fields): Promise<string> {
  const field = (name: string) => fields.get(name) ?? '';
  const [policy, signature] = [field('policy'), field('x-amz-signature')];
  if (field('x-amz-algorithm') !== algorithm) throw new S3Error('AccessDenied');
  const date = checkCredential(signer, field('x-amz-credential'), field('x-amz-date'));
  await checkSignature(signer, policy, date, signature);
  return policy;
}

/**
 * Checks a form against its policy: it has not expired, every condition is met, and every field has a condition.
 * Source: AWS, "Creating a POST policy". Of its conditions the store knows exact values and the range of sizes.
 */
function checkPolicy(policy: string, fields: Fields, fileBytes: number, now: Date): void {
  const { expiration, conditions } = parsePolicy(policy);
  if (!(now.getTime() <= Date.parse(String(expiration)))) throw denied('Policy expired.');
  const covered = new Set(fieldsOutsidePolicy);
  for (const condition of conditions) {
    const [name, min, max] = Array.isArray(condition) ? condition : [];
    if (name === 'content-length-range') {
      if (!(fileBytes >= min)) throw new S3Error('EntityTooSmall');
      if (!(fileBytes <= max)) throw tooLarge(fileBytes, max);
      continue;
    }
    if (name !== undefined) throw notImplemented(`The condition '${name}' of a policy`);
    const [[field, value] = ['', null]] = Object.entries(condition);
    if (fields.get(field.toLowerCase()) !== value) throw denied(`Policy Condition failed: ${field}`);
    covered.add(field.toLowerCase());
  }
  const extra = [...fields.keys()].filter((name) => !covered.has(name));
  if (extra.length > 0) throw denied(`Extra input fields: ${extra.join(', ')}`);
}

function parsePolicy(policy: string): { expiration: unknown; conditions: any[] } {
  try {
    const { expiration, conditions } = JSON.parse(Buffer.from(policy, 'base64').toString());
    if (Array.isArray(conditions)) return { expiration, conditions };
  } catch {
    // It is refused as well.
  }
  throw new S3Error('InvalidPolicyDocument');
}

function denied(reason: string): S3Error {
  return new S3Error('AccessDenied', `Invalid according to Policy: ${reason}`);
}
