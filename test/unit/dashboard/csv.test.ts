import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { csvFile, withoutFormula } from '../../../dashboard/src/screens/overview/period-csv.ts';

/** Reads CSV by RFC 4180, character by character. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    let cell = '';
    if (text[at] === '"') {
      for (at += 1; text[at] !== '"' || text[at + 1] === '"'; at += 1) {
        if (at >= text.length) throw new Error('A quote is not closed.');
        if (text[at] === '"') at += 1;
        cell += text[at];
      }
      at += 1;
    } else {
      for (; at < text.length && !',\r\n"'.includes(text[at]!); at += 1) cell += text[at];
    }
    row.push(cell);
    if (text[at] === ',') at += 1;
    else if (text.startsWith('\r\n', at)) {
      rows.push(row);
      row = [];
      at += 2;
    } else throw new Error(`Neither a comma nor the end of a line at ${at}.`);
  }
  return rows;
}

const hostile = fc.string({
  unit: fc.constantFrom('"', ',', '\r', '\n', '=', '＝', '－', '@', "'", '\t', ';', ' ', 'é', '🎨'),
});

test('a CSV reader gives the cells back, except for the apostrophe before what begins like a formula', () => {
  const cell = fc.oneof(fc.string({ unit: 'grapheme' }), hostile);
  const rows = fc
    .integer({ min: 1, max: 5 })
    .chain((width) =>
      fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 6 }),
    );
  fc.assert(
    fc.property(rows, (cells) => {
      const text = csvFile(cells);
      expect(text[0]).toBe('\uFEFF');
      expect(readCsv(text.slice(1))).toEqual(cells.map((row) => row.map(withoutFormula)));
    }),
  );
});

test.each([
  ['=1+1', "'=1+1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t'=1"],
  ['=HYPERLINK("http://x","y")', `'=HYPERLINK("http://x","y")`],
  ['＝1+1', "'＝1+1"],
  ['－2', "'－2"],
  ['  ＋3', "'  ＋3"],
  ['﹫A1', "'﹫A1"],
  ['a sea; =1+1', "a sea;' =1+1"],
  ['a;"=1+1"', `a;'"=1+1"`],
  ['a\n＠x', "a\n'＠x"],
  ['\ta lake', '\ta lake'],
])('a text that begins like a formula is kept as text: %j', (text, kept) =>
  expect(readCsv(csvFile([[text]]).slice(1))).toEqual([[kept]]),
);

test('no formula begins behind what a spreadsheet may take for the end of a cell, whether it knows quotes or not', () => {
  fc.assert(
    fc.property(fc.array(hostile, { minLength: 1 }), (cells) => {
      const begins = csvFile([cells])
        .slice(1)
        .split(/[;\t\r\n]/)
        .map((cell) => cell.replace(/^[\s"]+/, '')[0]);
      expect(begins.filter((sign) => sign !== undefined && '=＝－@'.includes(sign))).toEqual([]);
    }),
  );
});

test('other texts and numbers are as they are', () => {
  expect(csvFile([['a calm night', 'a=b', "'", '', 0, -1]])).toBe("\uFEFFa calm night,a=b,',,0,-1\r\n");
});
