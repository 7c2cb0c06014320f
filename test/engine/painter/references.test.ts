import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { startPainter } from '../../../local/painter/server.ts';
import { decodePng } from '../../unit/painter/png-decoder.ts';
import { bitmap, colorful, image, plain, pngOf, startShelf } from './shelf.ts';
import type { Shelf } from './shelf.ts';
import { closings, identity, inMs, invoke, modelRequest, startSink } from './support.ts';
import type { Exchange, Sink } from './support.ts';

let painter: Awaited<ReturnType<typeof startPainter>>;
let sink: Sink;
let shelf: Shelf;

beforeAll(async () => {
  [painter, sink, shelf] = await Promise.all([startPainter({ workers: 1 }), startSink(), startShelf()]);
});
afterAll(async () => {
  await Promise.all([painter.close(), sink.close(), shelf.close()]);
});

const ask = (urls: string[], changes: Record<string, unknown> = {}, names = ['image']): Promise<Exchange> =>
  invoke(
    painter.url,
    modelRequest(
      names.map((name) => sink.link(name)),
      { references: urls.map((url) => ({ url })), ...changes },
    ),
  );
const uploaded = (name: string): Sink['uploads'][number] =>
  sink.uploads.findLast(({ path }) => path === `/${name}`)!;

describe.each(['reference', 'exact_product'])('a request in mode %s', (referenceMode) => {
  test('says how many references it used, reports progress and paints the same bytes each time', async () => {
    const urls = [shelf.put(await pngOf(colorful(300, 200))), shelf.put(await pngOf(plain(200, 30, 30)))];
    const first = await ask(urls, { referenceMode, requestId: 'a' }, ['first']);
    await ask(urls, { referenceMode, requestId: 'b' }, ['second']);

    expect(first.closing).toMatchObject({ event: 'completed', referenceImagesUsed: 2 });
    const steps = first.events.flatMap((event) => (event.event === 'progress' ? [event.step] : []));
    expect(steps.length).toBeGreaterThan(4);
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    expect(uploaded('second').sha256).toBe(uploaded('first').sha256);
  });

  test('paints output i as a request of its own with seed + i would', async () => {
    const urls = [shelf.put(await pngOf(colorful(120, 160)))];
    await ask(urls, { referenceMode, seed: 5 }, ['five', 'six']);
    await ask(urls, { referenceMode, seed: 6 }, ['alone']);

    expect(uploaded('alone').sha256).toBe(uploaded('six').sha256);
    expect(uploaded('five').sha256).not.toBe(uploaded('six').sha256);
  });

  test('depends on the references, their order, their mode and the branding', async () => {
    const urls = await Promise.all(
      [colorful(700, 200), colorful(90, 180)].map(async (each) => shelf.put(await pngOf(each))),
    );
    const other = referenceMode === 'reference' ? 'exact_product' : 'reference';
    await ask(urls, { referenceMode }, ['one']);
    await ask(urls.toReversed(), { referenceMode }, ['two']);
    await ask(urls.slice(1), { referenceMode }, ['three']);
    await ask(urls, { referenceMode: other }, ['four']);
    await ask(urls, { referenceMode, preserveBranding: true }, ['five']);
    const pictures = ['one', 'two', 'three', 'four', 'five'].map((name) =>
      Buffer.from(decodePng(uploaded(name).bytes).bytes).toString('latin1'),
    );

    expect(new Set(pictures).size).toBe(5);
  });

  test('names its references, their mode and the branding in the metadata', async () => {
    const file = await pngOf(plain(10, 120, 90));
    await ask([shelf.put(file)], { referenceMode, preserveBranding: true }, ['described']);
    const { texts } = decodePng(uploaded('described').bytes);
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(file)));

    expect(JSON.parse(texts.parameters!)).toMatchObject({
      referenceMode,
      preserveBranding: true,
      references: [{ sha256: Buffer.from(digest).toString('hex') }],
    });
    expect(JSON.stringify(texts)).not.toContain('Signature');
  });
});

test('without references, the mode and the branding change not a byte', async () => {
  await ask([], {}, ['bare']);
  await ask([], { referenceMode: 'exact_product', preserveBranding: true }, ['hinted']);

  expect(uploaded('hinted').sha256).toBe(uploaded('bare').sha256);
});

