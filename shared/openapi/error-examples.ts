import type { ErrorCode } from '../base/errors.ts';

/** An example sentence for each error code, in the words of the service. */
export const errorExamples: Record<ErrorCode, string> = {
  INVALID_API_KEY:
    'The API key is missing, invalid, expired or revoked. Send it as "Authorization: Bearer svc_live_…".',
  INVALID_SESSION:
    'The session is missing, invalid or has ended. Sign in again; an API key is not a session.',
  INVALID_BODY: 'The body is not valid JSON: send one JSON object.',
  MISSING_IDENTITY: 'identityId is missing: send the ID of the identity to use.',
  IDENTITY_NOT_FOUND: 'No identity has this identityId. GET /identities lists those that you may use.',
  IDENTITY_MISMATCH:
    'This license does not cover drift. GET /identities lists the identities that you may use.',
  INVALID_PARAMETERS: 'width must be a multiple of 64, at least 512; unknown member "stpes".',
  TIER_LIMIT: 'On the Starter tier width must be at most 1024 and height must be at most 1024.',
  CONTENT_REFUSED:
    'The prompt was refused for violence. Change what it asks for, then send it again. Nothing was charged.',
  CREDIT_LIMIT_EXCEEDED:
    "This request costs 4 credits, more than is left of this month's 500. " +
    'The period resets at 2026-12-21T09:00:00.000Z.',
  RATE_LIMITED:
    'At most 10 such requests in 60 seconds are allowed for one API key. Try again in 12 seconds.',
  IDENTITY_UNAVAILABLE: 'ember has no active model at the moment. Try again later, or use another identity.',
  SERVICE_UNAVAILABLE: 'The service is busy. Try again shortly.',
  TIMEOUT: 'The image was not finished within 60 seconds. Nothing was charged.',
  GENERATION_FAILED: 'The model could not finish the image. Nothing was charged.',
  CANCELLED: 'The request was cancelled. Nothing was charged.',
  IDEMPOTENCY_IN_PROGRESS:
    'The first request with this Idempotency-Key is still running. Repeat this one in a moment for its result.',
  IDEMPOTENCY_MISMATCH:
    'This Idempotency-Key was used with another body. Send the same body again, or use a new key.',
  LICENSE_INACTIVE: 'The license lic_7Q2v gets no keys: it has ended.',
  KEY_LIMIT_REACHED: 'The license lic_7Q2v has 25 active keys already: revoke one first.',
  REQUEST_NOT_FOUND: 'No stored request has this ID.',
  REQUEST_IN_PROGRESS: 'This request is still running. Delete it once it has ended.',
  REQUEST_FINAL: 'This request is COMPLETED already, so it can not be cancelled.',
  KEY_NOT_FOUND: 'None of your API keys has this ID.',
  LICENSE_NOT_FOUND: 'None of your licenses has this ID.',
  NOT_FOUND: 'There is no such endpoint. Check the method and the path.',
  METHOD_NOT_ALLOWED: 'This path takes no such method. The Allow header names the one that it takes.',
  PAYLOAD_TOO_LARGE: 'The body must be at most 1 MiB.',
  REQUEST_BLOCKED:
    'The request was blocked before it reached the service. If that is wrong, tell us the X-Request-Id.',
  INTERNAL_ERROR: 'Something went wrong on our side. Try again; if it persists, tell us the X-Request-Id.',
};
