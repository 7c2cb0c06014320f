import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';
import type { PictureOptions } from '../../src/art/paint.ts';
import type { References, Size } from '../../src/art/references/reference.ts';
import { readReferences } from '../../src/references/read-references.ts';
import type { PaintRequest } from '../../src/request.ts';
import { never, small } from './painting.ts';

type File = Uint8Array | ((response: ServerResponse) => void);

const files: File[] = [];
/** Stands for S3: it serves the files behind links that look presigned. */
const server = createServer((request, response) => {
  const file = files[Number(/^\/(\d+)\?/.exec(request.url ?? '')?.[1] ?? -1)];
  if (file === undefined) response.writeHead(404).end('no such key');
  else if (typeof file === 'function') file(response);
  else response.writeHead(200, { 'content-length': file.length }).end(file);
});
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
});

/** A link to a file, or to a place that answers in its own way. */
export function linkTo(file: File): string {
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}/${files.push(file) - 1}?X-Amz-Signature=secret`;
}

export interface Asked extends Partial<Size> {
  referenceMode?: 'exact_product' | 'reference';
  preserveBranding?: boolean;
}

/** Reads the images behind these links as a request would have them read. */
export async function referencesAt(links: string[], asked: Asked = {}): Promise<References> {
  const { width, height } = small;
  const references = links.map((url) => ({ url }));
  const request = {
    referenceMode: 'reference',
    preserveBranding: false,
    width,
    height,
    references,
    ...asked,
  };
  return readReferences(request as PaintRequest, never);
}

/** What changes a picture to one with these files as its references. */
export async function withFiles(
  images: Uint8Array[],
  { width = small.width, height = small.height, ...asked }: Asked = {},
): Promise<Partial<PictureOptions>> {
  const references = await referencesAt(images.map(linkTo), { width, height, ...asked });
  return { width, height, references };
}
