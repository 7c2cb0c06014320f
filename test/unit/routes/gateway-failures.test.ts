import { describe, expect, test } from '@jest/globals';
import { errorCodes } from '../../../shared/base/errors.ts';
import {
  firewallFailures,
  gatewayFailures,
  methodFailure,
  type GatewayFailure,
} from '../../../shared/routes/gateway-failures.ts';

const failures: [string, GatewayFailure][] = Object.entries({
  ...gatewayFailures,
  ...firewallFailures,
  methodFailure,
});

describe.each(failures)('the answer for %s', (_type, { code, error, retryAfterSeconds }) => {
  test('has a code of the table and a sentence', () => {
    expect(errorCodes).toHaveProperty(code);
    expect(error).toMatch(/^[A-Z].*\.$/);
  });

  test('quotes nothing of the request, and needs no escaping in a template', () => {
    expect(error).not.toMatch(/[$"\\{}<>]/);
  });

  test('says how long to wait exactly if waiting helps', () => {
    const waits = [429, 503].includes(errorCodes[code].status);
    expect(retryAfterSeconds !== undefined).toBe(waits);
    if (waits) expect(Number.isInteger(retryAfterSeconds)).toBe(true);
  });
});

test.each(['MISSING_AUTHENTICATION_TOKEN', 'INVALID_SIGNATURE', 'ACCESS_DENIED', 'DEFAULT_4XX'] as const)(
  '%s is a path that is not there, because no route has an authorizer',
  (type) => expect(gatewayFailures[type].code).toBe('NOT_FOUND'),
);
