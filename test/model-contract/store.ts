import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { listen } from '../../local/http/server.ts';
import { pointSdkAt } from '../../local/environment.ts';
import { createObjectStore } from '../../local/s3/server.ts';
import type { OutputFormat } from '../../shared/images/image-types.ts';
import { objectStore } from '../../shared/images/object-store.ts';
import { clientFor, credentials, region } from '../engine/local/s3/support.ts';

/** Answers in the store's place; returns false to leave a request to the store. Attempts count from 1. */
export type Trouble = (response: ServerResponse, attempt: number) => boolean;

/** Always answers with a status. */
export const refusing =
  (code: number, headers = {}): Trouble =>
  (response) => {
    response.writeHead(code, headers).end('<Error/>');
    return true;
  };

/** A presigned link and what is known of it. */
export interface Place {
  url: string;
  /** How often somebody asked for it. */
  attempts(): number;
}

export interface FilePlace extends Place {
  /** What lies there, null when nothing does. */
  read(): Promise<{ bytes: Buffer; contentType: string | null; cacheControl: string | null } | null>;
}

export interface OutputPlace extends FilePlace {
  preview: FilePlace;
}

export interface OutputTroubles {
  outputFormat?: OutputFormat | undefined;
  /** Of its preview's link. */
  previewTrouble?: Trouble;
}

export interface Store {
  /** A place for one image and its preview, with the links that the service would give: a PNG's unless another is named. */
  output(trouble?: Trouble, options?: OutputTroubles): Promise<OutputPlace>;
  /** A file behind a presigned link, nothing when it is null; or a link that answers in its own way. */
  file(file: Uint8Array | Trouble | null): Promise<Place>;
  /** Moves the store's clock, so that links expire. */
  advance(ms: number): void;
  close(): Promise<void>;
}

const bucket = 'images';
const linkLifetimeSeconds = 600;

/** The local S3 with the service's own links; each of them can be given trouble before the store sees a request. */
export async function startStore(): Promise<Store> {
  const folder = await mkdtemp(join(tmpdir(), 'model-contract-'));
  let shiftMs = 0;
  const clock = () => new Date(Date.now() + shiftMs);
  const { handle } = await createObjectStore({ folder, bucketName: bucket, credentials, region, clock });
  const attempts = new Map<string, number>();
  const troubles = new Map<string, Trouble>();
  const server = createServer((request, response) => {
    const asked = nameOf(request.method, request.url);
    const attempt = (attempts.get(asked) ?? 0) + 1;
    attempts.set(asked, attempt);
    if (troubles.get(asked)?.(response, attempt)) request.resume();
    else void handle(request, response);
  });
  const { url, close } = await listen(server);
  pointSdkAt({ region, ...credentials, dynamoDbUrl: url, s3Url: url });
  const links = objectStore(bucket);
  const client = clientFor(url);
  const place = (method: string, link: string, trouble?: Trouble): Place => {
    const name = nameOf(method, link);
    if (trouble) troubles.set(name, trouble);
    return { url: link, attempts: () => attempts.get(name) ?? 0 };
  };

  return {
    output: async (trouble, { outputFormat = 'png', previewTrouble } = {}) => {
      const image = { licenseId: 'lic_a', requestId: randomUUID(), outputFormat };
      const link = await links.outputPutLink(image, 0, linkLifetimeSeconds);
      const previewLink = await links.previewPutLink(image, 0, linkLifetimeSeconds);
      return {
        ...place('PUT', link, trouble),
        read: async () => open(await links.outputLink(image, 0)),
        preview: {
          ...place('PUT', previewLink, previewTrouble),
          read: async () => open(await links.previewLink(image, 0)),
        },
      };
    },
    file: async (file) => {
      const Key = `files/${randomUUID()}`;
      if (file instanceof Uint8Array) {
        await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: file }));
      }
      const link = await links.adapterLink(Key, linkLifetimeSeconds);
      return place('GET', link, typeof file === 'function' ? file : undefined);
    },
    advance: (ms) => void (shiftMs += ms),
    close: async () => {
      client.destroy();
      await close();
      await rm(folder, { recursive: true });
    },
  };
}

const nameOf = (method = '', url = ''): string => `${method} ${new URL(url, 'http://store').pathname}`;

async function open(link: string): ReturnType<FilePlace['read']> {
  const answer = await fetch(link);
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (answer.status === 404) return null;
  if (!answer.ok) throw new Error(`the store answers ${answer.status}`);
  const [contentType, cacheControl] = ['content-type', 'cache-control'].map((name) =>
    answer.headers.get(name),
  );
  return { bytes, contentType: contentType!, cacheControl: cacheControl! };
}
