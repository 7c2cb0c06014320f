import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import type { ModelContainer } from './container.ts';
import { colorful, plain, pngOf } from './images.ts';
import { refusing, type Trouble } from './store.ts';
import type { ContractFixture } from './fixture.ts';

const breaksOff = (response: ServerResponse): boolean => {
  response.writeHead(200, { 'content-length': 9 }).write('\x89PNG');
  setImmediate(() => response.destroy());
  return true;
};
/** Sends for as long as somebody reads. */
const endless = (response: ServerResponse): boolean => {
  response.writeHead(200);
  const piece = Buffer.alloc(1024 * 1024);
  const more = (error?: Error | null): void => {
    if (!error && !response.destroyed) response.write(piece, more);
  };
  more();
  return true;
};
const photo = (): Promise<Buffer> => colorful(400, 300).jpeg().toBuffer();
const blank = (width: number, height: number): Promise<Buffer> => pngOf(plain('#888', width, height));

const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><path d="M0 0h90v90z"/></svg>';

/** A good image with so many bytes: what follows its end is not read. */
const photoOf = async (bytes: number): Promise<Buffer> => {
  const file = await photo();
  return Buffer.concat([file, Buffer.alloc(bytes - file.length)]);
};

type File = Uint8Array | Trouble | null;
type Maker = () => File | Promise<File>;
type Kinds = [what: string, make: Maker][];

export function downloadCases(fixture: ContractFixture, { loadsAdapters }: ModelContainer): void {
  /** A link to what is made. */
  const placed = async (make: Maker): Promise<string> => (await fixture.store.file(await make())).url;
  const unreadable: Kinds = [
    ['is missing', () => null],
    ['is refused', () => refusing(403)],
    ['leads to a good one', async () => refusing(302, { location: await placed(photo) })],
    ['breaks off', () => breaksOff],
    ['is over 16 MiB', () => photoOf(16 * 1024 * 1024 + 1)],
    ['never ends', () => endless],
  ];
  const invalid: Kinds = [
    ['is empty', () => Buffer.alloc(0)],
    ['is no image', () => Buffer.from('<html>not here</html>')],
    ['is cut off', async () => (await photo()).subarray(0, 6000)],
    ['has no image data behind its header', async () => (await pngOf(colorful(90, 90))).fill(0x55, 60)],
    ['is an SVG', () => Buffer.from(svg)],
    ['is a GIF', () => plain('#123').gif().toBuffer()],
    ['is over 40 megapixels', () => blank(6400, 6400)],
    ['is over 8192 pixels wide', () => blank(8256, 64)],
    ['shows nothing', () => pngOf(colorful(90, 90, () => 0))],
  ];

  describe('reference images', () => {
    test.each([
      ['PNG', () => pngOf(colorful(300, 200))],
      ['JPEG', photo],
      ['16 MiB large', () => photoOf(16 * 1024 * 1024)],
      ['8192 pixels wide', () => blank(8192, 64)],
      ['WebP', () => colorful(300, 200).webp().toBuffer()],
      ['PNG with transparent parts', () => pngOf(colorful(200, 200, (x) => (x < 100 ? 0 : 255)))],
      ['JPEG in gray', () => plain('#555').toColourspace('b-w').jpeg().toBuffer()],
    ])('may be %s', async (_type, make) => {
      await fixture.generate({ references: [{ url: await placed(make) }] });
    });

    test.each([
      ...unreadable.map(([what, make]) => ['reference_unreadable', what, make] as const),
      ...invalid.map(([what, make]) => ['reference_invalid', what, make] as const),
    ])('fail the request as %s, by number, where one %s', async (reason, _what, make) => {
      const references = [{ url: await placed(photo) }, { url: await placed(make) }];
      const [output] = await fixture.outputs(1);
      const { closing } = await fixture.ask({ references }, [output!]);

      const message = expect.stringMatching(/^Reference image 2 /);
      expect(closing).toMatchObject({ event: 'failed', reason, reference: 1, message });
      expect(output!.attempts()).toBe(0);
    });

    test('one whose link has expired, or whose host is not there, fails the request', async () => {
      const url = await placed(photo);
      fixture.store.advance(3_600_000);
      for (const reference of [url, 'http://127.0.0.1:9/gone?Signature=s']) {
        const { closing } = await fixture.ask({ references: [{ url: reference }] });
        const message = expect.stringMatching(/^Reference image 1 /);
        expect(closing).toMatchObject({ event: 'failed', reason: 'reference_unreadable', message });
      }
      fixture.store.advance(-3_600_000);
    });
  });

  /** A header of a safetensors file, its length before it, and the bytes of its tensors. */
  const safetensors = (header: string, bytes: number, length = header.length): Buffer => {
    const start = Buffer.alloc(8);
    start.writeBigUInt64LE(BigInt(length));
    return Buffer.concat([start, Buffer.from(header), Buffer.alloc(bytes)]);
  };
  const tensor = JSON.stringify({ 'a.weight': { dtype: 'F32', shape: [2, 2], data_offsets: [0, 16] } });

  const unusable: Kinds = [
    ['is missing', () => null],
    ['is refused', () => refusing(403)],
    [
      'leads to another',
      async () => refusing(302, { location: await placed(() => safetensors(tensor, 16)) }),
    ],
    ['breaks off', () => breaksOff],
    ['is empty', () => Buffer.alloc(0)],
    ['is a page', () => Buffer.from('<html>not here</html>')],
    ['is a pickle', () => Buffer.from('\x80\x04\x95\x0c\x00\x00\x00\x00\x00\x00\x00\x8c\x08posix', 'latin1')],
    ['claims a header beyond its end', () => safetensors(tensor, 16, 1e9)],
    ['has a header that is not JSON', () => safetensors('{"a.weight": ', 16)],
    ['is cut off in its tensors', () => safetensors(tensor, 9)],
    ['fits no model', () => safetensors(tensor, 16)],
  ];
  describe(`an adapter ${loadsAdapters ? 'fails the request' : 'is without effect'}`, () => {
    // One that is not even fetched is the same whatever it is.
    test.each(loadsAdapters ? unusable : unusable.slice(0, 1))('that %s', async (_what, make) => {
      const place = await fixture.store.file(await make());
      // One that is known by its identity and version might not be fetched again.
      const id = `idn_${randomUUID()}`;
      const { identity: base } = fixture.request([]);
      const identity = { ...base, id, adapterUrl: place.url, adapterVersion: '1' };
      const [output] = await fixture.outputs(1);
      const { closing } = await fixture.ask({ identity }, [output!]);

      if (!loadsAdapters) {
        expect(closing).toMatchObject({ event: 'completed' });
        expect(place.attempts()).toBe(0);
        return;
      }
      expect(closing).toMatchObject({ event: 'failed', reason: 'adapter_unavailable' });
      expect(output!.attempts()).toBe(0);
      expect((await fixture.ask()).closing).toMatchObject({ event: 'completed' });
    });
  });

  test('an adapter that is another file than its digest says is not used', async () => {
    const place = await fixture.store.file(safetensors(tensor, 16));
    const { identity: base } = fixture.request([]);
    const identity = { ...base, adapterUrl: place.url, adapterVersion: '1', adapterSha256: 'f0'.repeat(32) };
    const { closing } = await fixture.ask({ identity });

    if (!loadsAdapters) return expect(closing).toMatchObject({ event: 'completed' });
    const message = expect.stringContaining('its SHA-256 differs');
    expect(closing).toEqual({ event: 'failed', reason: 'adapter_unavailable', message });
  });
}
