import { S3Error } from './errors.ts';
import type { S3Request } from './request.ts';
import { queryValue } from './request.ts';
import type { Signer, SigningTime } from './signature.ts';
import { algorithm, checkCredential, requestSignature, sameSignature } from './signature.ts';

/** A verified signature. The payload is still to be checked against `payloadHash`. */
export interface Authentication {
  time: SigningTime;
  signature: string;
  /** The hex digest of the payload, or `UNSIGNED-PAYLOAD`; still unchecked. */
  payloadHash: string;
}

const maxSkewMs = 15 * 60 * 1000;
const maxExpirySeconds = 7 * 24 * 60 * 60;

/** Verifies the signature in the Authorization header or in the query; throws S3's error when it does not hold. */
export async function authenticate(signer: Signer, request: S3Request): Promise<Authentication> {
  const inHeader = request.headers['authorization'] !== undefined;
  const inQuery = 'X-Amz-Algorithm' in request.query || 'X-Amz-Signature' in request.query;
  if (inHeader && inQuery) throw new S3Error('InvalidArgument', 'Only one auth mechanism allowed.');
  if (!inHeader && !inQuery) throw new S3Error('AccessDenied');
  // The store has one long-term credential, which has no session token.
  if (request.headers['x-amz-security-token'] || queryValue(request, 'X-Amz-Security-Token')) {
    throw new S3Error('InvalidToken');
  }
  return inHeader ? authenticateHeader(signer, request) : authenticateQuery(signer, request);
}

async function authenticateHeader(signer: Signer, request: S3Request): Promise<Authentication> {
  const fault = (message: string, details?: Record<string, string>) =>
    new S3Error('AuthorizationHeaderMalformed', `The authorization header is malformed; ${message}`, details);
  const [scheme, ...rest] = (request.headers['authorization'] ?? '').split(' ');
  if (scheme !== algorithm) {
    throw new S3Error(
      'InvalidRequest',
      `The authorization mechanism is not supported. Please use ${algorithm}.`,
    );
  }
  const fields = new Map(
    rest
      .join('')
      .split(',')
      .map((field) => splitOnce(field, '=')),
  );
  const credential = fields.get('Credential');
  const signedHeaders = fields.get('SignedHeaders')?.split(';');
  const signature = fields.get('Signature');
  if (!credential || !signedHeaders || !signature) {
    throw fault('it needs Credential, SignedHeaders and Signature.');
  }
  const amzDate = request.headers['x-amz-date'];
  if (!amzDate) throw new S3Error('AccessDenied', 'AWS authentication requires a valid x-amz-date header');
  const payloadHash = request.headers['x-amz-content-sha256'];
  if (!payloadHash)
    throw new S3Error('MissingSecurityHeader', 'Missing required header: x-amz-content-sha256');

  const time = checkCredential(signer, credential, amzDate, fault);
  checkSkew(signer, time);
  await checkSignature(signer, request, time, signedHeaders, payloadHash, signature);
  return { time, signature, payloadHash };
}

async function authenticateQuery(signer: Signer, request: S3Request): Promise<Authentication> {
  const fault = (message: string, details?: Record<string, string>) =>
    new S3Error('AuthorizationQueryParametersError', message, details);
  const value = (name: string) => {
    const found = queryValue(request, name);
    if (!found) throw fault(`Query-string authentication requires the ${name} parameter.`);
    return found;
  };
  if (value('X-Amz-Algorithm') !== algorithm) throw fault(`X-Amz-Algorithm only supports "${algorithm}"`);
  const expires = value('X-Amz-Expires');
  if (!/^\d{1,9}$/.test(expires) || Number(expires) < 1 || Number(expires) > maxExpirySeconds) {
    throw fault(`X-Amz-Expires must be a number of seconds between 1 and ${maxExpirySeconds}`);
  }
  const signature = value('X-Amz-Signature');
  const signedHeaders = value('X-Amz-SignedHeaders').split(';');
  const time = checkCredential(signer, value('X-Amz-Credential'), value('X-Amz-Date'), (message, details) =>
    fault(`Error parsing the X-Amz-Credential parameter; ${message}`, details),
  );
  checkLifetime(signer, time, Number(expires));
  const payloadHash =
    request.headers['x-amz-content-sha256'] ??
    queryValue(request, 'X-Amz-Content-Sha256') ??
    'UNSIGNED-PAYLOAD';
  await checkSignature(signer, request, time, signedHeaders, payloadHash, signature);
  return { time, signature, payloadHash };
}

function checkSkew(signer: Signer, time: SigningTime): void {
  const now = signer.clock();
  if (Math.abs(now.getTime() - time.date.getTime()) <= maxSkewMs) return;
  throw new S3Error('RequestTimeTooSkewed', undefined, {
    RequestTime: time.amzDate,
    ServerTime: now.toISOString(),
    MaxAllowedSkewMilliseconds: String(maxSkewMs),
  });
}

/** A link works from its signing, or 15 minutes before for the sake of wrong clocks, until it expires. */
function checkLifetime(signer: Signer, time: SigningTime, expiresSeconds: number): void {
  const now = signer.clock().getTime();
  const expiresAt = time.date.getTime() + expiresSeconds * 1000;
  if (now > expiresAt) {
    throw new S3Error('AccessDenied', 'Request has expired', {
      'X-Amz-Expires': String(expiresSeconds),
      Expires: new Date(expiresAt).toISOString(),
      ServerTime: new Date(now).toISOString(),
    });
  }
  if (time.date.getTime() > now + maxSkewMs) throw new S3Error('AccessDenied', 'Request is not yet valid');
}

async function checkSignature(
  signer: Signer,
  request: S3Request,
  time: SigningTime,
  signedHeaders: string[],
  payloadHash: string,
  signature: string,
): Promise<void> {
  // An unsigned x-amz-… header would let whoever holds a link change what it does.
  const mustBeSigned = ['host', ...Object.keys(request.headers).filter((name) => name.startsWith('x-amz-'))];
  const unsigned = mustBeSigned.filter((name) => !signedHeaders.includes(name));
  if (unsigned.length > 0) {
    const message = 'There were headers present in the request which were not signed';
    throw new S3Error('AccessDenied', message, { HeadersNotSigned: unsigned.join(', ') });
  }
  const expected = await requestSignature(signer, request, time, signedHeaders, payloadHash);
  if (!sameSignature(signature, expected)) throw new S3Error('SignatureDoesNotMatch');
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
