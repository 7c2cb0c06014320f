import {
  respondAsync,
  type AcceptedGeneration,
  type components,
} from '../../../clients/typescript/src/index.ts';
import { screenError } from './api-error.ts';
import type { Api } from './client.ts';

/** The body of POST /playground/generate. The service has defaults for what is left out, and takes null for that too. */
export interface PlaygroundBody extends WithoutNull<Omit<PlaygroundRequest, 'referenceImages'>> {
  referenceImages?: ReferenceBody[];
}

/** Exactly one of the two, which the type from the OpenAPI document does not say. */
export type ReferenceBody = { url: string } | { uploadId: string };

export interface UploadOptions {
  licenseId: string;
  file: File;
  contentType: 'image/png' | 'image/jpeg' | 'image/webp';
  /** Called with the part that is sent, from 0 to 1. */
  onProgress: (share: number) => void;
  signal: AbortSignal;
}

/**
 * Uploads one file for a license.
 * @returns the upload's id for `referenceImages`. It can be used for an hour.
 * @throws ApiError, and the signal's reason when it was aborted.
 */
export type UploadFile = (api: Api, options: UploadOptions) => Promise<string>;

type WithoutNull<T> = { [Member in keyof T]: Exclude<T[Member], null> };
type PlaygroundRequest = components['schemas']['PlaygroundGenerationRequest'];

export interface PlaygroundRun {
  body: PlaygroundBody;
  /** Send the same key with the same body again when the answer was lost; it is accepted and charged once. */
  idempotencyKey: string;
}

/**
 * Sends a request that then runs by itself. `useGeneration` follows it.
 * @throws ApiError when it was refused or there was no answer
 */
export async function accept(api: Api, { body, idempotencyKey }: PlaygroundRun): Promise<AcceptedGeneration> {
  try {
    return await respondAsync(api.requester, 'POST /playground/generate', body, { idempotencyKey });
  } catch (error) {
    throw screenError(error);
  }
}