describe('a reference that is unreadable fails the request and says which one it is', () => {
  const large = (bytes: number) => (response: ServerResponse) => {
    response.writeHead(200);
    const piece = Buffer.alloc(1024 * 1024);
    const more = (sent: number): void => {
      if (sent < bytes) response.write(piece, () => more(sent + piece.length));
      else response.end();
    };
    more(0);
  };
  const photo = async (): Promise<Buffer> => image(colorful(400, 300)).jpeg().toBuffer();
  const cases: [string, () => Promise<Parameters<Shelf['put']>[0]>, string][] = [
    ['is gone', async () => (response) => response.writeHead(404).end(), 'HTTP 404'],
    ['is refused', async () => (response) => response.writeHead(403).end(), 'HTTP 403'],
    [
      'leads elsewhere',
      async () => (response) => response.writeHead(302, { location: sink.link('x') }).end(),
      'fetched',
    ],
    [
      'breaks off',
      async () => (response) => response.writeHead(200, { 'content-length': 9 }).destroy(),
      'fetched',
    ],
    ['is over 16 MiB', async () => large(17 * 1024 * 1024), '16 MiB'],
    ['never ends', async () => large(Infinity), '16 MiB'],
    ['is empty', async () => Buffer.alloc(0), 'PNG, JPEG or WebP'],
    ['is no image', async () => Buffer.from('<html>not here</html>'), 'PNG, JPEG or WebP'],
    ['is cut off', async () => (await photo()).subarray(0, 6000), 'PNG, JPEG or WebP'],
    ['is an SVG', async () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'PNG, JPEG or WebP'],
    [
      'is a GIF',
      async () =>
        image(plain(1, 2, 3))
          .gif()
          .toBuffer(),
      'PNG, JPEG or WebP',
    ],
    ['shows nothing', async () => pngOf(bitmap(90, 90, () => [9, 9, 9, 0])), 'transparent'],
    ['is over 40 megapixels', async () => blank(6400, 6400), '40 megapixels'],
    ['is over 8192 pixels wide', async () => blank(8256, 64), '8192'],
  ];
  const blank = (width: number, height: number): Promise<Buffer> =>
    sharp({ create: { width, height, channels: 3, background: '#888' } })
      .png()
      .toBuffer();

  test.each(cases)('when it %s', async (_name, file, why) => {
    const urls = [shelf.put(await photo()), shelf.put(await file())];
    const exchange = await ask(urls, {}, ['unreadable']);

    expect(exchange.closing).toMatchObject({ event: 'failed', reason: 'reference_unreadable' });
    const { message } = exchange.closing as { message: string };
    expect(message).toMatch(/^Reference image 2 /);
    expect(message).toContain(why);
    expect(message).not.toMatch(/Signature|http:|127\.0\.0\.1/);
    expect(uploaded('unreadable')).toBeUndefined();
  });

  test('when nobody listens at its link', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    const { closing } = await ask([`http://127.0.0.1:${port}/gone?X-Amz-Signature=secret`]);

    expect(closing).toEqual({
      event: 'failed',
      reason: 'reference_unreadable',
      message: 'Reference image 1 could not be fetched: ECONNREFUSED.',
    });
  });
});

describe('a request that waits for its reference', () => {
  /** A place that answers only a first byte, and says when its caller has gone. */
  const silent = (): { url: string; asked: Promise<void>; left: Promise<void> } => {
    const [asked, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const url = shelf.put((response) => {
      response.writeHead(200).write('\x89');
      asked.resolve();
      response.on('close', left.resolve);
    });
    return { url, asked: asked.promise, left: left.promise };
  };

  test('stops when its caller hangs up, and lets the next one in', async () => {
    const { url, asked, left } = silent();
    const waiting = invoke(painter.url, modelRequest([sink.link('gone')], { references: [{ url }] }), {
      onEvent: (_event, hangUp) => void asked.then(hangUp),
    });
    await left;

    expect(closings(await waiting)).toEqual([]);
    const next = await ask([shelf.put(await pngOf(plain(1, 2, 3)))], {}, ['next']);
    expect(next.closing).toMatchObject({ event: 'completed' });
    expect(uploaded('gone')).toBeUndefined();
  });

  test('ends at its deadline, and so does one that waits behind it', async () => {
    const { url } = silent();
    const both = [ask([url], { deadline: inMs(700) }), ask([url], { deadline: inMs(300) })];

    for (const { closing } of await Promise.all(both)) {
      expect(closing).toMatchObject({ event: 'failed', reason: 'deadline' });
    }
  });
});

test.each(['reference', 'exact_product'])(
  'a caller who hangs up while a picture is painted in mode %s gets nothing uploaded',
  async (referenceMode) => {
    const references = [{ url: shelf.put(await pngOf(colorful(500, 500))) }];
    const changes = { referenceMode, preserveBranding: true, references, width: 1024, height: 1024 };
    const request = modelRequest([sink.link('left')], { ...changes, ...identity({ style: 'ember' }) });
    await invoke(painter.url, request, {
      onEvent: (event, hangUp) => {
        if (event.event === 'progress' && event.step >= 12) hangUp();
      },
    });

    expect((await ask([], {}, ['after'])).closing).toMatchObject({ event: 'completed' });
    await wait(200);
    expect(uploaded('left')).toBeUndefined();
  },
);
