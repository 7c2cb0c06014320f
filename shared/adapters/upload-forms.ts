import { S3Client } from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { referenceLimits } from '../contracts/reference-images.ts';
import { uploadKey, uploadLifetimeSeconds, type UploadRef } from '../domain/upload.ts';

export interface UploadForm {
  url: string;
  fields: Record<string, string>;
}

export type UploadForms = ReturnType<typeof uploadForms>;

/** Forms that let somebody without credentials send one file to the bucket (Amazon S3, "POST Object"). */
export function uploadForms(bucket: string) {
  const client = new S3Client({});
  return {
    /** For one key, one content type and a size that a reference may have; S3 refuses anything else. */
    sign(of: UploadRef, contentType: string): Promise<UploadForm> {
      return createPresignedPost(client, {
        Bucket: bucket,
        Key: uploadKey(of),
        Fields: { 'Content-Type': contentType },
        // The fields are conditions too, as they are.
        Conditions: [['content-length-range', 1, referenceLimits.maxBytes]],
        Expires: uploadLifetimeSeconds,
      });
    },
  };
}
