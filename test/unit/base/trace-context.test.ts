import { describe, expect, test } from '@jest/globals';
import { readTraceparent, traceFields } from '../../../shared/base/trace-context.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const sampled = `00-${traceId}-${parentId}-01`;

describe('a traceparent (W3C Trace Context Level 2, section 3.2)', () => {
  test.each([
    [sampled, sampled],
    [`00-${traceId}-${parentId}-03`, `00-${traceId}-${parentId}-03`],
    // Flags that have no meaning yet are set to 0, and a later version is read as far as this one goes.
    [`00-${traceId}-${parentId}-fd`, sampled],
    [`01-${traceId}-${parentId}-01`, sampled],
    [`cc-${traceId}-${parentId}-01-what-the-future-has`, sampled],
  ])('%s is passed on as %s', (header, expected) => {
    expect(readTraceparent(header)).toBe(expected);
    expect(traceFields(expected)).toEqual({ traceId });
  });

  test.each([
    [undefined],
    [''],
    ['00'],
    [`00-${traceId}-${parentId}`],
    [`00-${traceId}-${parentId}-01-`],
    [`00-${traceId}-${parentId}-01-more`],
    [`01-${traceId}-${parentId}-01more`],
    [`ff-${traceId}-${parentId}-01`],
    [`00-${traceId.toUpperCase()}-${parentId}-01`],
    [`00-${'0'.repeat(32)}-${parentId}-01`],
    [`00-${traceId}-${'0'.repeat(16)}-01`],
    [`00-${traceId}-${parentId}-0g`],
    [` ${sampled}`],
    [`${sampled}\n`],
    [`${sampled},${sampled}`],
  ])('%j is ignored', (header) => {
    expect([readTraceparent(header), traceFields(readTraceparent(header))]).toEqual([null, {}]);
  });
});
