import type { S3ClientResolvedConfig } from '@aws-sdk/client-s3';
import { SignatureV4 } from '@smithy/signature-v4';
import { freshFetch } from './fresh-fetch.ts';

/** What every client of the SDK knows. */
export type SigningConfig = Pick<S3ClientResolvedConfig, 'region' | 'credentials' | 'sha256'>;

export interface SignedRequest {
  /** Without a query. */
  url: string;
  headers: Record<string, string>;
  body: string;
  withinMs: number;
}

/**
 * Sends single requests to one of AWS's services (AWS, "Signature Version 4 signing process"). An SDK client for one
 * operation would make a bundle a tenth larger, or more.
 * @param service by its name in signatures.
 * @returns the answer, whatever its status. Its body must be read or cancelled.
 */
export function signedFetch(service: string, { region, credentials, sha256 }: SigningConfig) {
  const signer = new SignatureV4({ service, region, credentials, sha256 });
  return async ({ url, headers, body, withinMs }: SignedRequest): Promise<Response> => {
    const { protocol, hostname, port, pathname, host } = new URL(url);
    const signed = await signer.sign({
      method: 'POST',
      protocol,
      hostname,
      ...(port === '' ? {} : { port: Number(port) }),
      path: pathname,
      query: {},
      headers: { host, ...headers },
      body,
    });
    const signal = AbortSignal.timeout(withinMs);
    return freshFetch(url, { method: 'POST', headers: signed.headers, body, signal });
  };
}

/** Where a service of AWS is ("AWS service endpoints"). China has a domain of its own. */
export function awsUrl(host: string, region: string): string {
  return `https://${host}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`;
}
