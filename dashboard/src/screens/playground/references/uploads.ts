import { ApiError } from '../../../api/api-error.ts';
import type { Api } from '../../../api/client.ts';
import type { UploadFile } from '../../../api/upload-order.ts';
import { usableUploadId, type FileReference, type Upload } from './reference.ts';

/** Where uploads go. */
export interface Destination {
  api: Api;
  licenseId: string;
}

interface RunningUpload {
  licenseId: string;
  stop: AbortController;
  uploadId: Promise<string>;
}

interface UploadsOptions {
  upload: UploadFile;
  now: () => number;
  /** Told at each step. */
  report: (item: FileReference, upload: Upload) => void;
}

export type Uploads = ReturnType<typeof createUploads>;

/** The uploads that are under way, one for a file at most. */
export function createUploads({ upload, now, report }: UploadsOptions) {
  const running = new Map<string, RunningUpload>();

  const stop = (id: string): void => {
    running.get(id)?.stop.abort();
    running.delete(id);
  };

  /** Anew, whatever there was. The promise is for those who wait; others are told by `report`. */
  const begin = (item: FileReference, { api, licenseId }: Destination): Promise<string> => {
    stop(item.id);
    const controller = new AbortController();
    const { signal } = controller;
    const askedAtMs = now();
    const tell = (state: Upload): void => {
      if (signal.aborted) return;
      if (state.status !== 'sending') running.delete(item.id);
      report(item, state);
    };
    tell({ status: 'sending', share: 0 });
    const uploadId = upload(api, {
      licenseId,
      file: item.file,
      contentType: `image/${item.picture.format}`,
      onProgress: (share) => tell({ status: 'sending', share }),
      signal,
    });
    running.set(item.id, { licenseId, stop: controller, uploadId });
    uploadId.then(
      (id) => tell({ status: 'done', licenseId, uploadId: id, askedAtMs }),
      (error: unknown) => tell({ status: 'failed', message: sentenceOf(error) }),
    );
    return uploadId;
  };

  /**
   * The id of an upload that can be used: the one that there is, that is under way, or a new one.
   * @throws ApiError naming the file
   */
  const usable = async (item: FileReference, to: Destination): Promise<string> => {
    const ready = usableUploadId(item.upload, to.licenseId, now());
    if (ready !== null) return ready;
    const under = running.get(item.id);
    try {
      return await (under?.licenseId === to.licenseId ? under.uploadId : begin(item, to));
    } catch (error) {
      throw failureOf(item, error);
    }
  };

  return { stop, begin, usable };
}

function sentenceOf(error: unknown): string {
  return error instanceof ApiError ? error.message : 'It could not be uploaded.';
}

function failureOf({ file }: FileReference, error: unknown): ApiError {
  const { status, code, retryAfterSeconds, requestId } =
    error instanceof ApiError ? error : { status: 0, code: 'UPLOAD_STOPPED' };
  const facts = { status, code, retryAfterSeconds, requestId };
  return new ApiError(`${file.name} could not be uploaded. ${sentenceOf(error)}`, facts);
}
