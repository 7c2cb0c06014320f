import { expect, test } from '@jest/globals';
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

test.each(failures)(
  'the answer for %s has a code and a sentence that needs no escaping, and a time to wait where waiting helps',
  (_type, { code, error, retryAfterSeconds }) => {
    expect(errorCodes).toHaveProperty(code);
    expect(error).toMatch(/^[A-Z][^$"\\{}<>]*\.$/);
    const waits = [429, 503].includes(errorCodes[code].status);
    expect(retryAfterSeconds).toEqual(waits ? expect.any(Number) : undefined);
    expect(Number.isInteger(retryAfterSeconds ?? 1)).toBe(true);
  },
);

test.each(['MISSING_AUTHENTICATION_TOKEN', 'INVALID_SIGNATURE', 'ACCESS_DENIED', 'DEFAULT_4XX'] as const)(
  '%s is a path that is not there, because no route has an authorizer',
  (type) => expect(gatewayFailures[type].code).toBe('NOT_FOUND'),
);
