import type { Random } from '../faults/simulation/random.ts';

/** What befalls a request and its answer: at so many bytes behind a mark, in one of the two directions. */
export interface Fate {
  direction: 'request' | 'answer';
  /** A text, or nothing for the first byte. */
  mark: string;
  /** Negative: inside the mark. */
  bytesMore: number;
  how: 'passes' | 'is reset' | 'is closed' | 'is late' | 'stalls';
  lateMs: number;
}

/** Where a client's understanding of a request or an answer changes. */
const marks = {
  request: ['', '\r\n\r\n', 'dempotency-', '"prompt"'],
  answer: [
    '',
    'HTTP/1.1 ',
    '\r\n\r\n',
    'x-request-id',
    'X-Request-Id',
    'retry-after',
    'event: accepted',
    'event: started',
    'event: progress',
    'event: completed',
    '"requestId"',
    '"outputs"',
    '"usage"',
    '"status"',
    '"code"',
    // The end of a body in chunks.
    '\r\n0\r\n',
  ],
};

// A stall costs its client up to 45 seconds: it is rare.
const hows = { 'is reset': 45, 'is closed': 45, 'is late': 8, stalls: 1 };

/** @param mayStall whether a connection may also fall silent */
export function drawFate(random: Random, mayStall: boolean): Fate {
  const direction = random.chance(0.3) ? 'request' : 'answer';
  const passes = random.chance(0.5);
  const mark = random.pick(marks[direction]);
  // Anywhere, or near a mark: before its end, right behind it, or in what follows.
  const bytesMore =
    mark === '' ? random.int(0, random.pick([2, 900, 3000])) : random.int(-3, random.pick([3, 60]));
  return {
    direction,
    mark,
    bytesMore,
    how: passes ? 'passes' : random.weighted({ ...hows, stalls: mayStall ? hows.stalls : 0 }),
    lateMs: random.int(20, 1500),
  };
}
