import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { wantsEvents } from '../../../shared/http/event-stream.ts';

const wants = (...accept: string[]) => wantsEvents({ headers: new Map([['accept', accept]]) });

describe('server-sent events are for a client that prefers them to JSON', () => {
  test.each([
    'text/event-stream',
    'Text/Event-Stream; charset=utf-8',
    'text/event-stream, application/json;q=0.999',
    'application/json;q=0, text/event-stream;q=0.1',
    'text/event-stream;q=0.001',
    '*/*;q=0.1, text/event-stream;q=0.2',
  ])('which %s says', (accept) => expect(wants(accept)).toBe(true));

  test.each([
    '*/*',
    // Who does not name events gets none, however little JSON is wanted.
    'application/json;q=0, */*',
    'text/*, application/*;q=0.5',
    'application/json, text/event-stream',
    'text/event-stream;q=0.9, */*',
    'text/event-stream;q=0.000, text/*',
    'text/event-stream;q=many',
    'text/event-stream;q=-1',
    'text/event-stream;q=1.1',
    'xtext/event-stream',
    'text/event-stream/',
  ])('which %j does not', (accept) => expect(wants(accept)).toBe(false));

  test('in however many headers it says so, and not without any', () => {
    expect(wants('application/json;q=0.5', 'text/event-stream')).toBe(true);
    expect(wants('text/event-stream', 'application/json')).toBe(false);
    expect(wantsEvents({ headers: new Map() })).toBe(false);
  });

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
