import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { EnginesFile } from '../../local/data-folder.ts';
import { openImage, pngSize } from '../support/png.ts';
import { generate, stored } from '../support/requests.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';
import { pause } from '../support/until.ts';

let service: RunningService;
let proKey: string;
let requestId: string;
/** Two images of one request, and one of another account's. */
let links: string[];
let strangersLink: string;

beforeAll(async () => {
  service = await startService();
  const { keys, identities } = service.ready;
  proKey = keys.pro!;
  const answer = await generate(service, proKey, { identityId: identities.aurora, numOutputs: 2 });
  ({ requestId, outputs: links } = answer.body);
  const other = await generate(service, keys.stranger!, { identityId: identities.aurora });
  [strangersLink] = other.body.outputs;
});

afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

/** The link with something about it changed. */
function changed(change: (url: URL) => void): string {
  const url = new URL(links[0]!);
  change(url);
  expect(url.href).not.toBe(links[0]);
  return url.href;
}

async function expectForbidden(link: string, method = 'GET'): Promise<void> {
  const response = await fetch(link, { method, ...(method === 'PUT' ? { body: 'mine' } : {}) });
  const text = await response.text();
  expect({ link, status: response.status }).toEqual({ link, status: 403 });
  expect(text).not.toContain('PNG');
}

