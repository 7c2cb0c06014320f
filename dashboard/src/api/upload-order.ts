import type { Api } from './client.ts';

/** One file to upload. */
export interface UploadOrder {
  licenseId: string;
  file: File;
  contentType: 'image/png' | 'image/jpeg' | 'image/webp';
  /** From 0 to 1. */
  onProgress: (share: number) => void;
  signal: AbortSignal;
}

/**
 * Uploads one file for a license.
 * @returns what `referenceImages` calls it, for an hour.
 * @throws ApiError, and the signal's reason when it was aborted.
 */
export type UploadFile = (api: Api, order: UploadOrder) => Promise<string>;
