import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Client } from '../../../clients/typescript/src/index.ts';
import { openStream, stored } from '../../support/generation-run.ts';
import { answered, refused, type Script, type Sent } from '../../support/scripted-fetch.ts';
import { baseUrl, body, broken, clientOf, outcomeOf, unreachable, useFakeTimers } from './fixture.ts';

const picture = new Uint8Array([137, 80, 78, 71]);
const given: Script = () => new Response(picture);
const refusedLink =
  (status: number, code: string): Script =>
  () =>
    new Response(`<Error><Code>${code}</Code></Error>`, { status });
const expired = refusedLink(403, 'AccessDenied');
const withLinks = (...outputs: string[]): Script => answered({ ...stored('COMPLETED'), outputs });

useFakeTimers();

/** A stored request whose images have these links, then what else is answered. */
async function fetched(links: string[], ...scripts: Script[]) {
  const { client, sent } = clientOf([withLinks(...links), ...scripts]);
  return { request: await client.getGeneration('req_1'), sent };
}

const [a1, a2] = ['https://s3.test/a?1', 'https://s3.test/a?2'] as const;
const [b1, b2] = ['https://s3.test/b?1', 'https://s3.test/b?2'] as const;
const lines = (sent: Sent[]): string[] => sent.map(({ line }) => line);
const signed = `GET ${baseUrl}/generate/req_1`;

describe('the bytes of an image', () => {
  test('are fetched by its link, without the key', async () => {
    const { request, sent } = await fetched([a1], given);
    expect([request.images.map(({ link }) => link), await request.bytes()]).toEqual([[a1], picture]);
    expect(lines(sent)).toEqual([signed, `GET ${a1}`]);
    expect(sent[1]!.headers.get('authorization')).toBeNull();
  });

  test('come by a new link where the old one has expired; the images of a request share the new ones', async () => {
    const { request, sent } = await fetched([a1, b1], expired, expired, withLinks(a2, b2), given);
    const { images } = request;
    expect(await Promise.all(images.map((image) => image.bytes()))).toEqual([picture, picture]);
    const links = [`GET ${a1}`, `GET ${b1}`, signed, `GET ${a2}`, `GET ${b2}`];
    expect(lines(sent)).toEqual([signed, ...links]);
    expect(images.map(({ link }) => link)).toEqual([a2, b2]);
  });

  test('come by the new links too when the refusal of an old one arrives late', async () => {
    let arrive = (): void => {};
    const refusal = new ReadableStream({ start: (stream) => void (arrive = () => stream.close()) });
    const late: Script = () => new Response(refusal, { status: 403 });
    const { request, sent } = await fetched([a1, b1], late, expired, withLinks(a2, b2), given);
    const slow = request.images[0]!.bytes();
    expect(await request.images[1]!.bytes()).toEqual(picture);
    arrive();
    expect(await slow).toEqual(picture);
    expect(lines(sent).filter((line) => line === signed)).toHaveLength(2);
    expect(lines(sent).at(-1)).toBe(`GET ${a2}`);
  });

  test('may take long, but not be silent for 45 seconds', async () => {
    const slow: Script = (signal) => {
      const { response, write } = openStream(signal);
      for (const second of [1, 44, 88]) setTimeout(() => write('a piece'), 1000 * second);
      return response;
    };
    for (const [first, seconds] of [
      [slow, 88 + 45],
      ['silence', 60],
    ] as const) {
      const { request, sent } = await fetched([a1], first, given);
      expect(await outcomeOf(request.bytes())).toEqual(picture);
      expect(sent.map(({ atSeconds }) => Math.round(atSeconds))).toEqual([0, 0, seconds + 1]);
    }
  });

  test.each<[string, Script, string]>([
    ['can not be reached', unreachable, 'ConnectionError'],
    ['is down', refusedLink(503, 'SlowDown'), 'DownloadError'],
    ['breaks off', broken(), 'ConnectionError'],
    ['is silent', 'silence', 'TimeoutError'],
  ])(
    'are not asked for longer than a minute after the first failure: a storage that %s',
    async (_what, fault, name) => {
      const { request, sent } = await fetched([a1], fault);
      const error = await outcomeOf(request.bytes());
      expect(error).toMatchObject({ name, requestId: 'req_1' });
      const rest = " The image is paid and stored: getGeneration('req_1') fetches it again at no cost.";
      expect(error.message.split(rest)).toEqual([expect.stringMatching(/^\w.*\.$/), '']);
      const [first, last] = [sent[1]!.atSeconds, sent.at(-1)!.atSeconds];
      expect(last - first).toBeLessThanOrEqual(120);
      expect(sent.length).toBe(name === 'TimeoutError' ? 3 : 7);
    },
  );

  test('that a new link does not give either are a DownloadError; no other refusal asks for a new link', async () => {
    const cases: [scripts: Script[], error: object, sentCount: number][] = [
      [[expired, withLinks(a2), expired], { name: 'DownloadError', status: 403, code: 'AccessDenied' }, 4],
      [[refusedLink(416, 'InvalidRange')], { name: 'DownloadError', status: 416 }, 2],
      [[expired, refused(404, 'REQUEST_NOT_FOUND')], { name: 'ApiError', code: 'REQUEST_NOT_FOUND' }, 3],
    ];
    for (const [scripts, error, sentCount] of cases) {
      const { request, sent } = await fetched([a1], ...scripts);
      expect(await outcomeOf(request.bytes())).toMatchObject({ ...error, requestId: 'req_1' });
      expect(sent).toHaveLength(sentCount);
    }
  });

  test('of none or of several images are taken from `images`', async () => {
    for (const outputs of [[], ['a', 'b']]) {
      const { request, sent } = await fetched(outputs);
      const message = `It has ${outputs.length} images: take them from \`images\`.`;
      expect(await outcomeOf(request.bytes())).toMatchObject({ name: 'TypeError', message });
      expect(await outcomeOf(request.save('x.png'))).toMatchObject({ message });
      expect(sent).toHaveLength(1);
    }
  });
});

