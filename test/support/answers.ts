import { expect } from '@jest/globals';
import type { ApiAnswer } from './service.ts';

export const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Answers that must say when to come back. */
const isRetried = (status: number, code: string) =>
  status === 429 || status === 503 || code === 'IDEMPOTENCY_IN_PROGRESS';

/** What holds for every error of the API: its status and code, two members, JSON, an id, and when to come back. */
export function expectError(answer: ApiAnswer, status: number, code: string): void {
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
  expect(Object.keys(answer.body).sort()).toEqual(['code', 'error']);
  expect(answer.body.error).toMatch(/^\S.*[.!?]$/s);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.headers.get('x-request-id')).toMatch(uuid);
  if (isRetried(status, code)) expect(answer.headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/);
}

/** A body as it is, or an error of OpenAI's format as one of ours, for tests that ask every route. */
export function inOurShape(body: any): any {
  if (typeof body?.error !== 'object' || 'jsonrpc' in body) return body;
  const { message, type, param, code } = body.error;
  expect(body).toEqual({ error: { message, type, param, code } });
  expect([typeof type, param === null || typeof param === 'string']).toEqual(['string', true]);
  return { error: message, code };
}

/** What holds for every success. */
export function expectOk(answer: ApiAnswer): void {
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 200, body: {} });
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.headers.get('x-request-id')).toMatch(uuid);
}
