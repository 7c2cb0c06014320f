import {
  DeleteObjectCommand,
  HeadObjectCommand,
  NotFound,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { withoutUnusedMiddleware, cachedMiddleware } from '../base/aws-clients.ts';
import { previewCacheControl } from './previews.ts';
import { anyContentType } from './contract.ts';
import type { OutputFormat } from './image-types.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import { quarterOf, type LinkCredentials } from './previews.ts';
import { samplePictureKey, sampleThumbnailKey } from './sample-keys.ts';
import { uploadKey, type UploadRef } from './upload.ts';
import { linkSigner } from './link-signer.ts';

/** Links to images last an hour. A link dies with the credentials that signed it, and those may not last longer. */
const linkLifetimeSeconds = 3600;
/** The function that fetches references uses these links at once. Its caller waits for it no longer than 12 seconds. */
const referenceLinkLifetimeSeconds = 15;

export interface RequestRef {
  licenseId: string;
  requestId: string;
}

export interface OutputRef extends RequestRef {
  outputFormat: OutputFormat;
}

/** A request, and how much may be stored of it. */
export interface ImagesRef extends OutputRef {
  numOutputs: number;
  referenceImages: number;
}

const fileExtensions: Record<OutputFormat, string> = { png: 'png', webp: 'webp', jpeg: 'jpg' };

export interface ObjectStoreOptions {
  clock?: Clock;
  /** Whose credentials sign links to previews in the quarter of an hour that begins then; null for the function's own. */
  previewCredentials?: ((quarterMs: number) => Promise<LinkCredentials | null>) | null;
}

export type ObjectStore = ReturnType<typeof objectStore>;

/** Where images live. The service signs links, looks at sizes and deletes copies; no image byte passes through here. */
export function objectStore(
  bucket: string,
  { clock = systemClock, previewCredentials = null }: ObjectStoreOptions = {},
) {
  const client = withoutUnusedMiddleware(
    new S3Client({
      ...cachedMiddleware,
      // Otherwise a presigned PUT would carry the checksum of an empty body, and refuse every real one.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { connectionTimeout: 1000, requestTimeout: 5000, throwOnRequestTimeout: true },
    }),
  );
  const sign = linkSigner(client, bucket);

  let ofQuarter: { quarterMs: number; signer: Promise<typeof sign> } | undefined;

  /** Signs links to previews. It is asked for once in each quarter of an hour. */
  const previewSigner = (quarterMs: number): Promise<typeof sign> => {
    if (previewCredentials === null) return Promise.resolve(sign);
    if (ofQuarter?.quarterMs !== quarterMs) {
      const signer = previewCredentials(quarterMs).then((credentials) =>
        credentials === null ? sign : linkSigner(client, bucket, credentials),
      );
      ofQuarter = { quarterMs, signer };
    }
    return ofQuarter.signer;
  };

  /** Links that are the same within each quarter of an hour. */
  const signForQuarter = async (key: string): Promise<string> => {
    const quarterMs = quarterOf(clock.now());
    const signPreview = await previewSigner(quarterMs);
    return signPreview('GET', key, {
      lifetimeSeconds: linkLifetimeSeconds,
      signingDate: new Date(quarterMs),
    });
  };

  /** S3 answers 403 for a missing object to a role that may not list the bucket, and no function may. */
  const sizeOf = async (key: string, options: { abortSignal?: AbortSignal } = {}): Promise<number | null> => {
    try {
      const head = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }), options);
      return head.ContentLength ?? null;
    } catch (error) {
      const forbidden = error instanceof S3ServiceException && error.$metadata.httpStatusCode === 403;
      if (forbidden || error instanceof NotFound) return null;
      throw error;
    }
  };

  /** Deletes objects, those too that are not there. @throws when one of them may still be there. */
  const deleteKeys = async (keys: string[], abortSignal: AbortSignal): Promise<void> => {
    const deleting = keys.map((key) =>
      client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }), { abortSignal }),
    );
    const failed = (await Promise.allSettled(deleting)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  };

  return {
    /** A link that opens image `index` of a request for an hour. */
    outputLink(of: OutputRef, index: number): Promise<string> {
      return sign('GET', outputKey(of, index), { lifetimeSeconds: linkLifetimeSeconds });
    },

    /**
     * A link to put image `index` to, until the request's deadline and a little longer. It takes nothing but the
     * Content-Type that was asked for, which is then what every link to the image answers with.
     */
    outputPutLink(of: OutputRef, index: number, lifetimeSeconds: number): Promise<string> {
      const headers = { 'content-type': `image/${of.outputFormat}` };
      return sign('PUT', outputKey(of, index), { lifetimeSeconds, headers });
    },

    /**
     * A link that opens the preview of image `index` for 45 to 60 minutes. It is the same within each quarter of an hour,
     * so that a browser finds in its cache what it had.
     */
    previewLink(of: RequestRef, index: number): Promise<string> {
      return signForQuarter(previewKey(of, index));
    },

    /** Links that open the two files of an identity's sample, as long as those to previews. */
    async sampleLinks(identityId: string, sampleId: string): Promise<{ url: string; thumbnailUrl: string }> {
      const [url, thumbnailUrl] = await Promise.all([
        signForQuarter(samplePictureKey(identityId, sampleId)),
        signForQuarter(sampleThumbnailKey(identityId, sampleId)),
      ]);
      return { url, thumbnailUrl };
    },

    /** A link to put the preview of image `index` to, with the headers that every link to it answers with. */
    previewPutLink(of: RequestRef, index: number, lifetimeSeconds: number): Promise<string> {
      const headers = { 'cache-control': previewCacheControl, 'content-type': 'image/webp' };
      return sign('PUT', previewKey(of, index), { lifetimeSeconds, headers });
    },

    /** A link to put reference `index` of a request to, once it was found to be a picture. */
    referencePutLink(of: RequestRef, index: number): Promise<string> {
      return sign('PUT', referenceKey(of, index), {
        lifetimeSeconds: referenceLinkLifetimeSeconds,
        // Whatever its bytes are, so that no browser shows it as a page.
        headers: { 'content-type': anyContentType },
      });
    },

    /** A link to a request's reference `index`, for the model server alone. */
    referenceLink(of: RequestRef, index: number, lifetimeSeconds: number): Promise<string> {
      return sign('GET', referenceKey(of, index), { lifetimeSeconds });
    },

    /**
     * Deletes the copies of a request's references, those too that were never stored.
     * @throws when one of them may still be there.
     */
    deleteReferences(of: RequestRef, count: number, abortSignal: AbortSignal): Promise<void> {
      return deleteKeys(
        Array.from({ length: count }, (_, i) => referenceKey(of, i)),
        abortSignal,
      );
    },

    /**
     * Deletes all that may be stored of a request: images, previews, and copies of its references.
     * @throws when something may still be there.
     */
    deleteImages(of: ImagesRef, abortSignal: AbortSignal): Promise<void> {
      const outputs = Array.from({ length: of.numOutputs }, (_, i) => [outputKey(of, i), previewKey(of, i)]);
      const references = Array.from({ length: of.referenceImages }, (_, i) => referenceKey(of, i));
      return deleteKeys([...outputs.flat(), ...references], abortSignal);
    },

    /** Notes outside of the table that a request is deleted, by an object without content. Its ids are its key. */
    async putTombstone(of: RequestRef, abortSignal: AbortSignal): Promise<void> {
      const Key = `${tombstones}${of.licenseId}/${of.requestId}`;
      await client.send(new PutObjectCommand({ Bucket: bucket, Key, ContentLength: 0 }), { abortSignal });
    },

    /** Tells the model that a request was cancelled, by an object without content. */
    async putCancelled(of: RequestRef, abortSignal: AbortSignal): Promise<void> {
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: cancelledKey(of), ContentLength: 0 }), {
        abortSignal,
      });
    },

    /** A link to that object, for the model server alone. Until there is one it answers 403, because no function may list. */
    cancelledLink(of: RequestRef, lifetimeSeconds: number): Promise<string> {
      return sign('GET', cancelledKey(of), { lifetimeSeconds });
    },

    /** A link to what was uploaded, for the function that looks at it. */
    uploadLink(of: UploadRef): Promise<string> {
      return sign('GET', uploadKey(of), { lifetimeSeconds: referenceLinkLifetimeSeconds });
    },

    /** A link to an identity's adapter weights, for the model server alone. */
    adapterLink(key: string, lifetimeSeconds: number): Promise<string> {
      return sign('GET', key, { lifetimeSeconds });
    },

    /** The size of a stored image in bytes, null when it is not there. */
    outputSize: (of: OutputRef, index: number): Promise<number | null> => sizeOf(outputKey(of, index)),

    /** The size of a stored preview in bytes, null when it is not there. */
    previewSize: (of: RequestRef, index: number, abortSignal: AbortSignal): Promise<number | null> =>
      sizeOf(previewKey(of, index), { abortSignal }),
  };
}

/** Whoever restores a backup of the table lists what lies below this. */
export const tombstones = 'erased/';

/** Apart from the images, because the copies end with their request. */
function referenceKey(of: RequestRef, index: number): string {
  return `references/${of.licenseId}/${of.requestId}/${index}`;
}

function cancelledKey(of: RequestRef): string {
  return `cancelled/${of.licenseId}/${of.requestId}`;
}

function outputKey(of: OutputRef, index: number): string {
  return `generations/${of.licenseId}/${of.requestId}/output-${index}.${fileExtensions[of.outputFormat]}`;
}

function previewKey(of: RequestRef, index: number): string {
  return `generations/${of.licenseId}/${of.requestId}/preview-${index}.webp`;
}
