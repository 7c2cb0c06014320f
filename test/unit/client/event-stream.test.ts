import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { readEvents, type StreamEvent } from '../../../clients/typescript/src/event-stream.ts';
import { anyCharacter } from '../../support/any-character.ts';

const encode = (text: string) => new TextEncoder().encode(text);

async function read(...pieces: (string | Uint8Array)[]): Promise<StreamEvent[]> {
  async function* chunks(): AsyncGenerator<Uint8Array, void, void> {
    for (const piece of pieces) yield typeof piece === 'string' ? encode(piece) : piece;
  }
  const events: StreamEvent[] = [];
  for await (const event of readEvents(chunks())) events.push(event);
  return events;
}

function cutAt(bytes: Uint8Array, cuts: number[]): Uint8Array[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, i) => bytes.subarray(places[i], end));
}

const oneLine = fc.string({ unit: anyCharacter, maxLength: 12 }).map((text) => text.replace(/[\r\n]/g, '¶'));
const field = fc.oneof(
  { weight: 4, arbitrary: oneLine.map((value) => ({ name: 'data', value })) },
  { weight: 2, arbitrary: oneLine.map((value) => ({ name: 'event', value })) },
  { weight: 2, arbitrary: fc.record({ name: fc.constantFrom('', 'id'), value: oneLine }) },
  fc.constantFrom('Data', 'data ', 'retry', 'später').map((name) => ({ name, value: '7' })),
);
/** A stream as blocks of lines, each line with its end. */
const stream = fc.record({
  mark: fc.boolean(),
  blocks: fc.array(fc.array(field, { maxLength: 5 }), { maxLength: 5 }),
  endings: fc.infiniteStream(fc.constantFrom('\r\n', '\n', '\r')),
});
type Stream = typeof stream extends fc.Arbitrary<infer Value> ? Value : never;

function bytesOf({ mark, blocks, endings }: Stream): Uint8Array {
  let text = mark ? '\uFEFF' : '';
  const lines = blocks.flatMap((block) => [...block.map(({ name, value }) => `${name}: ${value}`), '']);
  for (const line of lines) {
    const end = endings.next().value;
    // After a CR, an empty line that ends in LF would only be the second half of a CRLF.
    text += line === '' && end === '\n' && text.endsWith('\r') ? '\r' : `${line}${end}`;
  }
  return encode(text);
}

function eventsOf({ blocks }: Stream): StreamEvent[] {
  return blocks.flatMap((block) => {
    const valuesOf = (wanted: string) =>
      block.filter(({ name }) => name === wanted).map(({ value }) => value);
    const data = valuesOf('data');
    return data.length > 0 ? [{ event: valuesOf('event').at(-1) || 'message', data: data.join('\n') }] : [];
  });
}

test('gives the events that were written, however their lines end and wherever the bytes are cut', async () => {
  const property = fc.asyncProperty(stream, fc.array(fc.nat(), { maxLength: 12 }), async (written, cuts) =>
    expect(await read(...cutAt(bytesOf(written), cuts))).toEqual(eventsOf(written)),
  );
  await fc.assert(property, { numRuns: 500 });
});

test('gives the same byte by byte as in one piece, whatever the bytes are', async () => {
  const parts = fc.constantFrom('data', 'event', ':', ' ', '\r', '\n', '\r\n', '\uFEFF', '🎨', 'ź', 'x');
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc.array(parts).map((all) => encode(all.join(''))),
  );
  const property = fc.asyncProperty(bytes, async (all) => {
    const single = [...all].map((byte) => Uint8Array.of(byte));
    expect(await read(...single)).toEqual(await read(all));
  });
  await fc.assert(property, { numRuns: 500 });
});

// Besides what the properties hold; some are the examples of the standard.
describe('the format', () => {
  const mark = '\uFEFF';
  const cases: [string, (string | Uint8Array)[], string[]][] = [
    [
      'comments, ids and an event that the end cuts off are ignored',
      [': test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event'],
      ['first event', 'second event'],
    ],
    ['a data field without a value is empty data', ['data\n\ndata\ndata\n\ndata:'], ['', '\n']],
    [
      'one space after the colon belongs to the format',
      ['data:test\n\ndata: test\n\ndata:  test\n\ndata:\ttest\n\n'],
      ['test', 'test', ' test', '\ttest'],
    ],
    [
      'a byte order mark is ignored at the start of the stream only',
      [`${mark}data: a${mark}\n\n${mark}data: b\n\n`],
      [`a${mark}`],
    ],
    ['a field without a colon is ignored', ['foo\n data: b\n\n'], []],
    [
      'each byte that is no UTF-8 is replaced',
      [Uint8Array.of(...encode('data: a'), 0xff, 0x0a, 0x0a), 'data: b\n\n'],
      ['a\uFFFD', 'b'],
    ],
  ];

  test.each(cases)('%s', async (_rule, pieces, expected) => {
    expect(await read(...pieces)).toEqual(expected.map((data) => ({ event: 'message', data })));
  });
});

test('an event is given as soon as it is whole, and the error that breaks the stream is thrown after it', async () => {
  const broken = new Error('connection lost');
  async function* chunks(): AsyncGenerator<Uint8Array, void, void> {
    yield encode('data: 1\n\ndata: 2');
    throw broken;
  }
  const events = readEvents(chunks());
  expect(await events.next()).toEqual({ done: false, value: { event: 'message', data: '1' } });
  await expect(events.next()).rejects.toBe(broken);
});

test('the stream is released when the reader stops early', async () => {
  let released = false;
  async function* chunks(): AsyncGenerator<Uint8Array, void, void> {
    try {
      for (;;) yield encode('data: 1\n\n');
    } finally {
      released = true;
    }
  }
  for await (const { data } of readEvents(chunks())) {
    expect(data).toBe('1');
    break;
  }
  expect(released).toBe(true);
});