test('an answer is the same data with its images as without: for JSON, copies and logs', async () => {
  const { request } = await fetched(['a']);
  const data = { ...stored('COMPLETED'), outputs: ['a'] };
  expect([JSON.parse(JSON.stringify(request)), { ...request }]).toEqual([data, data]);
});

describe('files', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'images-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('an image is saved under a path or a URL, and leaves the file alone when it does not come', async () => {
    const path = join(folder, 'bay.png');
    const { request: image } = await fetched(['a'], given, given, expired);
    expect([await image.save(path), new Uint8Array(readFileSync(path))]).toEqual([path, picture]);
    writeFileSync(path, 'other');
    await image.images[0]!.save(pathToFileURL(path));
    expect(new Uint8Array(readFileSync(path))).toEqual(picture);
    expect(await outcomeOf(image.save(path))).toBeInstanceOf(Error);
    const { request: elsewhere } = await fetched(['a'], given);
    const lost = await outcomeOf(elsewhere.save(join(folder, 'missing', 'bay.png')));
    expect(lost).toMatchObject({ code: 'ENOENT', requestId: 'req_1' });
    expect(new Uint8Array(readFileSync(path))).toEqual(picture);
  });

  test.each([
    ['a path', (path: string) => path],
    ['a URL', (path: string) => pathToFileURL(path)],
    ['a Blob', () => new Blob([picture])],
    ['a File', () => new File([picture], 'private-name.png')],
    ['bytes', () => picture],
    ['an ArrayBuffer', () => picture.buffer],
  ])('a reference image is uploaded from %s', async (_what, fileOf) => {
    const path = join(folder, 'private-name.png');
    writeFileSync(path, picture);
    const upload = { uploadId: 'upl_1', url: 'https://s3.test', fields: { key: 'k' }, maxBytes: 4 };
    const { client, sent } = clientOf([answered(upload), () => new Response(null, { status: 204 })]);
    expect(await client.uploadReference(fileOf(path))).toBe('upl_1');
    const sentFile = (sent[1]!.body as FormData).get('file') as File;
    expect([new Uint8Array(await sentFile.arrayBuffer()), sentFile.name]).toEqual([picture, 'file']);
    const missing = await client.uploadReference(join(folder, 'none.png')).catch((error: unknown) => error);
    expect(missing).toMatchObject({ code: 'ENOENT' });
    expect(sent).toHaveLength(2);
  });
});

const answer = { requestId: 'req_1', outputs: ['a'], usage: { creditsCharged: 1 } };
const page = { generations: [{ ...stored('COMPLETED'), outputs: ['a'] }], nextCursor: null };

test.each<[string, Script[], (client: Client) => Promise<any>]>([
  [
    'respondAsync',
    [answered(answer), withLinks('a')],
    async (client) => outcomeOf((await client.respondAsync(body)).wait()),
  ],
  [
    'generateEvents',
    [answered(answer)],
    async (client) => {
      let last: any;
      for await (const event of client.generateEvents(body)) last = event;
      return last.result;
    },
  ],
  ['listGenerations', [answered(page)], async (client) => (await client.listGenerations()).generations[0]],
  ['allGenerations', [answered(page)], async (client) => (await client.allGenerations().next()).value],
])('what `%s` gives has its images', async (_, scripts, call) => {
  const image = await call(clientOf([...scripts, given]).client);
  expect(await image.bytes()).toEqual(picture);
});
