import { files } from './environment.ts';
import { ConnectionError, storageCodeOf, UploadError } from './errors.ts';
import { withTimeout, type Requester } from './requester.ts';
import { isTransient } from './retry.ts';
import type { CallOptions } from './routes.ts';
import type { ImageType, Upload } from './types.ts';

export interface UploadOptions extends CallOptions {
  /** The type of the file, if you know it. The service looks at the bytes. */
  contentType?: ImageType | undefined;
}

/** A file: a `Blob` or `File`, its bytes, or its path in Node, Deno and Bun. */
export type UploadFile = Blob | ArrayBuffer | Uint8Array | string | URL;

const sendTimeoutMs = 5 * 60_000;

/**
 * Uploads a reference image.
 * @returns its uploadId, which is valid in `referenceImages` for an hour
 * @throws UploadError, ApiError, ConnectionError, TimeoutError, and the signal's reason
 */
export async function uploadReference(
  requester: Requester,
  given: UploadFile,
  { contentType, signal }: UploadOptions,
  send: typeof fetch,
): Promise<string> {
  const file = await blobOf(given);
  const body = contentType === undefined ? {} : { contentType };
  const upload = await requester.request('POST /uploads', { body, signal });
  if (file.size > upload.maxBytes) throw uploadRefused(413, '<Code>EntityTooLarge</Code>');
  const post = (): Promise<void> =>
    withTimeout({ signal, timeoutMs: sendTimeoutMs }, async (combined) => {
      const init = { method: 'POST', body: uploadForm(upload, file), signal: combined };
      const response = await send(upload.url, init).catch((cause: unknown) => {
        throw new ConnectionError("The storage can't be reached.", { cause });
      });
      if (!response.ok) throw uploadRefused(response.status, await response.text().catch(() => ''));
    });
  await requester.retry(post, { isRetried: isTransient, signal });
  return upload.uploadId;
}

export async function blobOf(given: UploadFile): Promise<Blob> {
  const data = typeof given === 'string' || given instanceof URL ? await files().readFile(given) : given;
  return data instanceof Blob ? data : new Blob([data as Uint8Array<ArrayBuffer>]);
}

/** The form of an upload, to be posted to its `url`. The file is last: S3 ignores later fields ("POST Object"). */
export function uploadForm({ fields }: Pick<Upload, 'fields'>, file: Blob): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  // A fixed name, because the file's own name may be private.
  form.append('file', file, 'file');
  return form;
}

/** The error for the storage's refusal: a status, and XML with the storage's own code. */
export function uploadRefused(status: number, xml: string): UploadError {
  const code = storageCodeOf(xml);
  const sentence =
    code === 'EntityTooLarge' ? 'The file is larger than 10 MiB.' : 'The storage did not take the file.';
  return new UploadError(sentence, status, code);
}
