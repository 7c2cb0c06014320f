import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What is built on an image, or runs in one. */
const files = ['inference/Dockerfile', '.github/workflows/*.yml'];
/** Where a file names an image with a tag: what stands before it, the image, and its digest. */
const place = /^((?:FROM| +container:)(?: --platform=\S+)? +)([^\s@:]+(?::\d+\/[^\s@:]+)?:[^\s@]+)(@\S+)?/gm;
const digestForm = /^sha256:[0-9a-f]{64}$/;
const withinMs = 30_000;
/** A tag of several platforms is an index, of one a manifest: by OCI or by Docker. */
const accept = ['oci.image.index.v1', 'docker.distribution.manifest.list.v2', 'oci.image.manifest.v1']
  .concat('docker.distribution.manifest.v2')
  .map((type) => `application/vnd.${type}+json`);

/** The images that have no digest yet, each with its file, as sentences. */
export function imagesWithoutDigest(root: string): string[] {
  return globSync(files, { cwd: root }).flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(place)]
      .filter(([, , , digest]) => !digestForm.test(digest?.slice(1) ?? ''))
      .map(([, , image]) => `${path} names ${image} without its digest: run "npm run pin-images".`),
  );
}

/**
 * Writes the digest that each image's tag has now behind the tag, in every file or, when one can't be resolved, in none.
 * @returns the images with their digests
 * @throws Error naming the image whose registry does not answer with it
 */
export async function pinImages(root: string): Promise<string[]> {
  const texts = globSync(files, { cwd: root }).map((path) => ({
    path: join(root, path),
    text: readFileSync(join(root, path), 'utf8'),
  }));
  const images = new Set(texts.flatMap(({ text }) => [...text.matchAll(place)].map(([, , image]) => image!)));
  const pinned = new Map<string, string>();
  for (const image of images) pinned.set(image, `${image}@${await digestOf(image)}`);
  for (const { path, text } of texts) {
    writeFileSync(
      path,
      text.replaceAll(place, (_, before: string, image: string) => before + pinned.get(image)!),
    );
  }
  return [...pinned.values()];
}

/** Asks the image's registry (OCI Distribution Specification, "Pulling manifests"). */
async function digestOf(image: string): Promise<string> {
  try {
    const url = manifestUrl(image);
    let response = await ask(url, { accept: accept.join(', ') });
    if (response.status === 401) {
      const authorization = `Bearer ${await tokenFor(response.headers.get('www-authenticate') ?? '')}`;
      response = await ask(url, { accept: accept.join(', '), authorization });
    }
    if (!response.ok) throw new Error(`the registry answers ${response.status}`);
    const hash = createHash('sha256').update(await response.bytes());
    const digest = `sha256:${hash.digest('hex')}`;
    const named = response.headers.get('docker-content-digest') ?? digest;
    if (named !== digest) throw new Error(`the registry names ${named} and sends ${digest}`);
    return digest;
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? `${message} (${cause.message})` : message;
    throw new Error(`${image} has no digest: ${why}.`, { cause: error });
  }
}

/** As Docker reads a name: without a registry it is Docker Hub's, and a registry on this machine needs no TLS. */
function manifestUrl(image: string): string {
  const [, registry, name, tag] = /^(?:([^/]*[.:][^/]*|localhost)\/)?(.+):([^:/]+)$/.exec(image)!;
  const path = `v2/${registry || name!.includes('/') ? name : `library/${name}`}/manifests/${tag}`;
  const scheme = /^(localhost|127\.)/.test(registry ?? '') ? 'http' : 'https';
  return `${scheme}://${registry ?? 'registry-1.docker.io'}/${path}`;
}

/** A token for whoever asks, from where the registry's challenge says (Distribution, "Token Authentication Specification"). */
async function tokenFor(challenge: string): Promise<string> {
  const { realm, ...query } = Object.fromEntries(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name!, value!]),
  );
  if (realm === undefined) throw new Error('the registry wants a login');
  const response = await ask(`${realm}?${new URLSearchParams(query)}`, {});
  if (!response.ok) throw new Error(`the registry's tokens are answered with ${response.status}`);
  const { token, access_token: other } = (await response.json()) as Record<string, string | undefined>;
  return token ?? other ?? '';
}

const ask = (url: string, headers: Record<string, string>): Promise<Response> =>
  fetch(url, { headers, signal: AbortSignal.timeout(withinMs) });

const usage = `npm run pin-images [-- --check]

Writes the digest of every base image behind its tag, as the image's registry names it now: for a release.
With --check it only says which images have none, and exits with 1 if any has none.`;

async function run(root: string, [option, ...others]: string[]): Promise<number> {
  if (option === '--check') {
    const missing = imagesWithoutDigest(root);
    missing.forEach((sentence) => console.error(sentence));
    return missing.length === 0 ? 0 : 1;
  }
  if (option !== undefined) {
    console.log(usage);
    return option === '--help' && others.length === 0 ? 0 : 2;
  }
  (await pinImages(root)).forEach((image) => console.log(image));
  return 0;
}

if (import.meta.main) {
  try {
    process.exitCode = await run(fileURLToPath(new URL('..', import.meta.url)), process.argv.slice(2));
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
