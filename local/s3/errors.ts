/** Every error the store answers: its HTTP status and S3's own words for it. */
const catalogue = {
  AccessDenied: [403, 'Access Denied'],
  AccessForbidden: [403, 'CORSResponse: This CORS request is not allowed.'],
  AuthorizationQueryParametersError: [400, 'X-Amz-Expires must be a number of seconds between 1 and 604800.'],
  BadDigest: [400, 'The CRC32 you specified did not match the calculated checksum.'],
  EntityTooLarge: [400, 'Your proposed upload exceeds the maximum allowed object size.'],
  EntityTooSmall: [400, 'Your proposed upload is smaller than the minimum allowed object size.'],
  InternalError: [500, 'We encountered an internal error. Please try again.'],
  InvalidArgument: [400, 'Invalid Argument'],
  InvalidPart: [400, 'One or more of the specified parts could not be found.'],
  InvalidPolicyDocument: [
    400,
    'The content of the form does not meet the conditions of the policy document.',
  ],
  InvalidRequest: [400, 'Insufficient information. Origin and request method are needed.'],
  InvalidURI: [400, "Couldn't parse the specified URI."],
  KeyTooLongError: [400, 'Your key is too long.'],
  MalformedPOSTRequest: [400, 'The body of your POST request is not well-formed multipart/form-data.'],
  MissingContentLength: [411, 'You must provide the Content-Length HTTP header.'],
  NoSuchBucket: [404, 'The specified bucket does not exist.'],
  NoSuchKey: [404, 'The specified key does not exist.'],
  NoSuchUpload: [404, 'The specified multipart upload does not exist.'],
  NotImplemented: [501, 'This store does not implement the functionality that you asked for.'],
  RequestTimeTooSkewed: [403, "The difference between the request time and the server's time is too large."],
  SignatureDoesNotMatch: [
    403,
    'The request signature we calculated does not match the signature you provided.',
  ],
  XAmzContentSHA256Mismatch: [
    400,
    "The provided 'x-amz-content-sha256' header does not match what was computed.",
  ],
} as const satisfies Record<string, readonly [status: number, message: string]>;

type S3ErrorCode = keyof typeof catalogue;

/** An error to throw anywhere below the handler, which answers it as S3 would. */
export class S3Error extends Error {
  readonly code: S3ErrorCode;
  readonly status: number;
  /** More elements of the XML answer, such as `MaxSizeAllowed`. Never a signature. */
  readonly details: Record<string, string | number>;

  constructor(code: S3ErrorCode, message?: string, details: S3Error['details'] = {}) {
    super(message ?? catalogue[code][1]);
    this.code = code;
    [this.status] = catalogue[code];
    this.details = details;
  }
}

export function notImplemented(what: string): S3Error {
  return new S3Error('NotImplemented', `${what} is not implemented by this store.`);
}
