import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ServiceError } from '../../../shared/base/errors.ts';
import { loggableError } from '../../../shared/base/log.ts';
import { anyCharacter } from '../../support/any-character.ts';

const logged = (error: unknown) => JSON.stringify(loggableError(error));

/** As the AWS SDK makes them: a class of its own, what the service answered in the message, and metadata. */
class ValidationException extends Error {
  override name = 'ValidationException';
  readonly $metadata = { httpStatusCode: 400, requestId: 'aws-1', attempts: 1 };
}

function jsonError(): Error {
  try {
    return JSON.parse('secret prompt') as never;
  } catch (error) {
    return error as Error;
  }
}

function certificateError(): Error {
  const stranger = { subject: { CN: 'x' }, subjectaltname: 'DNS:secret-certificate' } as PeerCertificate;
  // Jest's realm has an Error of its own: the same error, made of that.
  const { message, code } = checkServerIdentity('secret-host.example', stranger) as NodeJS.ErrnoException;
  return Object.assign(new Error(message), { code });
}

describe('the words of others, which quote what they were given, are not logged', () => {
  test.each<[string, Error, object]>([
    ['a JSON parser', jsonError(), { name: 'SyntaxError' }],
    [
      'the AWS SDK; its kind, status and request id are',
      new ValidationException('Value "secret prompt" at "Item" failed to satisfy the constraint'),
      { name: 'ValidationException', httpStatus: 400, awsRequestId: 'aws-1' },
    ],
    [
      'Node.js, which quotes what a stranger’s server said; its code is',
      certificateError(),
      { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    ],
    [
      'an error that callers read, which may hold what they or the model wrote; its code is',
      new ServiceError('INVALID_PARAMETERS', 'unknown member "secret".'),
      { name: 'ServiceError', code: 'INVALID_PARAMETERS' },
    ],
    ['a TypeError', new TypeError('Invalid URL: https://secret.example/'), { name: 'TypeError' }],
    ['an AggregateError', new AggregateError([new Error('secret')], 'secret'), {}],
    ['a class of a library', new (class ZodError extends Error {})('secret'), {}],
  ])('of %s', (_what, error, kept) => {
    expect(error.message).toContain('secret');
    expect(logged(error)).not.toContain('secret');
    expect(loggableError(error)[0]).toMatchObject(kept);
  });

  test.each(['secret', { name: 'Error', message: 'secret', code: 'secret', stack: '    at secret' }, null])(
    'of %j that was thrown instead of an error',
    (thrown) => expect(loggableError(thrown)).toEqual([{ name: typeof thrown }]),
  );

  test('behind a cause of ours', () => {
    const cause = new SyntaxError('Unexpected token in "secret"');
    const error = new Error('an event is not JSON', { cause: new Error('model server', { cause }) });
    expect(logged(error)).not.toContain('secret');
    expect(loggableError(error).map(({ name }) => name)).toEqual(['Error', 'Error', 'SyntaxError']);
  });

  test('nor any line of any message, even one that looks like a place in the code', () => {
    const anyMessage = fc
      .string({ unit: anyCharacter, maxLength: 60 })
      .map((text) => `${text}\n    at secret ${text}\n    at secret (file.ts:1:1)`);
    fc.assert(
      fc.property(anyMessage, (message) => {
        for (const error of [new SyntaxError(message), new ValidationException(message)]) {
          expect(logged(error)).not.toContain('secret');
        }
      }),
    );
  });
});

describe('our own words are logged', () => {
  test('a plain error’s message, also behind an error for the caller', () => {
    const error = new ServiceError('SERVICE_UNAVAILABLE', 'Busy.', {
      cause: new Error('the log never stood still'),
    });
    expect(loggableError(error)).toMatchObject([
      { name: 'ServiceError', code: 'SERVICE_UNAVAILABLE' },
      { name: 'Error', message: 'the log never stood still' },
    ]);
  });

  test('with the places in the code that they came from, six at most', () => {
    const [{ at }] = loggableError(new Error('x')) as [{ at: string[] }];
    expect(at[0]).toContain('loggable-error.test.ts');
    expect(at.length).toBeLessThanOrEqual(6);
  });
});

test('the chain of causes ends after five, also when an error causes itself, and without an error', () => {
  const error = new Error('x');
  error.cause = error;
  delete error.stack;
  const five = Array.from({ length: 5 }, () => ({ name: 'Error', message: 'x' }));
  expect(loggableError(error)).toMatchObject(five);
  expect(loggableError(undefined)).toEqual([]);
});
