import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';

export interface SigningScope {
  /** By its name in signatures. */
  service: string;
  region: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
}

/** Signs the request once more as its sender should have (AWS, "Signature Version 4 signing process"). */
export async function isSigned(
  { headers, method, url }: IncomingMessage,
  body: Buffer,
  { service, credentials, region }: SigningScope,
): Promise<boolean> {
  const sent = headers.authorization ?? '';
  const names = /SignedHeaders=([\w;-]+),/.exec(sent)?.[1]?.split(';') ?? [];
  const time = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(headers['x-amz-date']));
  const contents = headers['x-amz-content-sha256'];
  if (time === null || !names.includes('host')) return false;
  // The signer does not hash the body when there is this header.
  if (contents !== undefined && contents !== createHash('sha256').update(body).digest('hex')) return false;
  const [, year, month, day, hour, minute, second] = time;
  const signer = new SignatureV4({ service, region, credentials, sha256: Sha256 });
  const again = await signer.sign(
    {
      method: method!,
      protocol: 'http:',
      hostname: '',
      path: url!,
      query: {},
      headers: Object.fromEntries(names.map((name) => [name, String(headers[name])])),
      body,
    },
    { signingDate: new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) },
  );
  const expected = Buffer.from(again.headers.authorization!);
  return sent.length === expected.length && timingSafeEqual(Buffer.from(sent), expected);
}
