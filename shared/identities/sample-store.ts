import { createHash, randomBytes } from 'node:crypto';
import {
  DeleteObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type _Object as StoredObject,
} from '@aws-sdk/client-s3';
import { previewCacheControl } from '../images/previews.ts';
import type { Sample } from './sample.ts';
import { samplePictureKey, samplePrefix, sampleThumbnailKey } from '../images/sample-keys.ts';

/** A sample before it is stored: two WebP files of one picture. */
export interface SampleFiles extends Omit<Sample, 'sampleId'> {
  picture: Uint8Array;
  thumbnail: Uint8Array;
}

/** So long nothing is deleted that was put: another operator may be about to name it in the catalog. */
const untouchedMs = 3600 * 1000;

/**
 * Puts files that are not there yet, and may be called again.
 * @param named what the catalog names at the moment
 */
export type PutSamples = (named: readonly Sample[]) => Promise<Sample[]>;

export type SampleStore = ReturnType<typeof sampleStore>;

/** Where the files of samples lie. Operators write them; the API hands out links (`object-store.ts`). */
export function sampleStore(bucket: string) {
  const client = new S3Client({ requestChecksumCalculation: 'WHEN_REQUIRED' });

  const put = (Key: string, Body: Uint8Array) =>
    client.send(
      new PutObjectCommand({
        Bucket: bucket,
        Key,
        Body,
        ContentType: 'image/webp',
        CacheControl: previewCacheControl,
      }),
    );

  const list = async (Prefix: string): Promise<StoredObject[]> => {
    const all: StoredObject[] = [];
    let token: string | undefined;
    do {
      const continued = token === undefined ? {} : { ContinuationToken: token };
      const page = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix, ...continued }));
      all.push(...(page.Contents ?? []));
      token = page.NextContinuationToken;
    } while (token !== undefined);
    return all;
  };

  /** @returns the new sample's id */
  const putBoth = async (identityId: string, { picture, thumbnail }: SampleFiles): Promise<string> => {
    const sampleId = digestOf({ picture, thumbnail }) + randomBytes(4).toString('hex');
    await Promise.all([
      put(samplePictureKey(identityId, sampleId), picture),
      put(sampleThumbnailKey(identityId, sampleId), thumbnail),
    ]);
    return sampleId;
  };

  return {
    /**
     * What puts the files of samples, for a catalog that may change meanwhile. A picture that the catalog names keeps its id, so that
     * a repeat changes nothing. Any other gets an id that was never given: another operator may be deleting the files of the same
     * picture. A picture that was given twice is shown once.
     */
    putter(identityId: string, all: SampleFiles[]): PutSamples {
      const madeIds = new Map<string, Promise<string>>();
      const idOf = (files: SampleFiles, named: readonly Sample[]) => {
        const digest = digestOf(files);
        const same = named.find(({ sampleId }) => sampleId.startsWith(digest));
        if (same) return same.sampleId;
        if (!madeIds.has(digest)) madeIds.set(digest, putBoth(identityId, files));
        return madeIds.get(digest)!;
      };
      return async (named) => {
        const samples = all.map(async (files): Promise<[string, Sample]> => {
          const { picture: _, thumbnail: __, ...shape } = files;
          const sampleId = await idOf(files, named);
          return [sampleId, { sampleId, ...shape }];
        });
        return [...new Map(await Promise.all(samples)).values()];
      };
    },

    /**
     * Deletes the files that no sample of the identity names any more: those that it named `before`, and those that an
     * interrupted command left behind.
     * @param samples of the identity and its versions, as the catalog has them now
     */
    async deleteUnnamed(
      identityId: string,
      samples: readonly Sample[],
      before: readonly Sample[],
      nowMs: number,
    ): Promise<void> {
      const named = new Set(keysOf(identityId, samples));
      const replaced = new Set(keysOf(identityId, before));
      const isUnnamed = ({ Key, LastModified }: StoredObject) =>
        !named.has(Key!) && (replaced.has(Key!) || nowMs - Number(LastModified) > untouchedMs);
      const unnamed = (await list(samplePrefix(identityId))).filter(isUnnamed);
      await Promise.all(
        unnamed.map(({ Key }) => client.send(new DeleteObjectCommand({ Bucket: bucket, Key: Key! }))),
      );
    },

    /** Closes the connections, so that the process can end. */
    close: () => client.destroy(),
  };
}

/** What an id begins with: the same for the same files. */
function digestOf({ picture, thumbnail }: Pick<SampleFiles, 'picture' | 'thumbnail'>): string {
  return createHash('sha256').update(picture).update(thumbnail).digest('hex').slice(0, 24);
}

function keysOf(identityId: string, samples: readonly Sample[]): string[] {
  return samples.flatMap(({ sampleId }) => [
    samplePictureKey(identityId, sampleId),
    sampleThumbnailKey(identityId, sampleId),
  ]);
}
