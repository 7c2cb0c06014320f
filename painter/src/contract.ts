/** The model server's contract as far as the painter needs it. `request.ts` checks the requests. */

export const outputFormats = ['png', 'webp', 'jpeg'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** An image that was put to its link. */
export interface ModelOutput {
  bytes: number;
  /** Lower-case hex of the file. */
  sha256: string;
  width: number;
  height: number;
  /** Of the preview that was put to its link, too. */
  previewBytes?: number;
}

export type FailureReason =
  | 'invalid_request'
  | 'busy'
  | 'deadline'
  | 'cancelled'
  | 'reference_unreadable'
  | 'reference_invalid'
  | 'upload_failed'
  | 'model_error';

/** One line of an answer. */
export type ModelEvent =
  | { event: 'ready'; modelVersion: string }
  | { event: 'queued'; position: number; etaSeconds: number }
  | { event: 'started' }
  | { event: 'progress'; step: number; steps: number }
  | { event: 'completed'; outputs: ModelOutput[]; referenceImagesUsed: number; modelVersion: string }
  | { event: 'failed'; reason: FailureReason; message: string; reference?: number };
