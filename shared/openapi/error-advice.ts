import type { ErrorCode } from '../base/errors.ts';

/**
 * What to change or do after each error, in one sentence of plain text. The API's description says it, and the dashboard
 * beside the calls that were refused. `docs/errors.md` says more.
 */
export const errorAdvice: Record<ErrorCode, string> = {
  INVALID_API_KEY: 'Send a key that is active, of a license that is active and has API access.',
  INVALID_SESSION: 'Sign in again and send the new access token: an API key is not a session.',
  INVALID_BODY: 'Send one JSON object as plain UTF-8, without Content-Encoding.',
  MISSING_IDENTITY: 'Send the id or the slug of an identity of GET /identities as identityId.',
  IDENTITY_NOT_FOUND: 'Send an id of GET /identities (idn_…) or a slug, not a name.',
  IDENTITY_MISMATCH: 'Use an identity of GET /identities, or a key of a license that covers this one.',
  INVALID_PARAMETERS: "Change every member, header or query parameter that the error's sentence names.",
  TIER_LIMIT: 'Ask for fewer or smaller images, or use a license of a higher tier.',
  CONTENT_REFUSED: 'Change what the prompt or the image shows, then send the request again.',
  CREDIT_LIMIT_EXCEEDED:
    "Wait for the next billing period or use another license; if a key's own budget is used up, raise it.",
  RATE_LIMITED:
    "Wait as long as Retry-After says, then send fewer of the requests that the error's sentence names.",
  IDENTITY_UNAVAILABLE: 'Use an identity whose available is true in GET /identities, or try again later.',
  SERVICE_UNAVAILABLE: 'Repeat the request after Retry-After seconds, with the same Idempotency-Key.',
  TIMEOUT:
    'Repeat the request with the same Idempotency-Key; fewer steps, fewer images or a smaller size finish sooner.',
  GENERATION_FAILED:
    'Repeat the request once, with the same Idempotency-Key; if it fails again, tell us the X-Request-Id.',
  CANCELLED: 'Send it again, with the same Idempotency-Key or a new one, if the images are wanted after all.',
  IDEMPOTENCY_IN_PROGRESS:
    'Repeat the request after Retry-After seconds, or follow the first one, which X-Request-Id names.',
  IDEMPOTENCY_MISMATCH:
    'Send the same body again, byte for byte, or make a new Idempotency-Key for a new request.',
  LICENSE_INACTIVE: 'Renew the subscription, or use a license whose usable is true in GET /licenses.',
  KEY_LIMIT_REACHED: 'Revoke a key that is no longer used, or wait a minute, then create the new one.',
  REQUEST_NOT_FOUND:
    'Use the requestId of an answer with a key of the same license; GET /generate lists what is stored.',
  REQUEST_IN_PROGRESS: 'Delete the request once its status is COMPLETED, FAILED or TIMEOUT.',
  REQUEST_FINAL: 'Cancel a request only while its status is QUEUED or PROCESSING; this one has ended.',
  KEY_NOT_FOUND: 'Use an id of GET /keys (key_…), never the key itself.',
  LICENSE_NOT_FOUND: 'Use a licenseId of GET /licenses.',
  NOT_FOUND: 'Check the method and the path: every path begins with /api/v1.',
  METHOD_NOT_ALLOWED: 'Send messages of the Model Context Protocol with POST.',
  PAYLOAD_TOO_LARGE: 'Send at most 1 MiB: reference images go by link or by upload.',
  REQUEST_BLOCKED: 'Leave out unusual headers and query parameters, or send from another network.',
  INTERNAL_ERROR:
    'Repeat the request after a second, with the same Idempotency-Key; if it fails again, tell us the X-Request-Id.',
};
