import { v7 as uuidv7 } from 'uuid';

/** An upload of a license. Nothing is stored about it: its id holds its time, and its key in the bucket the license. */
export interface UploadRef {
  licenseId: string;
  uploadId: string;
}

export const uploadLifetimeSeconds = 3600;

export function newUploadId(nowMs: number): string {
  return `upl_${uuidv7({ msecs: nowMs })}`;
}

/** Whether a text can be an upload's id. Nothing else ever becomes part of a key in the bucket. */
export function isUploadId(text: string): boolean {
  return /^upl_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(text);
}

/** The file's key in the bucket. It lies under its license, so no other license can name it. */
export function uploadKey({ licenseId, uploadId }: UploadRef): string {
  return `uploads/${licenseId}/${uploadId}`;
}

/**
 * When an upload ends, in milliseconds since 1970, by the time in its id (RFC 9562, version 7). A caller who invents an
 * id gains nothing: no form was signed for its key, so there is no file.
 */
export function uploadExpiresAtMs(uploadId: string): number {
  const openedAtMs = Number.parseInt(uploadId.slice('upl_'.length).replace('-', ''), 16);
  return openedAtMs + uploadLifetimeSeconds * 1000;
}
