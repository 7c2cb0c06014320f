import { v7 as uuidv7 } from 'uuid';

/** An upload that was opened for an access record. It has no record of its own: its id says when, its key whose. */
export interface UploadRef {
  licenseId: string;
  uploadId: string;
}

export const uploadLifetimeSeconds = 3600;

export function newUploadId(nowMs: number): string {
  return `upl_${uuidv7({ msecs: nowMs })}`;
}

/** Whether a text can be an upload's id, so that nothing else ever becomes a key in the bucket. */
export function isUploadId(text: string): boolean {
  return /^upl_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(text);
}

/** Where its file lies: under its license, so that nobody else's key or session can name it. */
export function uploadKey({ licenseId, uploadId }: UploadRef): string {
  return `uploads/${licenseId}/${uploadId}`;
}

/**
 * When an upload ends, milliseconds since 1970, by the time in its id (RFC 9562, version 7). An id with a time of
 * somebody's own making leads to a key that nothing was ever signed for.
 */
export function uploadExpiresAtMs(uploadId: string): number {
  const openedAtMs = Number.parseInt(uploadId.slice('upl_'.length).replace('-', '').slice(0, 12), 16);
  return openedAtMs + uploadLifetimeSeconds * 1000;
}
