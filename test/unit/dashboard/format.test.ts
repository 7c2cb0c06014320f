import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import * as format from '../../../dashboard/src/lib/format.ts';

type Formatter = { [Name in keyof typeof format]: [Name, ...Parameters<(typeof format)[Name]>] };
type Call = Formatter[keyof Formatter];

const module = new URL('../../../dashboard/src/lib/format.ts', import.meta.url).href;

/** Formats in another process, because locale and time zone are settings of a process. */
function shown(calls: Call[], timeZone = 'UTC', locale = 'en_US.UTF-8'): string[] {
  const script = `
    const format = await import(${JSON.stringify(module)});
    const calls = ${JSON.stringify(calls)};
    process.stdout.write(JSON.stringify(calls.map(([name, ...values]) => format[name](...values))));`;
  const env = { ...process.env, TZ: timeZone, LC_ALL: locale, NODE_OPTIONS: '' };
  const answer = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { env });
  // Newer ICU data writes narrow spaces, which look the same.
  return (JSON.parse(answer.toString()) as string[]).map((text) => text.replace(/[\u202f\u00a0]/g, ' '));
}

describe('numbers', () => {
  test('have the separators of the reader', () => {
    const calls: Call[] = [
      ['formatNumber', 1234567.5],
      ['formatCredits', 1500],
      ['formatDuration', 2400],
    ];
    expect(shown(calls)).toEqual(['1,234,567.5', '1,500 credits', '2.4 s']);
    expect(shown(calls, 'UTC', 'de_DE.UTF-8')).toEqual(['1.234.567,5', '1.500 credits', '2,4 s']);
  });

  test('have the noun in singular or plural', () => {
    const counts = [0, 1, 2].map((count) => format.formatCount(count, 'identity', 'identities'));
    expect(counts).toEqual(['0 identities', '1 identity', '2 identities']);
    expect([1, 2].map((count) => format.formatCount(count, 'image'))).toEqual(['1 image', '2 images']);
    expect([1, 2].map((count) => format.formatCredits(count))).toEqual(['1 credit', '2 credits']);
  });
});

test.each<[number, string]>([
  [0, '0 ms'],
  [840.4, '840 ms'],
  [999, '999 ms'],
  [1000, '1 s'],
  [59_949, '59.9 s'],
  [59_950, '1 min 0 s'],
  [72_000, '1 min 12 s'],
  [119_600, '2 min 0 s'],
  [3_600_000, '60 min 0 s'],
])('%d ms are shown in the unit that fits, and never as 60 seconds', (durationMs, text) => {
  expect(format.formatDuration(durationMs)).toBe(text);
});

