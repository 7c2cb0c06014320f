import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { wantsEvents } from '../../../shared/http/event-stream.ts';

const wants = (...accept: string[]) => wantsEvents({ headers: new Map([['accept', accept]]) });

describe('server-sent events are for a client that prefers them to JSON', () => {
  test.each<[accept: string[], wanted: boolean]>([
    [['Text/Event-Stream; charset=utf-8'], true],
    [['text/event-stream, application/json;q=0.999'], true],
    [['*/*;q=0.1, text/event-stream;q=0.101'], true],
    [['application/json;q=0.5', 'text/event-stream'], true],
    // Who does not name events gets none, however little JSON is wanted.
    [['application/json;q=0, text/*, */*'], false],
    [['text/event-stream;q=0.9, */*'], false],
    [['text/event-stream;q=many'], false],
    [['text/event-stream;q=1.1'], false],
    [['xtext/event-stream'], false],
    [['text/event-stream/'], false],
    [[], false],
  ])('as %j says: %s', (accept, wanted) => expect(wants(...accept)).toBe(wanted));

  test('or sends no Accept at all, and gets none', () =>
    expect(wantsEvents({ headers: new Map() })).toBe(false));

  test('by weights alone, whatever stands around them', () => {
    const weight = fc.integer({ min: 0, max: 1000 });
    const order = fc.shuffledSubarray(['events', 'json', 'html'], { minLength: 3 });
    fc.assert(
      fc.property(weight, weight, order, (events, json, names) => {
        const ranges: Record<string, string> = {
          events: `text/event-stream;q=${(events / 1000).toFixed(3)}`,
          json: `application/json; q=${(json / 1000).toFixed(3)}`,
          html: 'text/html, */*;q=0.1',
        };
        expect(wants(names.map((name) => ranges[name]).join(' , '))).toBe(events > json);
      }),
    );
  });
});
