import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { generationStatuses, generationTypes } from '../../../shared/base/generation-kinds.ts';
import { isRequestId } from '../../../shared/base/ids.ts';
import { filterParameters, readFilter } from '../../../shared/http/generation-filter.ts';
import { readCursor, readLimit, writeCursor } from '../../../shared/http/paging.ts';
import { anyId, anyInstantMs, anyRequestId, inheritedNames, refusalOf } from '../../support/unit-samples.ts';

describe('limit', () => {
  test('is 20 when it was not sent', () => expect(readLimit(undefined)).toBe(20));

  test.each([1, 100])('%i is taken', (limit) => expect(readLimit(String(limit))).toBe(limit));

  test.each([...'0 101 -1 +5 1.5 1e1 0x10 ten ٥'.split(' '), '', ' 5', '5\n'])(
    '%j is refused, naming limit',
    (sent) => {
      const { code, message } = refusalOf(() => readLimit(sent));
      expect(code).toBe('INVALID_PARAMETERS');
      expect(message).toContain('limit');
    },
  );
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
    ['nothing', ''],
    ['the id in upper case', encoded(requestId.replace(/^.{8}/, 'ABCDEF01'))],
    ['an id and a line break', encoded(`${requestId}\n`)],
    ['a cursor with padding', `${writeCursor(requestId)}=`],
    ['a cursor with a space', `${writeCursor(requestId)} `],
    ['a cursor cut short', writeCursor(requestId).slice(0, -1)],
    ['base64 that decodes to the id, and junk', `${writeCursor(requestId)}!`],
    ['letters beyond Latin-1 that fold into the id', `${writeCursor(requestId).slice(0, -1)}\u0141`],
  ])('%s is refused, naming cursor', (_what, sent) => {
    const { code, message } = refusalOf(() => readCursor(sent));
    expect(code).toBe('INVALID_PARAMETERS');
    expect(message).toContain('cursor');
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
  test('narrows nothing when nothing was sent', () => {
    expect(readFilter({})).toEqual({});
  });

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

  test('takes a time with any zone', () => {
    expect(readFilter({ createdAfter: '2026-11-01T00:00:00+02:00' })).toEqual({
      createdAfterMs: Date.UTC(2026, 9, 31, 22),
    });
  });

  test.each([
    ['  A\tlighthouse \n at a\u3000BAY ', ['a', 'lighthouse', 'at', 'bay']],
    ['x'.repeat(200), ['x'.repeat(200)]],
    ['\u{1f600}'.repeat(200), ['\u{1f600}'.repeat(200)]],
  ])('search %j looks for words', (search, words) => expect(readFilter({ search })).toEqual({ words }));

  const refused: Record<string, [begin: string, texts: string[]]> = {
    status: [
      'one of QUEUED, PROCESSING, COMPLETED, FAILED, TIMEOUT.',
      ['', 'completed', 'COMPLETED ', 'COMPLETED,FAILED', ...inheritedNames],
    ],
    type: [
      'one of text_to_image, reference, exact_product.',
      ['', 'Reference', 'text_to_image ', ...inheritedNames],
    ],
    identityId: ['', ['', '_x', 'a#b', 'x'.repeat(65), 'idn_1\n']],
    keyId: ['', ['', 'Playground', 'acct_x', 'key_1']],
    createdAfter: ['', ['', 'now', '2026-11-01T00:00:00', '+010000-01-01T00:00:00Z']],
    createdBefore: ['', ['', 'now', '2026-11-01T00:00:00', '+010000-01-01T00:00:00Z']],
    search: ['', ['', ' \n', 'x'.repeat(201), 'a\0', '\ud800']],
  };
  test.each(
    Object.entries(refused).flatMap(([name, [begin, texts]]) => texts.map((sent) => ({ name, begin, sent }))),
  )('$name may not be $sent', ({ name, begin, sent }) => {
    const { code, message } = refusalOf(() => readFilter({ [name]: sent }));
    expect(code).toBe('INVALID_PARAMETERS');
    expect(message.startsWith(`${name} must be ${begin}`)).toBe(true);
  });

  test('names everything that is wrong in one sentence', () => {
    const wrong = Object.fromEntries(filterParameters.map((name) => [name, '']));
    const { message } = refusalOf(() => readFilter(wrong));
    const names = ['identityId', 'status', 'type', 'keyId', 'createdAfter', 'createdBefore', 'search'];
    expect(message.split('; ').map((problem) => problem.split(' must ')[0])).toEqual(names);
  });
});