describe('times', () => {
  const newYear = '2026-12-31T23:30:00.000Z';

  test('are shown in the time zone of the reader', () => {
    const calls: Call[] = [
      ['formatDate', newYear],
      ['formatDateTime', newYear],
    ];
    expect(shown(calls)).toEqual(['Dec 31, 2026', 'Dec 31, 2026, 11:30 PM']);
    expect(shown(calls, 'Asia/Tokyo')).toEqual(['Jan 1, 2027', 'Jan 1, 2027, 8:30 AM']);
    expect(shown(calls, 'America/Los_Angeles')).toEqual(['Dec 31, 2026', 'Dec 31, 2026, 3:30 PM']);
    expect(shown(calls, 'Asia/Tokyo', 'de_DE.UTF-8')).toEqual(['01.01.2027', '01.01.2027, 08:30']);
  });

  test('have their seconds where they are exact', () => {
    const exact = (timeZone: string) => shown([['formatExactTime', '2026-11-21T09:05:07.999Z']], timeZone)[0];
    expect(exact('UTC')).toBe('Nov 21, 2026, 9:05:07 AM UTC');
    expect(exact('Asia/Tokyo')).toBe('Nov 21, 2026, 6:05:07 PM GMT+9');
  });

  test.each([
    ['The period resets at 2026-12-21T12:27:30.000Z.', 'The period resets at Dec 21, 2026, 12:27 PM UTC.'],
    [
      'From 2026-01-01T00:00Z to 2026-02-28T23:59:59Z',
      'From Jan 1, 2026, 12:00 AM UTC to Feb 28, 2026, 11:59 PM UTC',
    ],
    [
      '2026-12-21 and 12:27 stay, and so does 2026-13-45.',
      '2026-12-21 and 12:27 stay, and so does 2026-13-45.',
    ],
  ])('in the sentence %j are ones that people read', (sentence, readable) =>
    expect(shown([['withReadableTimes', sentence]])).toEqual([readable]),
  );

  test('days of billing are the same everywhere, and say that they are UTC', () => {
    const calls: Call[] = [
      ['formatUtcDate', newYear],
      ['formatUtcDate', '2026-11-21'],
      ['formatUtcDay', '2026-11-21'],
      ['formatUtcDay', newYear],
    ];
    const everywhere = ['Dec 31, 2026 UTC', 'Nov 21, 2026 UTC', 'Nov 21', 'Dec 31'];
    for (const zone of ['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
      expect(shown(calls, zone)).toEqual(everywhere);
    }
  });

  test.each([null, '', 'soon', '2026-13-01', 'NaN'])(
    '%j is shown as a dash, never as a wrong date',
    (text) => {
      const { formatDate, formatDateTime, formatExactTime, formatUtcDate } = format;
      expect(format.formatRelative(text, 'happened', 0)).toBe('–');
      for (const shownBy of [formatDate, formatDateTime, formatExactTime, formatUtcDate])
        expect(shownBy(text)).toBe('–');
      if (text !== null) expect(format.formatUtcDay(text)).toBe('–');
    },
  );
});

describe('distances in time', () => {
  const nowMs = Date.parse('2026-11-21T12:00:00.000Z');
  const minute = 60;
  const hour = 60 * minute;
  const day = 24 * hour;
  const relative = (
    seconds: number,
    what: 'happened' | 'to come' = seconds > 0 ? 'to come' : 'happened',
  ): Call => ['formatRelative', new Date(nowMs + seconds * 1000).toISOString(), what, nowMs];

  test('are counted in the unit that fits, in both directions; beyond a month they are the date', () => {
    const shownAs: [number, string][] = [
      [0, 'just now'],
      [-44, 'just now'],
      [44, 'in a moment'],
      [-45, '1 minute ago'],
      [-44 * minute, '44 minutes ago'],
      [-45 * minute, '1 hour ago'],
      [-21 * hour, '21 hours ago'],
      [-1 * day, 'yesterday'],
      [-29 * day, '29 days ago'],
      [-30 * day, 'Oct 22, 2026'],
      [45, 'in 1 minute'],
      [5 * minute, 'in 5 minutes'],
      [2 * hour, 'in 2 hours'],
      [1 * day, 'tomorrow'],
      [3 * day, 'in 3 days'],
      [40 * day, 'Dec 31, 2026'],
    ];
    expect(shown(shownAs.map(([seconds]) => relative(seconds)))).toEqual(shownAs.map(([, text]) => text));
    expect(shown([relative(-30 * day)], 'Pacific/Kiritimati')).toEqual(['Oct 23, 2026']);
  });

  test('never say of what has happened that it is to come, nor the reverse, by a clock that is wrong', () => {
    const shownAs = [
      relative(44, 'happened'),
      relative(3 * hour, 'happened'),
      relative(400 * day, 'happened'),
      relative(-44, 'to come'),
      relative(-5 * minute, 'to come'),
      relative(-3 * hour, 'to come'),
    ];
    expect(shown(shownAs)).toEqual([
      'just now',
      'Nov 21, 2026, 3:00 PM',
      'Dec 26, 2027, 12:00 PM',
      'in a moment',
      'Nov 21, 2026, 11:55 AM',
      'Nov 21, 2026, 9:00 AM',
    ]);
  });
});

test('ids are shortened to their ends, unless they are short already', () => {
  expect(format.shortId('lic_4fT9x2mWq8Rz7Kq2')).toBe('lic_…7Kq2');
  expect(format.shortId('01a1fe17-4623-74fb-8151-b32dfc4e8b2f')).toBe('…8b2f');
  expect(format.shortId('idn_aurora')).toBe('idn_aurora');
  expect(format.shortId('')).toBe('');
});
