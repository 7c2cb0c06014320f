import {
  ConnectionError,
  generate as generateWith,
  TimeoutError,
  type components,
  type GenerateOptions,
  type GenerationResult,
} from '../../../client/src/index.ts';
import { ApiError, screenError } from './api-error.ts';
import type { Api } from './client.ts';

/** The body of POST /playground/generate. The service has defaults for what is left out, and takes null for that too. */
export interface PlaygroundBody extends WithoutNull<Omit<PlaygroundRequest, 'referenceImages'>> {
  referenceImages?: ReferenceBody[];
}

/** Exactly one of the two, which the type from the OpenAPI document does not say. */
export type ReferenceBody = { url: string } | { uploadId: string };

type WithoutNull<T> = { [Member in keyof T]: Exclude<T[Member], null> };
type PlaygroundRequest = components['schemas']['PlaygroundGenerationRequest'];

/** A generation that succeeded. `usage` is null when the result was looked up; GET /usage has it then. */
export interface Generated extends Omit<GenerationResult, 'processingTimeMs'> {
  processingTimeMs: number | null;
}

export interface PlaygroundOptions extends GenerateOptions {
  body: PlaygroundBody;
  /** Send the same key with the same body again to get the first result; it is charged once. */
  idempotencyKey: string;
}

/**
 * Generates and resolves once there are images.
 * @throws ApiError when it was refused or failed, and the signal's reason when it was aborted.
 */
export async function generate(api: Api, { body, ...options }: PlaygroundOptions): Promise<Generated> {
  try {
    return await generateWith(api.requester, 'POST /playground/generate', body, options);
  } catch (error) {
    throw lostResult(error) ?? screenError(error);
  }
}

/** For a generation that may still be running: an error that says where its result will be. */
function lostResult(error: unknown): ApiError | null {
  if (error instanceof TimeoutError && error.requestId !== undefined) {
    const { requestId } = error;
    const sentence = 'The result is taking longer than expected. It will appear in your history.';
    return new ApiError(sentence, { status: 504, code: 'STILL_RUNNING', requestId });
  }
  const brokeOff = error instanceof ConnectionError && error.answerBegan;
  const notUnderstood =
    error instanceof ApiError && error.code === 'UNEXPECTED_ANSWER' && error.status === 200;
  if (!brokeOff && !notUnderstood) return null;
  const sentence =
    'The connection broke before the result arrived. Look in your history before you try again.';
  return new ApiError(sentence, { status: 0, code: 'NETWORK' });
}
