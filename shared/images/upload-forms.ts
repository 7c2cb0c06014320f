import { S3Client } from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { referenceLimits } from './image-types.ts';
import { uploadKey, uploadLifetimeSeconds, type UploadRef } from './upload.ts';

export interface UploadForm {
  url: string;
  fields: Record<string, string>;
}

/** Forms by which a caller without AWS credentials sends one file to the bucket (Amazon S3, "POST Object"). */
export function uploadForms(bucket: string) {
  const client = new S3Client({});
  return {
    /** A form for one key, one content type and the size of a reference. S3 refuses anything else. */
    sign(of: UploadRef, contentType: string): Promise<UploadForm> {
      return createPresignedPost(client, {
        Bucket: bucket,
        Key: uploadKey(of),
        Fields: { 'Content-Type': contentType },
        // Each field is a condition with exactly its value.
        Conditions: [['content-length-range', 1, referenceLimits.maxBytes]],
        Expires: uploadLifetimeSeconds,
      });
    },
  };
}
