import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { imagesWithoutDigest, pinImages } from '../../../bin/pin-images.ts';
import { listen, type RunningServer } from '../../../local/http/server.ts';
import { inRepository } from '../../support/repository.ts';
import { removeFolder, temporaryFolder } from '../../support/service.ts';

const dockerfile = 'inference/Dockerfile';
const workflow = '.github/workflows/ci.yml';
const manifests: Record<string, string> = {
  'library/debian/manifests/trixie-slim': '{"manifests":["debian"]}',
  'team/deep/image/manifests/1.0_a-b': '{"manifests":["deep"]}',
  'node/manifests/24': '{"manifests":["node"]}',
};
const digest = (body: string) => `sha256:${createHash('sha256').update(body).digest('hex')}`;

let root: string;
let registry: RunningServer;
let host: string;
/** What the registry names in place of the real digest. */
let lie: string | null;

beforeEach(async () => {
  root = temporaryFolder();
  lie = null;
  // Like Docker Hub, it gives a token to whoever asks, and a manifest for that token alone.
  const server = createServer((req, res) => {
    const url = new URL(req.url!, 'http://registry');
    if (url.pathname === '/token') {
      res.end(JSON.stringify({ token: `for ${url.searchParams.get('scope')}` }));
      return;
    }
    const path = url.pathname.replace('/v2/', '');
    const scope = `repository:${path.split('/manifests/')[0]}:pull`;
    if (req.headers.authorization !== `Bearer for ${scope}`) {
      const challenge = `Bearer realm="http://${req.headers.host}/token",service="test",scope="${scope}"`;
      res.writeHead(401, { 'www-authenticate': challenge }).end();
      return;
    }
    const body = req.headers.accept!.includes('oci.image.index.v1+json') ? manifests[path] : undefined;
    if (body === undefined) res.writeHead(404).end();
    else res.writeHead(200, { 'docker-content-digest': lie ?? digest(body) }).end(body);
  });
  registry = await listen(server, 0);
  host = new URL(registry.url).host;
});
afterEach(async () => {
  await registry.close();
  removeFolder(root);
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

test('the digest of each image is written behind its tag, and a later one in its place', async () => {
  const old = `@sha256:${'0'.repeat(64)}`;
  const text = (debian: string, deep: string) =>
    `FROM ${host}/library/debian:trixie-slim${debian} AS base\nFROM base\nRUN echo FROM x:1\n` +
    `FROM --platform=linux/amd64 ${host}/team/deep/image:1.0_a-b${deep}\n`;
  const jobs = (node: string) => `jobs:\n  all:\n    container: ${host}/node:24${node}\n    steps: []\n`;
  write(dockerfile, text('', old));
  write(workflow, jobs(''));
  expect(imagesWithoutDigest(root)).toHaveLength(2);
  const digests = Object.values(manifests).map((body) => `@${digest(body)}`);
  const names = ['library/debian:trixie-slim', 'team/deep/image:1.0_a-b', 'node:24'];
  const pinned = names.map((name, i) => `${host}/${name}${digests[i]}`);
  expect((await pinImages(root)).sort()).toEqual(pinned.sort());
  expect(read(dockerfile)).toBe(text(digests[0]!, digests[1]!));
  expect(read(workflow)).toBe(jobs(digests[2]!));
  expect(imagesWithoutDigest(root)).toEqual([]);
});

test.each([
  ['is unknown', 'node:99', null, /node:99 has no digest: the registry answers 404/],
  ['is another than its digest', 'node:24', digest('other'), /names sha256:\w+ and sends sha256:/],
  ['is named with no digest at all', 'node:24', 'latest', /names latest and sends/],
])('an image that %s changes no file', async (_, image, named, message) => {
  lie = named;
  write(dockerfile, `FROM ${host}/${image}\n`);
  write(workflow, `    container: ${host}/node:24\n`);
  await expect(pinImages(root)).rejects.toThrow(message);
  expect(read(dockerfile) + read(workflow)).not.toContain('@');
});

test('every image of this repository is found, whether it has a digest yet or not', () => {
  for (const path of [dockerfile, workflow, '.github/workflows/release.yml']) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    cpSync(inRepository(path), join(root, path));
    write(path, read(path).replaceAll(/@sha256:[0-9a-f]{64}/g, ''));
  }
  expect(
    imagesWithoutDigest(root)
      .map((sentence) => sentence.split(' ')[2])
      .sort(),
  ).toEqual(['node:24-trixie', 'node:24-trixie', 'nvidia/cuda:13.0.2-base-ubuntu24.04']);
});
