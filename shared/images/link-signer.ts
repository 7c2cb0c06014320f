import { formatUrl } from '@aws-sdk/core/util';
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { S3RequestPresigner } from '@aws-sdk/s3-request-presigner';
import { getEndpointFromInstructions } from '@smithy/core/endpoints';
import { HttpRequest } from '@smithy/core/protocols';
import type { LinkCredentials } from './previews.ts';

export interface LinkOptions {
  lifetimeSeconds: number;
  /** What a PUT by this link must send, by lower-case name. It is part of what is signed. */
  headers?: Record<string, string>;
  /** @default now */
  signingDate?: Date;
}

interface Place {
  endpoint: URL;
  presigner: S3RequestPresigner;
}

const operations = { GET: 'GetObject', PUT: 'PutObject' } as const;

/**
 * Signs links to one bucket's objects: the very links of the SDK's `getSignedUrl`, which sends each through the client's
 * whole middleware to learn what is the same for all of them. That takes four times as long.
 * @param credentials that sign in place of the client's own.
 */
export function linkSigner(client: S3Client, bucket: string, credentials?: LinkCredentials) {
  let place: Promise<Place> | undefined;
  const findPlace = async (): Promise<Place> => {
    const input = { Bucket: bucket, Key: 'any' };
    const { url, properties } = await getEndpointFromInstructions(
      input,
      GetObjectCommand,
      client.config as never,
    );
    const signingRegion = String(properties?.authSchemes?.[0]?.signingRegion);
    const presigner = new S3RequestPresigner({
      ...client.config,
      ...(credentials && { credentials }),
      region: async () => signingRegion,
    });
    return { endpoint: url, presigner };
  };

  return async (method: keyof typeof operations, key: string, options: LinkOptions): Promise<string> => {
    place ??= findPlace().catch((error: unknown) => {
      place = undefined;
      throw error;
    });
    const { endpoint, presigner } = await place;
    const { headers, lifetimeSeconds, signingDate } = options;
    const request = new HttpRequest({
      method,
      protocol: endpoint.protocol,
      hostname: endpoint.hostname,
      ...(endpoint.port === '' ? {} : { port: Number(endpoint.port) }),
      path: `${endpoint.pathname.replace(/\/$/, '')}/${key.split('/').map(encoded).join('/')}`,
      query: { 'x-id': operations[method] },
      headers: { host: endpoint.host, ...headers },
    });
    const presigned = await presigner.presign(request, {
      expiresIn: lifetimeSeconds,
      ...(headers && { signableHeaders: new Set([...Object.keys(headers), 'host']) }),
      ...(signingDate && { signingDate }),
    });
    return formatUrl(presigned);
  };
}

/** RFC 3986 reserves these too, which `encodeURIComponent` leaves as they are. */
function encoded(segment: string): string {
  return encodeURIComponent(segment).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
