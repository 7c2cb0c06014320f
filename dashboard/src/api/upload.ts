import { uploadForm, uploadRefused } from '../../../clients/typescript/src/index.ts';
import { ApiError } from './api-error.ts';
import type { UploadFile, UploadOptions } from './generate.ts';

const sendWithinMs = 5 * 60_000;

/** POST /uploads names a form, which is sent to the storage. */
export const uploadFile: UploadFile = async (api, options) => {
  const { licenseId, file, contentType, signal } = options;
  const body = { licenseId, contentType };
  const upload = await api.request('POST /uploads', { body, signal });
  const form = uploadForm(upload, file);
  const { status, text } = await post(upload.url, form, options).catch(async (error: unknown) => {
    signal.throwIfAborted();
    throw (await isReadable(file)) ? error : unreadable();
  });
  if (status >= 200 && status < 300) return upload.uploadId;
  throw refused(status, text);
};

/** Uses XMLHttpRequest because `fetch` does not report how much of a body is sent. */
async function post(
  url: string,
  form: FormData,
  { onProgress, signal }: UploadOptions,
): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  signal.throwIfAborted();
  const request = new XMLHttpRequest();
  const fail = (): void => {
    const sentence = 'The connection broke. Check it and try again.';
    reject(new ApiError(sentence, { status: 0, code: 'NETWORK' }));
  };
  const abort = (): void => request.abort();
  signal.addEventListener('abort', abort, { once: true });
  request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(loaded / Math.max(1, total)));
  request.addEventListener('load', () => resolve({ status: request.status, text: request.responseText }));
  request.addEventListener('abort', () => reject(signal.reason));
  request.addEventListener('error', fail);
  request.addEventListener('timeout', fail);
  request.addEventListener('loadend', () => signal.removeEventListener('abort', abort));
  request.timeout = sendWithinMs;
  request.open('POST', url);
  request.send(form);
  return promise;
}

/** False for a file that was moved or changed after it was chosen. */
function isReadable(file: File): Promise<boolean> {
  return file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );
}

function unreadable(): ApiError {
  const sentence = 'The file can’t be read any more. Remove it and add it again.';
  return new ApiError(sentence, { status: 0, code: 'UNREADABLE_FILE' });
}

function refused(status: number, xml: string): ApiError {
  const { code } = uploadRefused(status, xml);
  const sentence =
    code === 'EntityTooLarge'
      ? 'The file is larger than 10 MiB.'
      : 'The file was not taken. Try again in a moment.';
  return new ApiError(sentence, { status, code: 'UPLOAD_REFUSED' });
}
