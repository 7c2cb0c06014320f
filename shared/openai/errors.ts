import { openAiMembers, openAiWords } from './contract.ts';
import { inWords, type ErrorCode, type ServiceError } from '../base/errors.ts';
import { errorAnswer, type Answer } from '../http/answer.ts';

/** Codes that programs know from OpenAI by another name. */
const codes: Partial<Record<ErrorCode, string>> = { CONTENT_REFUSED: 'content_policy_violation' };

/** Codes after which nothing was done, so that a repeat can't be paid twice, and after which a repeat may succeed. */
const repeated = new Set<ErrorCode>(['RATE_LIMITED', 'SERVICE_UNAVAILABLE', 'IDEMPOTENCY_IN_PROGRESS']);

const aboutModel = new Set<ErrorCode>(['MISSING_IDENTITY', 'IDENTITY_NOT_FOUND', 'IDENTITY_MISMATCH']);
const aboutMembers = new Set<ErrorCode>(['INVALID_PARAMETERS', 'TIER_LIMIT']);
/** The first member that a sentence names, known or not. */
const member = new RegExp(`unknown member "([\\w-]+)"|\\b(${openAiMembers.join('|')})\\b`);

/**
 * Renders an error in OpenAI's shape (API reference, "Error codes"), with our status and code. OpenAI's SDKs repeat every 409,
 * 429 and 5xx by themselves unless `x-should-retry` says otherwise, and send no Idempotency-Key of their own.
 */
export function openAiErrorAnswer(error: ServiceError): Answer {
  const answer = errorAnswer(error);
  const { code } = error;
  const message = inWords(error.sentence, openAiWords);
  return {
    ...answer,
    headers: { ...answer.headers, 'x-should-retry': String(isRepeated(error)) },
    body: {
      error: { message, type: typeOf(error), param: paramOf(code, message), code: codes[code] ?? code },
    },
  };
}

/** The SDKs wait a minute at most, and then repeat whatever `Retry-After` says. */
export const longestWaitSeconds = 60;

export function isRepeated({ code, retryAfterSeconds = 0 }: ServiceError): boolean {
  return repeated.has(code) && (code !== 'RATE_LIMITED' || retryAfterSeconds <= longestWaitSeconds);
}

function typeOf({ code, status }: ServiceError): string {
  if (code === 'CREDIT_LIMIT_EXCEEDED') return 'insufficient_quota';
  if (status >= 500) return 'server_error';
  if (status === 429) return 'rate_limit_error';
  return status === 401 ? 'authentication_error' : 'invalid_request_error';
}

function paramOf(code: ErrorCode, message: string): string | null {
  if (aboutModel.has(code)) return 'model';
  const [, unknown, known] = (aboutMembers.has(code) && member.exec(message)) || [];
  return unknown ?? known ?? null;
}
