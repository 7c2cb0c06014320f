import type { ErrorCode } from '../base/errors.ts';
import { bodyTooLarge, maxBodyBytes, maxFormBytes } from './limits.ts';

/** An error that API Gateway or the firewall answers. It has the shape of all other errors. */
export interface GatewayFailure {
  code: ErrorCode;
  /** The sentence for the caller. It quotes nothing of the request, which may be a key. */
  error: string;
  retryAfterSeconds?: number;
}

const noEndpoint: GatewayFailure = {
  code: 'NOT_FOUND',
  error: 'There is no such endpoint. Check the method and the path.',
};
const tooLarge: GatewayFailure = { code: 'PAYLOAD_TOO_LARGE', error: bodyTooLarge(maxBodyBytes) };
const unreadable: GatewayFailure = {
  code: 'INVALID_BODY',
  error: "The request can't be read. Send one JSON object.",
};
const fault: GatewayFailure = {
  code: 'INTERNAL_ERROR',
  error: 'Something went wrong on our side. Try again; if it persists, tell us the X-Request-Id.',
};

/**
 * The failures that API Gateway answers by itself, by its type of gateway response. A type that is not here has its own status
 * with the text of DEFAULT_4XX or DEFAULT_5XX. No route has an authorizer, so a request that is refused for a signature or
 * a token can only have named a path that does not exist: API Gateway then takes `Authorization: Bearer` for a broken AWS
 * signature.
 */
export const gatewayFailures = {
  MISSING_AUTHENTICATION_TOKEN: noEndpoint,
  INVALID_SIGNATURE: noEndpoint,
  EXPIRED_TOKEN: noEndpoint,
  ACCESS_DENIED: noEndpoint,
  UNAUTHORIZED: noEndpoint,
  INVALID_API_KEY: noEndpoint,
  DEFAULT_4XX: noEndpoint,
  BAD_REQUEST_BODY: unreadable,
  BAD_REQUEST_PARAMETERS: { code: 'INVALID_PARAMETERS', error: "The parameters can't be read." },
  UNSUPPORTED_MEDIA_TYPE: unreadable,
  REQUEST_TOO_LARGE: tooLarge,
  THROTTLED: {
    code: 'RATE_LIMITED',
    error: 'Too many requests at once. Try again shortly.',
    retryAfterSeconds: 2,
  },
  QUOTA_EXCEEDED: {
    code: 'RATE_LIMITED',
    error: 'Too many requests. Try again later.',
    retryAfterSeconds: 60,
  },
  WAF_FILTERED: {
    code: 'REQUEST_BLOCKED',
    error:
      'The request was blocked before it reached the service. If that is wrong, tell us the X-Request-Id.',
  },
  INTEGRATION_TIMEOUT: {
    code: 'TIMEOUT',
    error: 'The answer took too long. A generation may have finished: re-fetch it before you try again.',
  },
  INTEGRATION_FAILURE: fault,
  DEFAULT_5XX: fault,
} as const satisfies Record<string, GatewayFailure>;

/** What API Gateway answers to a method that a path refuses (`Route.refusesOthers`). */
export const methodFailure = {
  code: 'METHOD_NOT_ALLOWED',
  error: 'This path takes no such method. The Allow header names the one that it takes.',
} as const satisfies GatewayFailure;

/** The failures that the firewall answers. */
export const firewallFailures = {
  tooLarge,
  tooLargeForm: { code: 'PAYLOAD_TOO_LARGE', error: bodyTooLarge(maxFormBytes) },
  tooManyWithoutCredentials: {
    code: 'RATE_LIMITED',
    error:
      'Too many requests from this address have neither a whole API key nor an access token. Send one as Authorization: Bearer, or try again in a few minutes.',
    retryAfterSeconds: 300,
  },
  tooManyFromOneAddress: {
    code: 'RATE_LIMITED',
    error: 'Too many requests come from this address. Try again in a few minutes.',
    retryAfterSeconds: 300,
  },
} as const satisfies Record<string, GatewayFailure>;
