import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import { bucket, credentials, errorCode, region } from './support.ts';

export interface PostForm {
  url: string;
  fields: Record<string, string>;
}

export interface PostOptions {
  fields?: Record<string, string>;
  conditions?: unknown[];
  expiresSeconds?: number;
  credentials?: typeof credentials;
  /** Changes what is signed, for policies that no careful server would sign. */
  policy?: (policy: Record<string, unknown>) => unknown;
}

/** What `createPresignedPost` of the SDK makes: every field is a condition, and the policy is signed. */
export async function presignPost(url: string, key: string, options: PostOptions = {}): Promise<PostForm> {
  const { conditions = [], expiresSeconds = 600, credentials: signWith = credentials } = options;
  const now = new Date();
  const amzDate = now.toISOString().replace(/[-:]|\.\d{3}/g, '');
  const fields: Record<string, string> = {
    ...options.fields,
    key,
    bucket,
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': `${signWith.accessKeyId}/${amzDate.slice(0, 8)}/${region}/s3/aws4_request`,
    'X-Amz-Date': amzDate,
  };
  const policy = {
    expiration: new Date(now.getTime() + expiresSeconds * 1000).toISOString(),
    conditions: [...conditions, ...Object.entries(fields).map(([name, value]) => ({ [name]: value }))],
  };
  const Policy = Buffer.from(JSON.stringify(options.policy?.(policy) ?? policy)).toString('base64');
  const signer = new SignatureV4({ credentials: signWith, region, service: 's3', sha256: Sha256 });
  const signature = await signer.sign(Policy, { signingDate: now });
  return { url: `${url}/${bucket}`, fields: { ...fields, Policy, 'X-Amz-Signature': signature } };
}

/** Sends the form as a browser does. */
export async function submit(
  form: PostForm,
  file: Buffer | string,
  changes: Record<string, string | undefined> = {},
  fileName = 'photo.png',
) {
  const body = new FormData();
  for (const [name, value] of Object.entries({ ...form.fields, ...changes })) {
    if (value !== undefined) body.append(name, value);
  }
  body.append('file', new File([file as string], fileName));
  const answer = await fetch(form.url, { method: 'POST', body });
  const xml = await answer.text();
  const message = /<Message>([^<]*)/.exec(xml)?.[1];
  return { status: answer.status, code: errorCode(xml), message, xml, headers: answer.headers };
}
