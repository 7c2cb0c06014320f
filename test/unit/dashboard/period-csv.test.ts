import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ApiError } from '../../../dashboard/src/api/api-error.ts';
import { csvFile, withoutFormula } from '../../../dashboard/src/lib/requests-csv.ts';
import { periodCsv, type CsvProgress } from '../../../dashboard/src/screens/overview/period-csv.ts';
import { storedGeneration } from '../../support/stored-generation.ts';

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
  ['－2', "'－2"],
  ['  ＋3', "'  ＋3"],
  ['a sea; =1+1', "a sea;' =1+1"],
  ['a;"=1+1"', `a;'"=1+1"`],
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

test('other texts and numbers are as they are', () =>
  expect(csvFile([['a calm night', 'a=b', "'", '', 0, -1]])).toBe("\uFEFFa calm night,a=b,',,0,-1\r\n"));

const stats = {
  billingPeriodStart: '2026-11-01T00:00:00.000Z',
  billingPeriodEnd: '2026-12-01T00:00:00.000Z',
};
const nowMs = Date.parse('2026-11-11T00:00:00.000Z');
const busy = new ApiError('Busy.', { status: 429, code: 'RATE_LIMITED', retryAfterSeconds: 7 });
const away = new ApiError('Away.', { status: 503, code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 0 });
const broken = new ApiError('No answer.', { status: 0, code: 'NETWORK' });

const stored = (id: string, keyId: string | null) => ({
  ...storedGeneration,
  id,
  keyId,
  status: 'QUEUED',
  completedAt: null,
  prompt: `prompt of ${id}`,
});
const newerKeys = { keys: [{ keyId: 'key_2', name: 'app' }], nextCursor: 'older' };
const keys = { keys: [{ keyId: 'key_1', name: 'CI' }], nextCursor: null };
const first = {
  generations: [stored('r3', 'key_1'), stored('r2', null)],
  nextCursor: 'more',
  searchedBackTo: '2026-11-06T00:00:00.000Z',
};
const last = { generations: [stored('r1', 'key_gone')], nextCursor: null, searchedBackTo: null };

/** Runs with these answers, in their order. */
async function run(answers: unknown[]) {
  const asked: any[] = [];
  const reported: CsvProgress[] = [];
  const waits: number[] = [];
  const request = (route: string, init: any) => {
    asked.push([route, init.query]);
    const answer = answers[asked.length - 1];
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const csv = await periodCsv({ request } as any, {
    licenseId: 'lic_1',
    stats,
    signal: new AbortController().signal,
    nowMs,
    onProgress: (progress) => reported.push({ ...progress }),
    wait: (seconds) => Promise.resolve(void waits.push(seconds)),
  });
  return { csv, asked, reported, waits };
}

test('every page of the period is read, newest first, and keys have their names', async () => {
  const { csv, asked, reported } = await run([newerKeys, keys, first, last]);
  const row = (id: string, key: string) =>
    `${id},2026-11-21T12:00:00.000Z,,QUEUED,Text to image,harbor,${key},1024,768,2,2,,prompt of ${id},,42,30,7.5,png,1,1200,one`;
  const rows = [row('r3', 'CI'), row('r2', 'playground'), row('r1', 'key_gone')];
  expect(csv.split('\r\n').slice(1, -1)).toEqual(rows);
  const { billingPeriodStart: createdAfter, billingPeriodEnd: createdBefore } = stats;
  const query = { licenseId: 'lic_1', limit: 100, createdAfter, createdBefore };
  expect(asked).toEqual([
    ['GET /keys', { cursor: undefined }],
    ['GET /keys', { cursor: 'older' }],
    ['GET /generate', { ...query, cursor: undefined }],
    ['GET /generate', { ...query, cursor: 'more' }],
  ]);
  expect(reported.map(({ requests, share }) => `${requests}: ${share}`)).toEqual(['2: 0.5', '3: 1']);
});

test('a busy service is waited for as long and as often as it asks, and no request is lost or read twice', async () => {
  const { csv, waits, reported } = await run([busy, keys, busy, busy, busy, busy, away, first, broken, last]);
  expect(waits).toEqual([7, 7, 7, 7, 7, 1, 2]);
  // What is reported while it waits, and that it goes on.
  const reportedBefore = reported.slice(0, 12).map(({ waitSeconds }) => waitSeconds);
  expect(reportedBefore).toEqual([7, 0, 7, 0, 7, 0, 7, 0, 7, 0, 1, 0]);
  expect(csv.match(/^r\d/gm)).toEqual(['r3', 'r2', 'r1']);
});

test('what stays broken, and what is refused, is thrown', async () => {
  await expect(run([keys, broken, broken, broken, broken])).rejects.toBe(broken);
  const refused = new ApiError('No such license.', { status: 404, code: 'LICENSE_NOT_FOUND' });
  await expect(run([keys, refused])).rejects.toBe(refused);
});
