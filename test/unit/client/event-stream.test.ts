import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { readEvents, type StreamEvent } from '../../../client/src/event-stream.ts';

async function* inPieces(pieces: Uint8Array[]): AsyncGenerator<Uint8Array, void, void> {
  yield* pieces;
}

async function read(...pieces: (string | Uint8Array)[]): Promise<StreamEvent[]> {
  const bytes = pieces.map((piece) => (typeof piece === 'string' ? new TextEncoder().encode(piece) : piece));
  const events: StreamEvent[] = [];
  for await (const event of readEvents(inPieces(bytes))) events.push(event);
  return events;
}

function cutAt(bytes: Uint8Array, cuts: number[]): Uint8Array[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, i) => bytes.subarray(places[i], end));
}

const oneLine = fc.string({ unit: 'binary', maxLength: 12 }).map((text) => text.replace(/[\r\n]/g, '¶'));
const field = fc.oneof(
  { weight: 4, arbitrary: oneLine.map((value) => ({ name: 'data', value })) },
  { weight: 2, arbitrary: oneLine.map((value) => ({ name: 'event', value })) },
  oneLine.map((value) => ({ name: '', value })),
  oneLine.map((value) => ({ name: 'id', value })),
  fc.constantFrom('Data', 'data ', 'retry', 'später').map((name) => ({ name, value: '7' })),
);
const ending = fc.constantFrom('\r\n', '\n', '\r');
/** A stream as blocks of lines, and how its lines end; the last block is ended, too. */
const stream = fc.record({
  mark: fc.boolean(),
  blocks: fc.array(fc.array(field, { maxLength: 5 }), { maxLength: 5 }),
  endings: fc.infiniteStream(ending),
});
type Stream = typeof stream extends fc.Arbitrary<infer Value> ? Value : never;

function written({ mark, blocks, endings }: Stream): Uint8Array {
  let text = mark ? '\uFEFF' : '';
  for (const line of blocks.flatMap((block) => [
    ...block.map(({ name, value }) => `${name}: ${value}`),
    '',
  ])) {
    const end = endings.next().value;
    // An empty line that ends in LF would be the second half of the CRLF that it makes with a CR before it.
    text += line === '' && end === '\n' && text.endsWith('\r') ? '\r' : `${line}${end}`;
  }
  return new TextEncoder().encode(text);
}

function meant({ blocks }: Stream): StreamEvent[] {
  const valuesOf = (block: Stream['blocks'][number], wanted: string) =>
    block.filter(({ name }) => name === wanted).map(({ value }) => value);
  return blocks
    .filter((block) => valuesOf(block, 'data').length > 0)
    .map((block) => ({
      event: valuesOf(block, 'event').at(-1) || 'message',
      data: valuesOf(block, 'data').join('\n'),
    }));
}

describe('an event stream', () => {
  test('gives the events that were written, wherever its bytes are cut and however its lines end', async () => {
    const cuts = fc.array(fc.nat(), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(stream, cuts, async (written_, places) => {
        const bytes = written(written_);
        expect(await read(...cutAt(bytes, places))).toEqual(meant(written_));
      }),
      { numRuns: 500 },
    );
  });

  test('is the same byte by byte as in one piece, whatever the bytes are', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc
        .array(fc.constantFrom('data', 'event', ':', ' ', '\r', '\n', '\r\n', '\uFEFF', '🎨', 'ź', 'x'))
        .map((parts) => new TextEncoder().encode(parts.join(''))),
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (all) => {
        const single = [...all].map((byte) => Uint8Array.of(byte));
        expect(await read(...single)).toEqual(await read(all));
      }),
      { numRuns: 500 },
    );
  });

  test('keeps a character that is cut in two', async () => {
    const bytes = new TextEncoder().encode('data: Łódź 🎨\n\n');
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(await read(...cutAt(bytes, [cut]))).toEqual([{ event: 'message', data: 'Łódź 🎨' }]);
    }
  });

  test('takes CR and LF for one line end also when they come apart', async () => {
    expect(await read('data: a\r', '\ndata: b\r', '', '\n\r', '\n')).toEqual([
      { event: 'message', data: 'a\nb' },
    ]);
  });

  test('ends a line at a lone CR without waiting for what comes next', async () => {
    expect(await read('event: started\rdata: {}\r\r')).toEqual([{ event: 'started', data: '{}' }]);
  });
});

