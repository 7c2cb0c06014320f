import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
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

const lines = (sent: Sent[]): string[] => sent.map(({ line }) => line);
const signed = `GET ${baseUrl}/generate/req_1`;

describe('the bytes of an image', () => {
  test('are fetched by its link, without the key', async () => {
    const { client, sent } = clientOf([withLinks('https://s3.test/a?1'), given]);
    const image = await client.getGeneration('req_1');
    expect([image.images.map(({ link }) => link), await image.bytes()]).toEqual([
      ['https://s3.test/a?1'],
      picture,
    ]);
    expect(lines(sent)).toEqual([signed, 'GET https://s3.test/a?1']);
    expect(sent[1]!.headers.get('authorization')).toBeNull();
  });

  test('come by a new link where the old one has expired; the images of a request share the new ones', async () => {
    const first = withLinks('https://s3.test/a?1', 'https://s3.test/b?1');
    const second = withLinks('https://s3.test/a?2', 'https://s3.test/b?2');
    const { client, sent } = clientOf([first, expired, expired, second, given]);
    const { images } = await client.getGeneration('req_1');
    expect(await Promise.all(images.map((image) => image.bytes()))).toEqual([picture, picture]);
    const asked = [signed, 'GET https://s3.test/a?1', 'GET https://s3.test/b?1', signed];
    expect(lines(sent)).toEqual([...asked, 'GET https://s3.test/a?2', 'GET https://s3.test/b?2']);
    expect(images.map(({ link }) => link)).toEqual(['https://s3.test/a?2', 'https://s3.test/b?2']);
  });

  test('come by the new links too when the refusal of an old one arrives late', async () => {
    const first = withLinks('https://s3.test/a?1', 'https://s3.test/b?1');
    const second = withLinks('https://s3.test/a?2', 'https://s3.test/b?2');
    let arrive = (): void => {};
    const late: Script = () =>
      new Response(new ReadableStream({ start: (stream) => void (arrive = () => stream.close()) }), {
        status: 403,
      });
    const { client, sent } = clientOf([first, late, expired, second, given]);
    const { images } = await client.getGeneration('req_1');
    const slow = images[0]!.bytes();
    expect(await images[1]!.bytes()).toEqual(picture);
    arrive();
    expect(await slow).toEqual(picture);
    expect(lines(sent).filter((line) => line === signed)).toHaveLength(2);
    expect(lines(sent).at(-1)).toBe('GET https://s3.test/a?2');
  });

  test('are asked for again after a fault of the network or the storage', async () => {
    const faults: Script[] = [broken(), unreachable, refusedLink(503, 'SlowDown')];
    const { client, sent } = clientOf([withLinks('https://s3.test/a?1'), ...faults, given]);
    const image = await client.getGeneration('req_1');
    expect(await outcomeOf(image.bytes())).toEqual(picture);
    expect(sent.map(({ atSeconds }) => Math.round(atSeconds))).toEqual([0, 0, 1, 3, 7]);
  });

  test('may take long, but not be silent for 45 seconds', async () => {
    const slow: Script = (signal) => {
      const { response, write } = openStream(signal);
      for (const [second, letter] of [
        [1, 'a'],
        [44, 'b'],
        [88, 'c'],
      ] as const) {
        setTimeout(() => write(letter), 1000 * second);
      }
      return response;
    };
    for (const [first, seconds] of [
      [slow, 88 + 45],
      ['silence', 60],
    ] as const) {
      const { client, sent } = clientOf([withLinks('https://s3.test/a?1'), first, given]);
      const image = await client.getGeneration('req_1');
      expect(await outcomeOf(image.bytes())).toEqual(picture);
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
      const { client, sent } = clientOf([withLinks('a'), fault]);
      const error = await outcomeOf((await client.getGeneration('req_1')).bytes());
      expect(error).toMatchObject({ name, requestId: 'req_1' });
      const rest = " The image is paid and stored: getGeneration('req_1') fetches it again at no cost.";
      expect(error.message.split(rest)).toEqual([expect.stringMatching(/^\w.*\.$/), '']);
      const [first, last] = [sent[1]!.atSeconds, sent.at(-1)!.atSeconds];
      expect(last - first).toBeLessThanOrEqual(120);
      expect(sent.length).toBe(name === 'TimeoutError' ? 3 : 7);
    },
  );

  test('that a new link does not give either are a DownloadError; no other refusal asks for a new link', async () => {
    const { client, sent } = clientOf([withLinks('https://s3.test/a?1'), expired, withLinks('x'), expired]);
    const error = await outcomeOf((await client.getGeneration('req_1')).bytes());
    expect(error).toMatchObject({
      name: 'DownloadError',
      status: 403,
      code: 'AccessDenied',
      requestId: 'req_1',
    });
    expect(sent).toHaveLength(4);
    const other = clientOf([withLinks('https://s3.test/a?1'), refusedLink(416, 'InvalidRange')]);
    const stays = await outcomeOf((await other.client.getGeneration('req_1')).bytes());
    expect([stays.status, other.sent.length]).toEqual([416, 2]);
    const gone = clientOf([withLinks('x'), expired, refused(404, 'REQUEST_NOT_FOUND')]);
    const refusal = await outcomeOf((await gone.client.getGeneration('req_1')).bytes());
    expect(refusal).toMatchObject({ name: 'ApiError', code: 'REQUEST_NOT_FOUND', requestId: 'req_1' });
  });

  test('of none or of several images are taken from `images`', async () => {
    for (const outputs of [[], ['a', 'b']]) {
      const { client, sent } = clientOf([withLinks(...outputs)]);
      const request = await client.getGeneration('req_1');
      const message = `It has ${outputs.length} images: take them from \`images\`.`;
      expect(await outcomeOf(request.bytes())).toMatchObject({ name: 'TypeError', message });
      expect(await outcomeOf(request.save('x.png'))).toMatchObject({ message });
      expect(sent).toHaveLength(1);
    }
  });
});

test('an answer is the same data with its images as without: for JSON, copies and logs', async () => {
  const { client } = clientOf([withLinks('a')]);
  const answer = { ...stored('COMPLETED'), outputs: ['a'] };
  const image = await client.getGeneration('req_1');
  expect([JSON.parse(JSON.stringify(image)), { ...image }]).toEqual([answer, answer]);
});

describe('files', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'images-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('an image is saved under a path or a URL, and leaves the file alone when it does not come', async () => {
    const path = join(folder, 'bay.png');
    const { client } = clientOf([withLinks('a'), given, given, expired]);
    const image = await client.getGeneration('req_1');
    expect([await image.save(path), new Uint8Array(readFileSync(path))]).toEqual([path, picture]);
    writeFileSync(path, 'other');
    await image.images[0]!.save(pathToFileURL(path));
    expect(new Uint8Array(readFileSync(path))).toEqual(picture);
    expect(await outcomeOf(image.save(path))).toBeInstanceOf(Error);
    const elsewhere = clientOf([withLinks('a'), given]).client.getGeneration('req_1');
    const lost = await outcomeOf((await elsewhere).save(join(folder, 'missing', 'bay.png')));
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

test.each([
  ['generate'],
  ['respondAsync'],
  ['generateEvents'],
  ['listGenerations'],
  ['allGenerations'],
] as const)('what `%s` gives has its images', async (call) => {
  const usage = { creditsCharged: 1 };
  const answer = { requestId: 'req_1', outputs: ['a'], usage };
  const page = {
    generations: [{ ...stored('COMPLETED'), outputs: ['a'] }],
    nextCursor: null,
    searchedBackTo: null,
  };
  const calls = {
    generate: async () => clientOf([answered(answer), given]).client.generate(body),
    respondAsync: async () => {
      const { client } = clientOf([answered(answer), withLinks('a'), given]);
      return outcomeOf((await client.respondAsync(body)).wait());
    },
    generateEvents: async () => {
      const { client } = clientOf([answered(answer), given]);
      for await (const event of client.generateEvents(body)) {
        if (event.type === 'completed') return event.result;
      }
      throw new Error('it did not complete');
    },
    listGenerations: async () =>
      (await clientOf([answered(page), given]).client.listGenerations()).generations[0]!,
    allGenerations: async () =>
      (
        await clientOf([answered(page), given])
          .client.allGenerations()
          .next()
      ).value!,
  };
  expect(await (await calls[call]()).bytes()).toEqual(picture);
});
