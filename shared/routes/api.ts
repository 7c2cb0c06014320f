/** The version is part of every address. */
export const basePath = '/api/v1';

/** Stands for the stage of API Gateway in the local runtime, which serves HTTP without TLS. Real names have no parentheses. */
export const localStage = '(local)';

/** Longer answers are compressed for clients that say they take that. Signed links are long and alike. Streams are never. */
export const minCompressionBytes = 1024;

/** Bodies of these types reach a function in base64, byte for byte. All others API Gateway reads as UTF-8 text. */
export const binaryMediaTypes = ['multipart/form-data'];

/** What web pages of other origins may send and read (Fetch, "CORS protocol"). */
export const cors = {
  requestHeaders: [
    'authorization',
    'content-type',
    'idempotency-key',
    'if-none-match',
    'mcp-method',
    'mcp-name',
    'mcp-protocol-version',
    'prefer',
    // What instrumented pages add to their requests. The second is taken and ignored.
    'traceparent',
    'tracestate',
  ],
  responseHeaders: [
    'x-request-id',
    'retry-after',
    'ratelimit',
    'ratelimit-policy',
    'idempotent-replayed',
    'location',
    'preference-applied',
    'x-ignored-parameters',
    'etag',
    'traceparent',
  ],
  maxAgeSeconds: 3600,
} as const;

/** What web pages of any origin may do with the bucket's signed links, and read of its answers: a link is the permission. */
export const bucketCors = {
  methods: ['GET', 'HEAD', 'POST'],
  responseHeader: 'etag',
  maxAgeSeconds: 3600,
} as const;

/** Headers that every answer of the API has, whoever gives it: a function, the gateway, the firewall. */
export function answerHeaders(status: number): Record<string, string> {
  return {
    'x-content-type-options': 'nosniff',
    // As the dashboard's: a year, and without subdomains, of which an operator may have others. Browsers obey it over https only.
    'strict-transport-security': 'max-age=31536000',
    // RFC 9110, section 11.6.1. API Gateway renames a function's own: docs/errors.md.
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  };
}
