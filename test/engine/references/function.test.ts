import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import sharp from 'sharp';
import { beforeEach, expect, test } from '@jest/globals';
import type { handler as Handler } from '../../../functions/fetch-references.ts';
import { setLogSink } from '../../../shared/base/log.ts';
import { answer, bomb, endless, head, redirect, unfinished } from '../../support/internet/pages.ts';
import { addresses } from '../../support/internet/small-internet.ts';
import { isForbidden } from '../../support/internet/socket-spy.ts';
import { until } from '../../support/until.ts';
import { samplePhoto } from '../../support/uploads.ts';
import { bucket, credentials, region, startStore } from '../local/s3/support.ts';
import { useFixture } from '../../support/use-fixture.ts';
import { openInternet, reset } from './fixture.ts';

const log: string[] = [];
const internet = useFixture(async (keep) => {
  const store = keep(await startStore());
  const entered = await openInternet(keep, [Number(new URL(store.url).port)]);
  setLogSink((line) => void log.push(line));
  const fetchReferences = await import('../../../functions/fetch-references.ts');
  const handler: typeof Handler = (event) => entered.home.within(() => fetchReferences.handler(event));
  return { store, ...entered, handler, photo: await samplePhoto() };
});
beforeEach(() => {
  reset(internet);
  log.length = 0;
});

/** Signs links without a checksum, as the service does, because the bytes are not known yet. */
const signer = () =>
  new S3Client({
    endpoint: internet.store.url,
    region,
    credentials,
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });

const forbidden = () => internet.home.destinations.filter(isForbidden);

let nextKey = 0;
/** Calls the function for these URLs. @returns its problems, and each file that is in the bucket afterwards. */
async function fetchAll(urls: string[]) {
  const keys = urls.map(() => `references/lic_1/${nextKey++}`);
  const putLinks = await Promise.all(
    keys.map((key) => getSignedUrl(signer(), new PutObjectCommand({ Bucket: bucket, Key: key }))),
  );
  const items = urls.map((url, index) => ({ kind: 'url' as const, url, putLink: putLinks[index]! }));
  const { problems } = await internet.handler({ requestId: 'request-1', items });
  return { problems, files: await Promise.all(keys.map(stored)) };
}

async function stored(key: string): Promise<Buffer | null> {
  try {
    const { Body: body } = await internet.store.get(key);
    return Buffer.from(await body!.transformToByteArray());
  } catch (error) {
    if ((error as Error).name === 'NoSuchKey') return null;
    throw error;
  }
}

test('a good picture is checked and not stored when there is no link to store it with', async () => {
  internet.net.site('cat.example', { '/cat.png': answer(internet.photo) });
  const items = [{ kind: 'url' as const, url: 'https://cat.example/cat.png', putLink: null }];
  expect(await internet.handler({ requestId: 'request-1', items })).toEqual({ problems: [null] });
});

test('a file that is no picture is recognised by its bytes, whatever type its server names', async () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><image href="http://169.254.169.254/"/></svg>';
  internet.net.site('cat.example', { '/cat.png': answer(svg, { 'content-type': 'image/png' }) });
  const { problems, files } = await fetchAll(['https://cat.example/cat.png']);
  expect(problems).toEqual([expect.stringContaining('must be a PNG, JPEG or WebP image')]);
  expect([files, forbidden()]).toEqual([[null], []]);
});

test('a picture is stored byte for byte, turned or with a video behind it, whatever type its server names', async () => {
  const turned = await sharp(internet.photo).withMetadata({ orientation: 6 }).jpeg().toBuffer();
  const file = Buffer.concat([turned, Buffer.from('\0\0\0\x18ftypmp42'), Buffer.alloc(5000)]);
  internet.net.site('cat.example', { '/cat.html': answer(file, { 'content-type': 'text/html' }) });
  const { problems, files } = await fetchAll(['https://cat.example/cat.html']);
  expect(problems).toEqual([null]);
  expect(files).toEqual([file]);
});

test('each item has its own answer, and the good ones are stored only if all are good', async () => {
  internet.net.site('cat.example', {
    '/cat.png': answer(internet.photo),
    '/in': redirect(302, 'https://169.254.169.254/'),
    '/large': endless(head(200), Buffer.alloc(65_536)),
  });
  const { problems, files } = await fetchAll(
    ['/in', '/cat.png', '/large', '/cat.png'].map((path) => `https://cat.example${path}`),
  );
  expect(problems).toEqual([internet.generic, null, 'must be at most 10 MiB', null]);
  expect(files).toEqual([null, null, null, null]);
  const good = await fetchAll(['https://cat.example/cat.png', 'https://cat.example/cat.png']);
  expect(good.files.map((file) => file !== null)).toEqual([true, true]);
  expect(forbidden()).toEqual([]);
});

test('four that never end are given up together', async () => {
  internet.net.site('cat.example', { '/1': unfinished(), '/2': endless(head(200), 'a', 50) });
  internet.net.site('hanging.example', {}, [addresses.hanging]);
  internet.net.site('silent.example', {}, 'silence');
  const items = ['cat.example/1', 'cat.example/2', 'hanging.example/', 'silent.example/'].map(
    (place) => ({ kind: 'url', url: `https://${place}`, putLink: null }) as const,
  );
  const limits: [ms: number, limit: AbortController][] = [];
  const clock = {
    now: () => Date.now(),
    timeout(ms: number) {
      const limit = new AbortController();
      limits.push([ms, limit]);
      return limit.signal;
    },
  };
  const { fetchReferences } = await import('../../../shared/references/read-references.ts');
  const fetching = fetchReferences(items, null, clock, () => {});
  await until('two of them are under way', () => internet.net.web.requests.length === 2, 60_000);
  expect(limits.map(([ms]) => ms)).toEqual([5000]);
  limits[0]![1].abort();
  expect(await fetching).toEqual(items.map(() => internet.generic));
});

test('the log says what was wrong, and nothing of a link', async () => {
  const secret = 'X-Amz-Signature-0123456789';
  const path = `/cat.png?sign=${secret}`;
  internet.net.site('cat.example', { [path]: bomb('gzip', 1000) });
  internet.net.site('moved.example', { [path]: redirect(302, `https://10.0.0.1${path}`) });
  internet.net.site('broken.example', {
    [path]: endless(`HTTP/1.1 200 OK\r\nx: ${secret}`, secret.repeat(40)),
  });
  internet.net.site('other.example', { [path]: answer(internet.photo) });
  internet.net.web.spoil('other.example', 'wrong name');
  const hosts = ['cat', 'moved', 'broken', 'other'].map((name) => `${name}.example`);
  const { problems } = await fetchAll(hosts.map((host) => `https://${host}${path}`));
  expect(problems).toEqual(hosts.map(() => internet.generic));
  expect(log).toHaveLength(1);
  expect(JSON.parse(log[0]!).unusable).toHaveLength(4);
  expect(log[0]).not.toContain(secret);
  expect(log[0]).not.toContain('references/lic_1');
  for (const host of hosts) expect(log[0]).not.toContain(host);
});