describe('a link', () => {
  test('opens to its image without any key, for each output', async () => {
    expect(links).toHaveLength(2);
    const images = await Promise.all(links.map(openImage));
    for (const image of images) expect(pngSize(image)).toEqual({ width: 512, height: 512 });
    expect(images[0]!.equals(images[1]!)).toBe(false);
  });

  test.each([
    ['webp', /^RIFF....WEBP/s],
    ['jpeg', /^\xff\xd8\xff/],
  ])('of a request for %s opens to one, by its type and by its bytes', async (outputFormat, signature) => {
    const { identities } = service.ready;
    const answer = await generate(service, proKey, { identityId: identities.aurora, outputFormat });
    const record = await stored(service, proKey, answer.body.requestId);
    expect(record.outputFormat).toBe(outputFormat);
    for (const link of [answer.body.outputs[0], record.outputUrl]) {
      const response = await fetch(link);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, `image/${outputFormat}`]);
      expect(Buffer.from(await response.arrayBuffer()).toString('latin1', 0, 12)).toMatch(signature);
    }
  });

  test('carries its signature and is promised for an hour, not longer', () => {
    for (const link of [...links, strangersLink]) {
      const { searchParams } = new URL(link);
      expect(searchParams.get('X-Amz-Signature')).toMatch(/^[0-9a-f]{64}$/);
      expect(searchParams.get('X-Amz-Expires')).toBe('3600');
      expect(searchParams.get('X-Amz-Date')).toMatch(/^\d{8}T\d{6}Z$/);
    }
  });

  test.each([0, 31, 63])('is 403 when character %i of its signature is another', async (at) => {
    const signature = new URL(links[0]!).searchParams.get('X-Amz-Signature')!;
    const other = signature[at] === 'a' ? 'b' : 'a';
    const tampered = signature.slice(0, at) + other + signature.slice(at + 1);
    await expectForbidden(changed((url) => url.searchParams.set('X-Amz-Signature', tampered)));
  });

  test('is 403 when any of its query parameters is changed, and not 200 when one is missing', async () => {
    const names = [...new URL(links[0]!).searchParams.keys()];
    expect(names).toEqual(expect.arrayContaining(['X-Amz-Signature', 'X-Amz-Expires', 'X-Amz-Date']));
    for (const name of names) {
      const altered = changed(({ searchParams }) => {
        const value = searchParams.get(name)!;
        // The first digit of the credential is in its access key; the last one would spoil its form.
        const digit = name === 'X-Amz-Credential' ? /\d/ : /\d(?=\D*$)/;
        searchParams.set(
          name,
          digit.test(value) ? value.replace(digit, (was) => `${9 - Number(was)}`) : 'zz',
        );
      });
      const { status } = await fetch(altered);
      // S3 itself calls an algorithm that it does not know, or a link that lacks a part, a bad request.
      expect([name, status]).toEqual([name, name === 'X-Amz-Algorithm' ? 400 : 403]);
      const without = await fetch(changed(({ searchParams }) => searchParams.delete(name)));
      expect([name, [400, 403].includes(without.status)]).toEqual([name, true]);
    }
  });

  test('is 403 when a longer life or another date is written into it', async () => {
    await expectForbidden(changed((url) => url.searchParams.set('X-Amz-Expires', '7200')));
    const later = new Date(Date.now() + 60_000).toISOString().replace(/[-:]|\.\d+/g, '');
    await expectForbidden(changed((url) => url.searchParams.set('X-Amz-Date', later)));
  });

  test('is 403 when a parameter is added', async () => {
    await expectForbidden(changed((url) => url.searchParams.set('response-content-type', 'text/html')));
    await expectForbidden(changed((url) => url.searchParams.set('versionId', '1')));
  });

  test('is 403 for any other object', async () => {
    for (const other of [links[1]!, strangersLink]) {
      await expectForbidden(changed((url) => (url.pathname = new URL(other).pathname)));
    }
    await expectForbidden(changed((url) => (url.pathname = url.pathname.replace('output-0', 'output-9'))));
    await expectForbidden(changed((url) => (url.pathname = url.pathname.split('/').slice(0, 2).join('/'))));
  });

  test.each(['PUT', 'POST', 'DELETE'])('is 403 for %s, and the image stays as it is', async (method) => {
    const before = await openImage(links[0]!);
    await expectForbidden(links[0]!, method);
    expect((await openImage(links[0]!)).equals(before)).toBe(true);
  });

  test('is 403 without its signature, and so is the store itself', async () => {
    await expectForbidden(changed((url) => (url.search = '')));
    await expectForbidden(new URL('/image-generation/', links[0]).href);
    await expectForbidden(new URL('/image-generation?list-type=2', links[0]).href);
  });

  test('is 403 once it has expired', async () => {
    const engines = JSON.parse(readFileSync(join(service.dataDir, 'engines.json'), 'utf8')) as EnginesFile;
    const { accessKeyId, secretAccessKey, region, s3Url, bucketName } = engines;
    const client = new S3Client({
      endpoint: s3Url,
      region,
      credentials: { accessKeyId, secretAccessKey },
      forcePathStyle: true,
    });
    const [bucket, ...key] = decodeURIComponent(new URL(links[0]!).pathname.slice(1)).split('/');
    expect(bucket).toBe(bucketName);
    const command = new GetObjectCommand({ Bucket: bucket, Key: key.join('/') });
    const shortLived = await getSignedUrl(client, command, { expiresIn: 2 });
    expect(pngSize(await openImage(shortLived)).width).toBe(512);
    await pause(3100);
    await expectForbidden(shortLived);
  });
});

describe('GET /generate/{requestId}', () => {
  test('signs new links that open to the same images, while the first still do', async () => {
    const before = await Promise.all(links.map(openImage));
    // A signature is made of the second it was made in.
    await pause(1100);
    const record = await stored(service, proKey, requestId);
    expect(record.outputUrl).toBe(record.outputs[0]);
    for (const [i, link] of (record.outputs as string[]).entries()) {
      expect(link).not.toBe(links[i]);
      expect(new URL(link).pathname).toBe(new URL(links[i]!).pathname);
      expect((await openImage(link)).equals(before[i]!)).toBe(true);
      expect((await openImage(links[i]!)).equals(before[i]!)).toBe(true);
    }
  });

  test('and the list give links that open', async () => {
    const { body } = await service.api({ path: '/generate', key: proKey });
    const first = body.generations.find(({ id }: { id: string }) => id === requestId);
    for (const link of first.outputs) expect(pngSize(await openImage(link)).width).toBe(512);
  });
});
