import { readFile, stat } from 'node:fs/promises';
import type { PutSamples, SampleFiles, SampleStore } from '../../shared/identities/sample-store.ts';
import { referenceLimits } from '../../shared/images/image-types.ts';
import type { Identity } from '../../shared/identities/identity.ts';
import { inspectImage } from '../../shared/images/inspect-image.ts';
import {
  maxSamples,
  samplePicturePx,
  sampleThumbnailPx,
  type Sample,
} from '../../shared/identities/sample.ts';
import { Failure, usageFailure } from '../common/failure.ts';
import type { Session } from './command.ts';

/** A change of an identity's samples, ready to be made. */
export interface SampleChange {
  /** What stores the files of the new samples. It changes nothing that anybody sees. */
  putter(identityId: string): PutSamples;
  /** Deletes files that the catalog does not name any more. */
  clean(before: readonly Sample[], after: Identity): Promise<void>;
}

/** The options of `identity put` for samples, as the parser leaves them. */
export interface SampleOptions {
  /** Files of pictures. They replace the samples that the identity has. */
  sample?: string[];
  /** What generated them, in their order. */
  samplePrompt?: string[];
  /** False: no samples. True by default. */
  samples: boolean;
}

/** @throws Failure when the options do not fit each other */
export function checkSampleOptions({ sample = [], samplePrompt, samples }: SampleOptions): void {
  if (!samples && sample.length > 0) throw usageFailure('--no-samples and --sample exclude each other.');
  if (sample.length > maxSamples) {
    throw usageFailure(`An identity has at most ${maxSamples} samples, not ${sample.length}.`);
  }
  if (samplePrompt !== undefined && samplePrompt.length !== sample.length) {
    throw usageFailure(
      'Give one --sample-prompt for each --sample, in the same order, or none at all: ' +
        `not ${samplePrompt.length} for ${sample.length}.`,
    );
  }
}

/**
 * Reads the files of the new samples.
 * @returns null where the options leave the samples as they are
 * @throws Failure when a file can't be used: then nothing was written
 */
export async function readSampleChange(
  session: Session,
  { sample = [], samplePrompt = [], samples }: SampleOptions,
): Promise<SampleChange | null> {
  const { bucketName } = session;
  if (sample.length === 0 && samples) return null;
  if (bucketName === null) {
    throw usageFailure('Samples lie in the bucket of a stack: name the stack with --stack.');
  }
  const files: SampleFiles[] = [];
  // One after the other: a picture takes much memory while it is decoded.
  for (const [i, path] of sample.entries()) files.push(await readSampleFile(path, samplePrompt[i] ?? null));
  const store = await openSamples(bucketName);
  return {
    putter: (identityId) => store.putter(identityId, files),
    async clean(before, { identityId }) {
      store.close();
      await cleanSamples(session, identityId, before);
    },
  };
}

/**
 * Deletes the files of samples that neither the identity nor a version of it names any more. The catalog is read again,
 * because another operator may have changed it meanwhile. Without a bucket there are none.
 */
export async function cleanSamples(
  { bucketName, nowMs, stores }: Session,
  identityId: string,
  before: readonly Sample[],
): Promise<void> {
  if (bucketName === null) return;
  const [identity, versions] = await Promise.all([
    stores.identities.get(identityId),
    stores.identities.versions(identityId),
  ]);
  const named = [identity, ...versions].flatMap((one) => one?.samples ?? []);
  const store = await openSamples(bucketName);
  await store.deleteUnnamed(identityId, named, before, nowMs);
  store.close();
}

/** Deletes all that lies below an identity's samples, however new it is. */
export async function deleteAllSamples({ bucketName }: Session, identityId: string): Promise<void> {
  if (bucketName === null) return;
  const store = await openSamples(bucketName);
  await store.deleteUnnamed(identityId, [], [], Infinity);
  store.close();
}

/** @throws Failure for what must not be shown again. */
export function refuseWithdrawn({ name, withdrawn }: Identity): void {
  if (withdrawn !== null) throw new Failure(`${name} is withdrawn, and has no samples: reinstate it first.`);
}

export async function openSamples(bucketName: string): Promise<SampleStore> {
  const { sampleStore } = await import('../../shared/identities/sample-store.ts');
  return sampleStore(bucketName);
}

/** Quality of WebP. A thumbnail is seen in small, and pages show many. */
const pictureQuality = 85;
const thumbnailQuality = 80;

/**
 * Makes the two files of a sample from a picture of the operator's: upright, in sRGB and without metadata.
 * @throws Failure naming the file, when it is no picture that can be used
 */
async function readSampleFile(path: string, prompt: string | null): Promise<SampleFiles> {
  const bytes = await readPicture(path);
  return sampleFiles(bytes, prompt).catch((cause: unknown) => {
    throw new Failure(`--sample ${path} must be undamaged: it can't be decoded.`, 1, { cause });
  });
}

/** The two files of a sample. @throws what the decoder does */
export async function sampleFiles(bytes: Uint8Array, prompt: string | null): Promise<SampleFiles> {
  const picture = await smaller(bytes, samplePicturePx, pictureQuality);
  const thumbnail = await smaller(bytes, sampleThumbnailPx, thumbnailQuality);
  const { width: widthPx, height: heightPx } = picture.info;
  return { picture: picture.data, thumbnail: thumbnail.data, widthPx, heightPx, prompt };
}

/** Reads a file by the rules of reference images. One that is too large is not read into memory. */
async function readPicture(path: string): Promise<Uint8Array> {
  const { maxBytes } = referenceLimits;
  let file;
  try {
    const { size } = await stat(path);
    if (size > maxBytes) throw tooLarge(path, size);
    file = await readFile(path);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure(`--sample ${path} can't be read (${code}).`, 1, { cause: error });
  }
  const found = inspectImage(file);
  if ('problem' in found) throw new Failure(`--sample ${path} ${found.problem}.`);
  return file;
}

function tooLarge(path: string, size: number): Failure {
  const most = referenceLimits.maxBytes / 1024 / 1024;
  return new Failure(
    `--sample ${path} must be at most ${most} MiB; it is ${size.toLocaleString('en-US')} bytes.`,
  );
}

async function smaller(bytes: Uint8Array, sidePx: number, quality: number) {
  // Imported late: it takes a while to load, and few commands need it.
  const { default: sharp } = await import('sharp');
  return sharp(bytes, { limitInputPixels: referenceLimits.maxPixels, failOn: 'warning' })
    .autoOrient()
    .resize({ width: sidePx, height: sidePx, fit: 'inside', withoutEnlargement: true, kernel: 'lanczos3' })
    .webp({ quality })
    .toBuffer({ resolveWithObject: true });
}
