import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { readCursor, readLimit, writeCursor } from '../../../shared/http/paging.ts';
import { anyRequestId, refusalOf } from '../../support/unit-samples.ts';

describe('limit', () => {
  test('is 20 when it was not sent', () => expect(readLimit(undefined)).toBe(20));

  test.each([
    ['1', 1],
    ['20', 20],
    ['99', 99],
    ['100', 100],
  ])('%s is taken', (sent, limit) => expect(readLimit(sent)).toBe(limit));

  test.each([
    '0',
    '101',
    '1000',
    '-1',
    '+5',
    '1.5',
    '5.0',
    '1e1',
    '0x10',
    '',
    ' ',
    ' 5',
    '5 ',
    '5\n',
    'ten',
    '٥',
    '５',
  ])('%j is refused, naming limit', (sent) => {
    const { code, message } = refusalOf(() => readLimit(sent));
    expect(code).toBe('INVALID_PARAMETERS');
    expect(message).toContain('limit');
  });
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
    ['a request id itself', requestId],
    ['the id in upper case', encoded(requestId.replace(/^.{8}/, 'ABCDEF01'))],
    ['a text that is no id', encoded('GEN#' + requestId)],
    ['two ids', encoded(requestId + requestId)],
    ['an id and a line break', encoded(`${requestId}\n`)],
    ['an id of another version', encoded('3f2504e0-4f89-41d3-9a0c-0305e82c3301')],
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
    const forged = fc.oneof(
      fc.string({ maxLength: 60 }),
      fc.base64String({ maxLength: 60 }),
      fc
        .tuple(anyRequestId, fc.nat({ max: 47 }), fc.string({ minLength: 1, maxLength: 1 }))
        .map(
          ([id, place, other]) => writeCursor(id).slice(0, place) + other + writeCursor(id).slice(place + 1),
        ),
    );
    fc.assert(
      fc.property(forged, (sent) => {
        let read: string | null = null;
        try {
          read = readCursor(sent);
        } catch {
          return;
        }
        expect(read).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(writeCursor(read!)).toBe(sent);
      }),
    );
  });
});
