import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';
import type { Sharp } from 'sharp';
import type { Size } from '../../../local/painter/art/references/reference.ts';

/** Where reference images lie, as in S3 behind presigned links. */
export interface Shelf {
  /** A link to a file, or to a place that answers in its own way. */
  put(file: Uint8Array | ((response: ServerResponse) => void)): string;
  close(): Promise<void>;
}

export async function startShelf(): Promise<Shelf> {
  const places: (Uint8Array | ((response: ServerResponse) => void))[] = [];
  const server = createServer((request, response) => {
    const place = places[Number(/^\/(\d+)\?/.exec(request.url ?? '')?.[1] ?? -1)];
    if (place === undefined) response.writeHead(404).end('no such key');
    else if (typeof place === 'function') place(response);
    else response.writeHead(200, { 'content-length': place.length }).end(place);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    put: (place) => `http://127.0.0.1:${port}/${places.push(place) - 1}?X-Amz-Signature=secret`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Pixels as they are compared: 8-bit RGBA. */
export interface Bitmap extends Size {
  data: Buffer;
}

type Pixel = readonly [red: number, green: number, blue: number, alpha: number];

export function bitmap(width: number, height: number, at: (x: number, y: number) => Pixel): Bitmap {
  const data = Buffer.alloc(width * height * 4);
  for (let y = 0, to = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, to += 4) data.set(at(x, y), to);
  }
  return { width, height, data };
}

/** Every pixel another color, every channel in its whole range. */
export function colorful(
  width: number,
  height: number,
  alpha = (_x: number, _y: number): number => 255,
): Bitmap {
  return bitmap(width, height, (x, y) => [
    (x * 7 + y) % 256,
    (y * 5 + x * 3) % 256,
    (x * y) % 256,
    alpha(x, y),
  ]);
}

export function plain(red: number, green: number, blue: number, side = 300): Bitmap {
  return bitmap(side, side, () => [red, green, blue, 255]);
}

export function image({ width, height, data }: Bitmap): Sharp {
  return sharp(data, { raw: { width, height, channels: 4 } });
}

export const pngOf = (picture: Bitmap): Promise<Buffer> =>
  image(picture).png({ compressionLevel: 1 }).toBuffer();

export async function decoded(picture: Sharp): Promise<Bitmap> {
  const { data, info } = await picture.ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
}
