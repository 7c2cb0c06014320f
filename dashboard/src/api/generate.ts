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

/** The body of POST /playground/generate; what is left out has the service's default. */
export interface PlaygroundBody extends Omit<PlaygroundRequest, 'referenceImages'> {
  /** Each by exactly one of the two, which the document's type does not tell. */
  referenceImages?: ({ url: string } | { uploadId: string })[];
}
type PlaygroundRequest = components['schemas']['PlaygroundGenerationRequest'];

/** What is known of a generation that succeeded; its `usage` is null when it was looked up. GET /usage knows. */
export interface Generated extends Omit<GenerationResult, 'processingTimeMs'> {
  processingTimeMs: number | null;
}

export interface PlaygroundOptions extends GenerateOptions {
  body: PlaygroundBody;
  /** Keep it for a repeat of the same body: a repeat answers with the first result and charges nothing. */
  idempotencyKey: string;
}

/**
 * Generates and resolves once there are images.
 * @throws ApiError as the API refused or failed it; the signal's reason when it was aborted.
 */
export async function generate(api: Api, { body, ...options }: PlaygroundOptions): Promise<Generated> {
  try {
    return await generateWith(api.requester, 'POST /playground/generate', body, options);
  } catch (error) {
    throw lostResult(error) ?? screenError(error);
  }
}

/** Of a generation that may go on: where its result will be. */
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
