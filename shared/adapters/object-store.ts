import {
  DeleteObjectCommand,
  HeadObjectCommand,
  NotFound,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { lean, leanOptions } from '../aws-clients.ts';
import { anyContentType } from '../contracts/upload.ts';
import type { OutputFormat } from '../contracts/generation.ts';
import { uploadKey, type UploadRef } from '../domain/upload.ts';
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

const fileExtensions: Record<OutputFormat, string> = { png: 'png', webp: 'webp', jpeg: 'jpg' };

export type ObjectStore = ReturnType<typeof objectStore>;

/** Where images live. The service signs links, looks at sizes and deletes copies; no image byte passes through here. */
export function objectStore(bucket: string) {
  const client = lean(
    new S3Client({
      ...leanOptions,
      // Otherwise a presigned PUT would carry the checksum of an empty body, and refuse every real one.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { connectionTimeout: 1000, requestTimeout: 5000, throwOnRequestTimeout: true },
    }),
  );
  const sign = linkSigner(client, bucket);
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
      return sign('PUT', outputKey(of, index), { lifetimeSeconds, contentType: `image/${of.outputFormat}` });
    },

    /** A link to put reference `index` of a request to, once it was found to be a picture. */
    referencePutLink(of: RequestRef, index: number): Promise<string> {
      return sign('PUT', referenceKey(of, index), {
        lifetimeSeconds: referenceLinkLifetimeSeconds,
        // So no browser shows it as a page.
        contentType: anyContentType,
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
    async deleteReferences(of: RequestRef, count: number, abortSignal: AbortSignal): Promise<void> {
      const deleting = Array.from({ length: count }, (_, i) =>
        client.send(new DeleteObjectCommand({ Bucket: bucket, Key: referenceKey(of, i) }), { abortSignal }),
      );
      const failed = (await Promise.allSettled(deleting)).find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') throw failed.reason;
    },

    /** A link to what was uploaded, for the function that looks at it. */
    uploadLink(of: UploadRef): Promise<string> {
      return sign('GET', uploadKey(of), { lifetimeSeconds: referenceLinkLifetimeSeconds });
    },

    /** A link to an identity's adapter weights, for the model server alone. */
    adapterLink(key: string, lifetimeSeconds: number): Promise<string> {
      return sign('GET', key, { lifetimeSeconds });
    },

    /**
     * The size of a stored image in bytes, null when it is not there. S3 answers 403 for a missing object to a role that
     * may not list the bucket, and no function may.
     */
    async outputSize(of: OutputRef, index: number): Promise<number | null> {
      try {
        const head = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: outputKey(of, index) }));
        return head.ContentLength ?? null;
      } catch (error) {
        const forbidden = error instanceof S3ServiceException && error.$metadata.httpStatusCode === 403;
        if (forbidden || error instanceof NotFound) return null;
        throw error;
      }
    },
  };
}

/** Apart from the images, because the copies end with their request. */
function referenceKey(of: RequestRef, index: number): string {
  return `references/${of.licenseId}/${of.requestId}/${index}`;
}

function outputKey(of: OutputRef, index: number): string {
  return `generations/${of.licenseId}/${of.requestId}/output-${index}.${fileExtensions[of.outputFormat]}`;
}
