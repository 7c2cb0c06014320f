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
import { ServiceError } from '../../../shared/base/errors.ts';
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
  test('is one JSON object, whatever the content type says', () => {
    const request = requestOf({ body: ' {"a": 1}\n', multiValueHeaders: { 'Content-Type': ['text/plain'] } });
    expect(readJsonBody(request)).toEqual({ a: 1 });
  });

  test('is parsed once, however often it is read', () => {
    const request = requestOf({ body: '{"a": 1}' });
    expect(readJsonBody(request)).toBe(readJsonBody(request));
  });

  test('that the gateway encoded is read the same', () => {
    expect(bodyOf(Buffer.from('{"a": "é😀"}').toString('base64'), true)).toEqual({ a: 'é😀' });
  });

  test.each([
    ['nothing', ''],
    ['white space', '  \n'],
    ['null', 'null'],
    ['an array', '[{"prompt": "secret"}]'],
    ['a text', '"secret"'],
    ['a number', '5'],
    ['true', 'true'],
    ['a part of an object', '{"prompt": "secret"'],
    ['two objects', '{} {"prompt": "secret"}'],
    ['a form', 'prompt=secret'],
  ])('of %s is INVALID_BODY, without an echo of it', (_what, body) => {
    const { code, message } = refusalOf(() => bodyOf(body));
    expect(code).toBe('INVALID_BODY');
    expect(message).not.toContain('secret');
  });

  test('may have 1 MiB, and not a byte more, counted in bytes and not in characters', () => {
    const ofBytes = (bytes: number, filler: string) => {
      const room = bytes - '{"a":""}'.length;
      const text = filler.repeat(Math.floor(room / Buffer.byteLength(filler)));
      return `{"a":"${text}${'x'.repeat(room - Buffer.byteLength(text))}"}`;
    };
    for (const filler of ['a', 'é', '😀']) {
      expect(Buffer.byteLength(ofBytes(1024 * 1024, filler))).toBe(1024 * 1024);
      expect(() => bodyOf(ofBytes(1024 * 1024, filler))).not.toThrow();
      expect(refusalOf(() => bodyOf(ofBytes(1024 * 1024 + 1, filler))).code).toBe('PAYLOAD_TOO_LARGE');
    }
  });

  test('that is too large is so whether it is JSON or not', () => {
    expect(refusalOf(() => bodyOf('x'.repeat(1024 * 1024 + 1))).code).toBe('PAYLOAD_TOO_LARGE');
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
    ['a character cut short', Buffer.from('{"a":"\xc3"}', 'latin1')],
    ['an overlong character', Buffer.from('{"a":"\xc0\xaf"}', 'latin1')],
    ['an encoded surrogate', Buffer.from('{"a":"\xed\xa0\x80"}', 'latin1')],
    ['a byte order mark', Buffer.from('\ufeff{}')],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
  ])('with %s is INVALID_BODY, whether the gateway passes it as text or in base64', (_what, bytes) => {
    expect(refusalOf(() => bodyOf(bytes.toString('utf8'))).code).toBe('INVALID_BODY');
    expect(refusalOf(() => bodyOf(bytes.toString('base64'), true)).code).toBe('INVALID_BODY');
  });

  describe('with a Content-Encoding', () => {
    const encoded = (...values: string[]) =>
      requestOf({ body: '{}', multiValueHeaders: { 'CONTENT-encoding': values } });

    test.each([
      [['identity']],
      [['Identity ']],
      [['identity, identity']],
      [['']],
      [['identity', 'identity']],
    ])('of %j is read', (values) => expect(readJsonBody(encoded(...values))).toEqual({}));

    test.each([[['gzip']], [['GZIP']], [['br']], [['identity, gzip']], [['identity', 'deflate']], [['x']]])(
      'of %j is refused, and told to be sent uncompressed',
      (values) => {
        const { code, message } = refusalOf(() => readJsonBody(encoded(...values), { mayBeEmpty: true }));
        expect([code, message]).toEqual(['INVALID_BODY', expect.stringContaining('uncompressed')]);
      },
    );
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
    ['of another case', { Limit: ['2'] }, '"Limit"'],
    ['of every object', { constructor: ['2'] }, '"constructor"'],
    ['sent twice', { limit: ['1', '2'] }, 'limit'],
    ['sent twice alike', { limit: ['1', '1'] }, 'limit'],
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

  test('with more problems than are named is refused saying so', () => {
    const query = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`extra${i}`, ['1']]));
    const { message } = refusalOf(() => queryOf(query));
    expect(message.includes('"extra29"') || message.includes('more')).toBe(true);
  });
});

describe('a header', () => {
  const headersOf = (multiValueHeaders: Record<string, string[]>) => requestOf({ multiValueHeaders });

  test('is found whatever its case', () => {
    expect(singleHeader(headersOf({ 'X-Thing': ['a'] }), 'x-thing')).toBe('a');
  });

  test('that was sent twice is nobody’s, also in two spellings', () => {
    expect(singleHeader(headersOf({ 'X-Thing': ['a', 'b'] }), 'x-thing')).toBeUndefined();
    expect(singleHeader(headersOf({ 'X-Thing': ['a'], 'x-thing': ['a'] }), 'x-thing')).toBeUndefined();
  });

  test('that was not sent is absent', () => expect(singleHeader(headersOf({}), 'x-thing')).toBeUndefined());
});

test('every response carries the id of its request from the beginning', () => {
  expect(requestOf({}).responseHeaders['x-request-id']).toBe('the-id');
});

describe('checks together', () => {
  const wrong = (code: 'INVALID_PARAMETERS' | 'INVALID_BODY', sentence: string) => () => {
    throw new ServiceError(code, sentence);
  };

  test('give back what each found', () => {
    expect(
      collectErrors(
        () => 1,
        () => 'two',
        () => undefined,
      ),
    ).toEqual([1, 'two', undefined]);
  });

  test('tell all that is wrong in one refusal', () => {
    const checks = [
      wrong('INVALID_PARAMETERS', 'a is wrong.'),
      () => 1,
      wrong('INVALID_PARAMETERS', 'b too.'),
    ];
    const { code, message } = refusalOf(() => collectErrors(...checks));
    expect([code, message]).toEqual(['INVALID_PARAMETERS', 'a is wrong. b too.']);
  });

  test('leave every other refusal as it is', () => {
    const checks = [wrong('INVALID_PARAMETERS', 'a is wrong.'), wrong('INVALID_BODY', 'no JSON.')];
    expect(refusalOf(() => collectErrors(...checks))).toMatchObject({
      code: 'INVALID_BODY',
      message: 'no JSON.',
    });
  });
});
