import { describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as z from 'zod/mini';
import {
  readBody,
  readJsonBody,
  readQuery,
  readRequest,
  singleHeader,
  collectErrors,
} from '../../../shared/http/request.ts';
import { ServiceError, type ErrorCode } from '../../../shared/base/errors.ts';
import { refusalOf } from '../../support/unit-samples.ts';

function requestOf(event: Partial<APIGatewayProxyEvent>) {
  return readRequest({ httpMethod: 'POST', ...event } as APIGatewayProxyEvent, 'the-id', 0);
}
const bodyOf = (body: string, isBase64Encoded = false) => readJsonBody(requestOf({ body, isBase64Encoded }));

test.each([
  ['a1.execute-api.test', '/prod/api/v1/x', 'https://a1.execute-api.test/prod/api/v1'],
  ['api.example.com', '/api/v1/x', 'https://api.example.com/api/v1'],
  [undefined, '/prod/api/v1/x', '/prod/api/v1'],
])('asked at %s for %s, as the gateway says, it stands below %s', (domainName, path, expected) => {
  const { origin, basePath } = requestOf({ requestContext: { domainName, path } } as never);
  expect(origin + basePath).toBe(expected);
});

describe('a body', () => {
  test('is one JSON object, whatever the content type says, and is parsed once', () => {
    const request = requestOf({ body: ' {"a": 1}\n', multiValueHeaders: { 'Content-Type': ['text/plain'] } });
    expect(readJsonBody(request)).toEqual({ a: 1 });
    expect(readJsonBody(request)).toBe(readJsonBody(request));
  });

  test('that the gateway encoded is read the same', () => {
    expect(bodyOf(Buffer.from('{"a": "é😀"}').toString('base64'), true)).toEqual({ a: 'é😀' });
  });

  test.each(['', 'null', '[{"prompt": "secret"}]', '{"prompt": "secret"', '{} {"prompt": "secret"}'])(
    'that is %j is INVALID_BODY, without an echo of it',
    (body) => {
      const { code, message } = refusalOf(() => bodyOf(body));
      expect(code).toBe('INVALID_BODY');
      expect(message).not.toContain('secret');
    },
  );

  test('may have 1 MiB, and not a byte more, JSON or not, counted in bytes and not in characters', () => {
    const maxBytes = 1024 * 1024;
    const refusal = (body: string) => refusalOf(() => bodyOf(body)).code;
    expect(refusal('x'.repeat(maxBytes + 1))).toBe('PAYLOAD_TOO_LARGE');
    for (const filler of ['a', '😀']) {
      const room = maxBytes - '{"a":""}'.length;
      const text = filler.repeat(room / Buffer.byteLength(filler));
      expect(bodyOf(`{"a":"${text}"}`)).toEqual({ a: text });
      expect(refusal(`{"a":"${text}x"}`)).toBe('PAYLOAD_TOO_LARGE');
    }
  });

  test('that was not sent is INVALID_BODY, but where it may be left out', () => {
    const nothing = requestOf({ body: null });
    expect(refusalOf(() => readJsonBody(nothing)).code).toBe('INVALID_BODY');
    expect(readJsonBody(nothing, { mayBeEmpty: true })).toEqual({});
    expect(readBody(nothing, z.strictObject({}), { mayBeEmpty: true })).toEqual({});
    for (const body of [' ', 'null', '[]']) {
      const { code } = refusalOf(() => readJsonBody(requestOf({ body }), { mayBeEmpty: true }));
      expect([body, code]).toEqual([body, 'INVALID_BODY']);
    }
  });

  test.each([
    ['a byte that is no UTF-8', Buffer.from('{"a":"\xff"}', 'latin1')],
    ['an encoded surrogate', Buffer.from('{"a":"\xed\xa0\x80"}', 'latin1')],
    ['a byte order mark', Buffer.from('\ufeff{}')],
  ])('with %s is INVALID_BODY, whether the gateway passes it as text or in base64', (_what, bytes) => {
    expect(refusalOf(() => bodyOf(bytes.toString('utf8'))).code).toBe('INVALID_BODY');
    expect(refusalOf(() => bodyOf(bytes.toString('base64'), true)).code).toBe('INVALID_BODY');
  });

  describe('with a Content-Encoding', () => {
    const encoded = (...values: string[]) =>
      requestOf({ body: '{}', multiValueHeaders: { 'CONTENT-encoding': values } });

    test.each<[values: string[], isRead: boolean]>([
      [['Identity '], true],
      [['identity, identity'], true],
      [['identity', 'identity'], true],
      [[''], true],
      [['gzip'], false],
      [['identity, gzip'], false],
      [['identity', 'deflate'], false],
    ])('of %j is read: %s, else it shall be sent uncompressed', (values, isRead) => {
      const read = () => readJsonBody(encoded(...values), { mayBeEmpty: true });
      if (isRead) return expect(read()).toEqual({});
      const uncompressed = expect.stringContaining('uncompressed');
      return expect(refusalOf(read)).toMatchObject({ code: 'INVALID_BODY', message: uncompressed });
    });
  });
});

describe('a query', () => {
  const queryOf = (query: Record<string, string[]>) =>
    readQuery(requestOf({ multiValueQueryStringParameters: query }), ['limit', 'cursor']);

  test('has the parameters that were sent, as they were sent', () => {
    expect(queryOf({ limit: ['5'], cursor: [''] })).toEqual({ limit: '5', cursor: '' });
    expect(readQuery(requestOf({ multiValueQueryStringParameters: null }), ['limit'])).toEqual({});
  });

  test.each([
    ['unknown', { page: ['2'] }, '"page"'],
    ['of every object', { constructor: ['2'] }, '"constructor"'],
    ['sent twice', { limit: ['1', '2'] }, 'limit'],
    ['with a hostile name', { 'a\x1b[2J\n"': ['1'] }, '"a?[2J??"'],
  ])('with a parameter %s is refused by its name', (_what, query, named) => {
    const { code, message } = refusalOf(() => queryOf(query as unknown as Record<string, string[]>));
    expect(code).toBe('INVALID_PARAMETERS');
    expect(message).toContain(named);
    expect(message).toMatch(/^[ -~]+$/);
  });

  test('with several problems is refused by all of them', () => {
    const { message } = refusalOf(() => queryOf({ page: ['1'], limit: ['1', '2'], size: ['3'] }));
    for (const name of ['"page"', 'limit', '"size"']) expect(message).toContain(name);
  });
});

test('a header is found whatever its case, and is nobody’s where it was sent twice, also in two spellings', () => {
  const thing = (multiValueHeaders: Record<string, string[]>) =>
    singleHeader(requestOf({ multiValueHeaders }), 'x-thing');
  expect(thing({ 'X-Thing': ['a'] })).toBe('a');
  for (const none of [{}, { 'X-Thing': ['a', 'b'] }, { 'X-Thing': ['a'], 'x-thing': ['a'] }])
    expect(thing(none)).toBeUndefined();
});

test('checks together give back what each found, or name all that is wrong in one refusal, but leave any other as it is', () => {
  const wrong = (code: ErrorCode, sentence: string) => () => {
    throw new ServiceError(code, sentence);
  };
  const [a, b] = ['a is wrong.', 'b too.'].map((sentence) => wrong('INVALID_PARAMETERS', sentence));
  const one = () => 1;
  expect(collectErrors(one, () => 'two')).toEqual([1, 'two']);
  const both = { code: 'INVALID_PARAMETERS', message: 'a is wrong. b too.' };
  expect(refusalOf(() => collectErrors(a!, one, b!))).toMatchObject(both);
  const other = { code: 'INVALID_BODY', message: 'no JSON.' };
  expect(refusalOf(() => collectErrors(a!, wrong('INVALID_BODY', 'no JSON.')))).toMatchObject(other);
});
