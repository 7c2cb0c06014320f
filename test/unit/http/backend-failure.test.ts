import { expect, test } from '@jest/globals';
import {
  ConditionalCheckFailedException,
  InternalServerError,
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
  TransactionConflictException,
  TransactionInProgressException,
} from '@aws-sdk/client-dynamodb';
import { NoSuchKey, S3ServiceException } from '@aws-sdk/client-s3';
import { ServiceError } from '../../../shared/base/errors.ts';
import { asServiceError, isBackendFailure } from '../../../shared/http/backend-failure.ts';

const sdk = { message: 'said by AWS', $metadata: {} };
/** An error that the SDK has no class for. */
const unmodelled = (name: string, httpStatusCode: number, $fault: 'client' | 'server' = 'client') =>
  new S3ServiceException({ name, $fault, message: '', $metadata: { httpStatusCode } });
const named = (name: string) => Object.assign(new Error('said by Node.js'), { name });
const coded = (code: string) => Object.assign(new Error('said by Node.js'), { code });

const sdk503 = { $metadata: { httpStatusCode: 503 } };
const noConnection = 'ECONNREFUSED ECONNRESET EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN';
const away: Record<string, unknown> = {
  'DynamoDB: a fault of its own': new InternalServerError(sdk),
  'DynamoDB: throttled table': new ProvisionedThroughputExceededException(sdk),
  'DynamoDB: its transaction is still under way': new TransactionInProgressException({ ...sdk, Message: '' }),
  'DynamoDB: a conflict with a transaction': new TransactionConflictException(sdk),
  'S3: slow down': unmodelled('SlowDown', 503, 'server'),
  'S3: too slow a request': unmodelled('RequestTimeout', 400),
  'any: 429 by any name': unmodelled('Whatever', 429),
  'any: 502 by any name': unmodelled('Whatever', 502),
  'any: what the SDK may try again': Object.assign(unmodelled('Whatever', 400), { $retryable: {} }),
  'any: 503 whose body was not read': Object.assign(new SyntaxError(''), sdk503),
  'no answer in time': named('TimeoutError'),
  ...Object.fromEntries(noConnection.split(' ').map((code) => [code, coded(code)])),
};

const refused: Record<string, unknown> = {
  'DynamoDB: access denied': unmodelled('AccessDeniedException', 400),
  'DynamoDB: a condition': new ConditionalCheckFailedException(sdk),
  'DynamoDB: a canceled transaction': new TransactionCanceledException({ ...sdk, CancellationReasons: [] }),
  'S3: no such key': new NoSuchKey(sdk),
  'credentials that are not there': named('CredentialsProviderError'),
  'a call that was ended by us': named('AbortError'),
  'a file that is not there': coded('ENOENT'),
  'a bug': new TypeError('x is not a function'),
  'no error at all': 'TimeoutError',
  'an object that looks like an error of ours': { code: 'TIER_LIMIT', status: 400, message: 'said by it' },
};

test.each(Object.entries(away))(
  'a backend that is away, throttled or slow is 503, with the time to wait and the cause for the log, and a fault unless writes meet: %s',
  (what, error) => {
    expect(isBackendFailure(error)).toBe(true);
    const decided = asServiceError(error);
    const unavailable = { code: 'SERVICE_UNAVAILABLE', status: 503, retryAfterSeconds: 5, cause: error };
    expect(decided).toMatchObject({ ...unavailable, noFault: /transaction/.test(what) });
    expect(decided.message).not.toContain('said by');
  },
);

test.each(Object.entries(refused))('anything else that nobody foresaw is 500: %s', (_what, error) => {
  expect(isBackendFailure(error)).toBe(false);
  const { code, status, cause, message } = asServiceError(error);
  expect({ code, status, cause }).toEqual({ code: 'INTERNAL_ERROR', status: 500, cause: error });
  expect(message).not.toContain('said by');
});

test('an error that was decided already stays what it is', () => {
  const decided = new ServiceError('GENERATION_FAILED', 'x', { cause: coded('ECONNRESET') });
  expect(asServiceError(decided)).toBe(decided);
});
