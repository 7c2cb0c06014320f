import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { startPainter } from '../../../local/painter/server.ts';
import { decodePng } from '../../unit/painter/png-decoder.ts';
import { closings, inMs, invoke } from '../model-contract/invocation.ts';
import type { Exchange } from '../model-contract/invocation.ts';
import { bitmap, colorful, plain, pngOf, startShelf } from './shelf.ts';
import type { Shelf } from './shelf.ts';
import { identity, modelRequest, startSink } from './support.ts';
import type { Sink } from './support.ts';

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

describe('a reference that is unreadable is named with a reason', () => {
  const blank = (width: number, height: number): Promise<Buffer> =>
    sharp({ create: { width, height, channels: 3, background: '#888' } })
      .png()
      .toBuffer();
  const tooMuch = (response: ServerResponse): void => {
    response.writeHead(200).end(Buffer.alloc(17 * 1024 * 1024));
  };

  test.each<[why: string, () => Promise<Uint8Array> | Parameters<Shelf['put']>[0]]>([
    [
      'could not be fetched: its link answered with HTTP 404.',
      () => (response) => response.writeHead(404).end(),
    ],
    [
      'could not be fetched: the connection failed.',
      () => (response) => response.writeHead(302, { location: '/' }).end(),
    ],
    ['is larger than 16 MiB.', () => tooMuch],
    ['is not a PNG, JPEG or WebP image that can be read.', () => Buffer.from('<html>not here</html>')],
    ['shows nothing: it is transparent everywhere.', () => pngOf(bitmap(90, 90, () => [9, 9, 9, 0]))],
    ['is larger than 40 megapixels.', () => blank(6400, 6400)],
    ['is larger than 40 megapixels or 8192 pixels a side.', () => blank(8256, 64)],
  ])('%s', async (why, file) => {
    const made = file();
    const url = shelf.put(made instanceof Promise ? await made : made);
    const { closing } = await ask([shelf.put(await pngOf(colorful(400, 300))), url]);

    const message = `Reference image 2 ${why}`;
    expect(closing).toEqual({ event: 'failed', reason: 'reference_unreadable', message });
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

  test('lets the next one in when its caller hangs up', async () => {
    const { url, asked, left } = silent();
    const waiting = invoke(painter.url, modelRequest([sink.link('gone')], { references: [{ url }] }), {
      onEvent: (_event, hangUp) => void asked.then(hangUp),
    });
    await left;

    expect(closings(await waiting)).toEqual([]);
    const next = await ask([shelf.put(await pngOf(plain(1, 2, 3)))], {}, ['next']);
    expect(next.closing).toMatchObject({ event: 'completed' });
  });

  test('ends at its deadline even behind another that waits', async () => {
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