describe('the examples of the standard', () => {
  test('data of several lines is joined by line feeds', async () => {
    expect(await read('data: YHOO\ndata: +2\ndata: 10\n\n')).toEqual([
      { event: 'message', data: 'YHOO\n+2\n10' },
    ]);
  });

  test('comments, ids and an event that the end cuts off are passed over', async () => {
    const text = ': test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event';
    expect(await read(text)).toEqual([
      { event: 'message', data: 'first event' },
      { event: 'message', data: 'second event' },
    ]);
  });

  test('a data field without a value is an event of empty data', async () => {
    expect(await read('data\n\ndata\ndata\n\ndata:')).toEqual([
      { event: 'message', data: '' },
      { event: 'message', data: '\n' },
    ]);
  });

  test('one space after the colon belongs to the format, a second one to the value', async () => {
    expect(await read('data:test\n\ndata: test\n\ndata:  test\n\ndata:\ttest\n\n')).toEqual(
      ['test', 'test', ' test', '\ttest'].map((data) => ({ event: 'message', data })),
    );
  });
});

describe('what is odd in a stream', () => {
  test('a byte order mark at the start is no part of the first line, and elsewhere it is', async () => {
    const mark = '\uFEFF';
    expect(await read(`${mark}data: a${mark}\n\n${mark}data: b\n\n`)).toEqual([
      { event: 'message', data: `a${mark}` },
    ]);
  });

  test('an event without data is none, and does not name the next one', async () => {
    expect(await read('event: started\n\ndata: {}\n\n')).toEqual([{ event: 'message', data: '{}' }]);
  });

  test('the last of several names counts, and a name is forgotten once its event was told', async () => {
    expect(await read('event: a\nevent: b\ndata: 1\n\ndata: 2\n\n')).toEqual([
      { event: 'b', data: '1' },
      { event: 'message', data: '2' },
    ]);
  });

  test('fields that nobody knows, or that are written otherwise, are passed over', async () => {
    expect(await read('retry: 10\nDATA: a\n data: b\nfoo\nfoo: bar\n\n')).toEqual([]);
  });

  test('bytes that are no UTF-8 cost their own place only', async () => {
    const bytes = Uint8Array.of(...new TextEncoder().encode('data: a'), 0xff, 0x0a, 0x0a);
    expect(await read(bytes, 'data: b\n\n')).toEqual([
      { event: 'message', data: 'a\uFFFD' },
      { event: 'message', data: 'b' },
    ]);
  });

  test('an empty stream has no events', async () => {
    expect(await read()).toEqual([]);
    expect(await read('')).toEqual([]);
    expect(await read('\uFEFF')).toEqual([]);
  });
});

describe('the reading', () => {
  test('tells an event as soon as it is whole, and throws what breaks the stream after it', async () => {
    const broken = new Error('connection lost');
    async function* chunks(): AsyncGenerator<Uint8Array, void, void> {
      yield new TextEncoder().encode('data: 1\n\ndata: 2');
      throw broken;
    }
    const events = readEvents(chunks());
    expect(await events.next()).toEqual({ done: false, value: { event: 'message', data: '1' } });
    await expect(events.next()).rejects.toBe(broken);
  });

  test('lets go of the stream when nobody wants more', async () => {
    let released = false;
    async function* chunks(): AsyncGenerator<Uint8Array, void, void> {
      try {
        for (;;) yield new TextEncoder().encode('data: 1\n\n');
      } finally {
        released = true;
      }
    }
    for await (const event of readEvents(chunks())) {
      expect(event.data).toBe('1');
      break;
    }
    expect(released).toBe(true);
  });
});
