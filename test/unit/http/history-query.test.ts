import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { generationStatuses, generationTypes } from '../../../shared/base/generation-kinds.ts';
import { isRequestId } from '../../../shared/base/ids.ts';
import { filterParameters, readFilter } from '../../../shared/http/generation-filter.ts';
import { readCursor, readLimit, writeCursor } from '../../../shared/http/paging.ts';
import { anyId, anyInstantMs, anyRequestId, inheritedNames, refusalOf } from '../../support/unit-samples.ts';

test('a page has 20 requests when no limit was sent', () => expect(readLimit(undefined)).toBe(20));

// The schema of the OpenAPI document says the same of its edges: test/unit/openapi/requests.test.ts.
test.each([...'+5 1.5 1e1 0x10 ten ٥'.split(' '), '', ' 5', '5\n'])('%j is no limit', (sent) => {
  const { code, message } = refusalOf(() => readLimit(sent));
  expect([code, message]).toEqual(['INVALID_PARAMETERS', expect.stringContaining('limit')]);
});

describe('cursor', () => {
  test('is the first page when it was not sent', () => expect(readCursor(undefined)).toBeNull());

  test('reads back the request that it was made of, and fits into an address as it is', () => {
    fc.assert(
      fc.property(anyRequestId, (requestId) => {
        const cursor = writeCursor(requestId);
        expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(readCursor(cursor)).toBe(requestId);
      }),
    );
  });

  const [requestId] = fc.sample(anyRequestId, 1) as [string];
  const encoded = (text: string) => Buffer.from(text).toString('base64url');

  test.each([
    ['the id in upper case', encoded(requestId.replace(/^.{8}/, 'ABCDEF01'))],
    ['a cursor with padding', `${writeCursor(requestId)}=`],
    ['a cursor cut short', writeCursor(requestId).slice(0, -1)],
    ['letters beyond Latin-1 that fold into the id', `${writeCursor(requestId).slice(0, -1)}\u0141`],
  ])('%s is refused, naming cursor', (_what, sent) => {
    const { code, message } = refusalOf(() => readCursor(sent));
    expect([code, message]).toEqual(['INVALID_PARAMETERS', expect.stringContaining('cursor')]);
  });

  test('a forged one is refused, or names a request id and is the one cursor of it', () => {
    const otherCharacter = fc.string({ minLength: 1, maxLength: 1 });
    const oneChanged = fc
      .tuple(anyRequestId.map(writeCursor), fc.nat({ max: 47 }), otherCharacter)
      .map(([cursor, place, other]) => cursor.slice(0, place) + other + cursor.slice(place + 1));
    const forged = fc.oneof(fc.string({ maxLength: 60 }), fc.base64String({ maxLength: 60 }), oneChanged);
    fc.assert(
      fc.property(forged, (sent) => {
        let read: string | null = null;
        try {
          read = readCursor(sent);
        } catch {
          return;
        }
        expect(isRequestId(read!)).toBe(true);
        expect(writeCursor(read!)).toBe(sent);
      }),
    );
  });
});

describe('the filter of a history', () => {
  test('is what was sent, in any combination', () => {
    const members = {
      identityId: anyId,
      status: fc.constantFrom(...generationStatuses),
      type: fc.constantFrom(...generationTypes),
      keyId: fc.constantFrom('playground', `key_${'0a'.repeat(16)}`),
      createdAfter: anyInstantMs.map((ms) => new Date(ms).toISOString()),
      createdBefore: anyInstantMs.map((ms) => new Date(ms).toISOString()),
    };
    const anyQuery = fc.record(members, { requiredKeys: [] });
    fc.assert(
      fc.property(anyQuery, ({ createdAfter, createdBefore, ...same }) =>
        expect(readFilter({ createdAfter, createdBefore, ...same })).toEqual({
          ...same,
          ...(createdAfter && { createdAfterMs: Date.parse(createdAfter) }),
          ...(createdBefore && { createdBeforeMs: Date.parse(createdBefore) }),
        }),
      ),
    );
  });

  test('takes a time with any zone', () =>
    expect(readFilter({ createdAfter: '2026-11-01T00:00:00+02:00' })).toEqual({
      createdAfterMs: Date.UTC(2026, 9, 31, 22),
    }));

  test.each([
    ['  A\tlighthouse \n at a\u3000BAY ', ['a', 'lighthouse', 'at', 'bay']],
    ['x'.repeat(200), ['x'.repeat(200)]],
    ['\u{1f600}'.repeat(200), ['\u{1f600}'.repeat(200)]],
  ])('search %j looks for words', (search, words) => expect(readFilter({ search })).toEqual({ words }));

  const noTimes = ['', 'now', '2026-11-01T00:00:00', '+010000-01-01T00:00:00Z'];
  const refused: Record<string, [rule: string, ...texts: string[]]> = {
    status: ['one of QUEUED, PROCESSING, COMPLETED, FAILED, TIMEOUT.', '', 'COMPLETED ', ...inheritedNames],
    type: ['one of text_to_image, reference, exact_product.', '', 'Reference', ...inheritedNames],
    identityId: ['', '', '_x', 'a#b', 'x'.repeat(65), 'idn_1\n'],
    keyId: ['', '', 'Playground', 'acct_x', 'key_1'],
    createdAfter: ['', ...noTimes],
    createdBefore: ['', ...noTimes],
    search: ['', '', ' \n', 'x'.repeat(201), 'a\0', '\ud800'],
  };
  test.each(Object.entries(refused))('refuses a wrong %s by its rule', (name, [rule, ...texts]) => {
    for (const sent of texts) {
      const { code, message } = refusalOf(() => readFilter({ [name]: sent }));
      expect([sent, code]).toEqual([sent, 'INVALID_PARAMETERS']);
      expect(message.startsWith(`${name} must be ${rule}`)).toBe(true);
    }
  });

  test('names everything that is wrong in one sentence', () => {
    const wrong = Object.fromEntries(filterParameters.map((name) => [name, '']));
    const { message } = refusalOf(() => readFilter(wrong));
    expect(message.split('; ').map((problem) => problem.split(' must ')[0])).toEqual(filterParameters);
  });
});
