import { ConnectionError, UploadError } from './errors.ts';
import { within, type Requester } from './requester.ts';
import type { CallOptions } from './routes.ts';
import type { ImageType, Upload } from './types.ts';

export interface UploadOptions extends CallOptions {
  /** What the file is, if you know. It is judged by its bytes. */
  contentType?: ImageType | undefined;
}

const sendWithinMs = 5 * 60_000;

/**
 * Uploads a reference image.
 * @returns its uploadId, which `referenceImages` takes for an hour.
 * @throws UploadError, ApiError, ConnectionError, TimeoutError, and the signal's reason
 */
export async function uploadReference(
  requester: Requester,
  data: Blob | ArrayBuffer | Uint8Array,
  { contentType, signal }: UploadOptions,
  send: typeof fetch,
): Promise<string> {
  const file = data instanceof Blob ? data : new Blob([data as Uint8Array<ArrayBuffer>]);
  const body = contentType === undefined ? {} : { contentType };
  const upload = await requester.request('POST /uploads', { body, signal });
  if (file.size > upload.maxBytes) throw uploadRefused(413, '<Code>EntityTooLarge</Code>');
  const post = (): Promise<void> =>
    within({ signal, timeoutMs: sendWithinMs }, async (either) => {
      const init = { method: 'POST', body: uploadForm(upload, file), signal: either };
      const response = await send(upload.url, init).catch((cause: unknown) => {
        throw new ConnectionError("The storage can't be reached.", { cause });
      });
      if (!response.ok) throw uploadRefused(response.status, await response.text().catch(() => ''));
    });
  await requester.retry(post, { isRetried: mayPass, signal });
  return upload.uploadId;
}

/** The form of an upload, to be posted to its `url` (Amazon S3, "POST Object": what follows the file is not read). */
export function uploadForm({ fields }: Pick<Upload, 'fields'>, file: Blob): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  // Its own name is nobody's business there.
  form.append('file', file, 'file');
  return form;
}

/** What the storage answers with: a status, and XML with a code of its own. */
export function uploadRefused(status: number, xml: string): UploadError {
  const code = /<Code>(\w+)<\/Code>/.exec(xml)?.[1];
  const sentence =
    code === 'EntityTooLarge' ? 'The file is too large.' : 'The storage did not take the file.';
  return new UploadError(sentence, status, code);
}

function mayPass(error: unknown): boolean {
  return !(error instanceof UploadError) || error.status >= 500;
}
