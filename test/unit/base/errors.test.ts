import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { agentWords } from '../../../shared/mcp/contract.ts';
import { errorCodes, isFault, ServiceError, type ErrorCode } from '../../../shared/base/errors.ts';
import { errorAnswer } from '../../../shared/http/answer.ts';
import { readRequest } from '../../../shared/http/request.ts';
import { answerMessage } from '../../../shared/mcp/answer-message.ts';
import { routeOrHeader } from '../../support/agent.ts';
import { inRepository, repository } from '../../support/repository.ts';

/** Those of section 7 of the specification and of the decisions. */
const codesByStatus: Record<number, string> = {
  400: 'INVALID_BODY MISSING_IDENTITY INVALID_PARAMETERS TIER_LIMIT CONTENT_REFUSED CANCELLED',
  401: 'INVALID_API_KEY IDENTITY_MISMATCH INVALID_SESSION',
  403: 'LICENSE_INACTIVE REQUEST_BLOCKED',
  404: 'IDENTITY_NOT_FOUND REQUEST_NOT_FOUND NOT_FOUND KEY_NOT_FOUND LICENSE_NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  409: 'REQUEST_IN_PROGRESS REQUEST_FINAL IDEMPOTENCY_IN_PROGRESS KEY_LIMIT_REACHED',
  413: 'PAYLOAD_TOO_LARGE',
  422: 'IDEMPOTENCY_MISMATCH',
  429: 'CREDIT_LIMIT_EXCEEDED RATE_LIMITED',
  500: 'GENERATION_FAILED INTERNAL_ERROR',
  503: 'IDENTITY_UNAVAILABLE SERVICE_UNAVAILABLE',
  504: 'TIMEOUT',
};

const statusOf = (code: ErrorCode) => errorCodes[code].status;
const allCodes = Object.keys(errorCodes) as ErrorCode[];

test('a fault of ours is a 5xx that is not said to be none, and no refusal of an identity', () => {
  const ours = allCodes.filter((code) => isFault(code, new ServiceError('TIMEOUT', '', { unpaid: 'wake' })));
  expect(ours).toEqual(['SERVICE_UNAVAILABLE', 'GENERATION_FAILED', 'INTERNAL_ERROR']);
  expect(isFault('TIMEOUT', new ServiceError('TIMEOUT', ''))).toBe(true);
});

test('the codes are those of section 7 and of the decisions, with their statuses, and no other', () => {
  const listed = Object.entries(codesByStatus).flatMap(([status, codes]) =>
    codes.split(' ').map((code) => `${status} ${code}`),
  );
  expect(allCodes.map((code) => `${statusOf(code)} ${code}`).sort()).toEqual(listed.sort());
});

describe('an error’s answer', () => {
  const isWaiting = (code: ErrorCode) =>
    [429, 503].includes(statusOf(code)) || code === 'IDEMPOTENCY_IN_PROGRESS';

  test.each(allCodes)(
    '%s: its status, exactly error and code, and Retry-After where waiting helps',
    (code) => {
      const cause = new Error('a detail of ours');
      const answer = errorAnswer(new ServiceError(code, 'A sentence.', { cause }));
      expect(answer.status).toBe(statusOf(code));
      expect(JSON.stringify(answer.body)).toBe(JSON.stringify({ error: 'A sentence.', code }));
      expect(JSON.stringify(answer)).not.toContain('a detail of ours');
      expect(answer.headers!['retry-after'] ?? null).toEqual(
        isWaiting(code) ? expect.stringMatching(/^[1-9][0-9]*$/) : null,
      );
    },
  );

  test('has the time to wait that the error knows better than its code', () => {
    const error = new ServiceError('RATE_LIMITED', 'Wait.', { retryAfterSeconds: 7 });
    expect(errorAnswer(error).headers!['retry-after']).toBe('7');
  });

  test('names the stored request when it is about one', () => {
    const error = new ServiceError('IDEMPOTENCY_IN_PROGRESS', 'Wait.', { requestId: 'the-first' });
    expect(errorAnswer(error).headers!['x-request-id']).toBe('the-first');
    expect(errorAnswer(new ServiceError('TIMEOUT', 'Late.')).headers).not.toHaveProperty('x-request-id');
  });
});

test('no sentence that a tool can answer names a route or a header', () => {
  expect(Object.values(agentWords).join()).not.toMatch(routeOrHeader);
  // What stands in the code is said in every format.
  const files = globSync('shared/*/*.ts', { cwd: repository }).filter(
    (file) => !/^shared\/(base|openapi|routes)\/|contract\.ts$/.test(file),
  );
  const codeOf = (file: string) =>
    readFileSync(inRepository(file), 'utf8').replace(/\/\*.*?\*\/|\/\/.*?$/gms, '');
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((file) => routeOrHeader.test(codeOf(file)))).toEqual([]);
});

test('a fault that a tool meets is answered with the id that it is looked up by', async () => {
  const body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_identities"}}';
  const request = readRequest({ httpMethod: 'POST', body } as never, 'the-id', 0);
  const call = { request, caller: {}, deps: {}, log: { error() {} } };
  const answer = await answerMessage(call as never, []);
  const error = 'Something went wrong on our side. Try again; if it persists, tell us this requestId.';
  const structuredContent = { error, code: 'INTERNAL_ERROR', requestId: 'the-id' };
  expect(answer.body).toMatchObject({ result: { isError: true, structuredContent } });
});
