import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import * as format from '../../../dashboard/src/lib/format.ts';

type Formatter = { [Name in keyof typeof format]: [Name, ...Parameters<(typeof format)[Name]>] };
type Call = Formatter[keyof Formatter];

const module = new URL('../../../dashboard/src/lib/format.ts', import.meta.url).href;

/** What a reader with this locale and time zone sees: both are settings of a whole process. */
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

  test('go with a noun in the right number', () => {
    expect([0, 1, 2].map((count) => format.formatCredits(count))).toEqual([
      '0 credits',
      '1 credit',
      '2 credits',
    ]);
    expect([0, 1, 2].map((count) => format.formatCount(count, 'image'))).toEqual([
      '0 images',
      '1 image',
      '2 images',
    ]);
    expect(format.formatCount(1, 'identity', 'identities')).toBe('1 identity');
    expect(format.formatCount(2, 'identity', 'identities')).toBe('2 identities');
  });
});

describe('durations', () => {
  const cases: [number, string][] = [
    [0, '0 ms'],
    [840.4, '840 ms'],
    [999, '999 ms'],
    [1000, '1 s'],
    [2400, '2.4 s'],
    [59_949, '59.9 s'],
    [59_950, '1 min 0 s'],
    [60_000, '1 min 0 s'],
    [72_000, '1 min 12 s'],
    [119_600, '2 min 0 s'],
    [3_600_000, '60 min 0 s'],
  ];

  test('are told in the unit that fits, and never as 60 seconds', () => {
    expect(shown(cases.map(([durationMs]) => ['formatDuration', durationMs]))).toEqual(
      cases.map(([, text]) => text),
    );
  });
});

describe('times', () => {
  const newYear = '2026-12-31T23:30:00.000Z';

  test('are told in the time zone of the reader', () => {
    const calls: Call[] = [
      ['formatDate', newYear],
      ['formatDateTime', newYear],
    ];
    expect(shown(calls)).toEqual(['Dec 31, 2026', 'Dec 31, 2026, 11:30 PM']);
    expect(shown(calls, 'Asia/Tokyo')).toEqual(['Jan 1, 2027', 'Jan 1, 2027, 8:30 AM']);
    expect(shown(calls, 'America/Los_Angeles')).toEqual(['Dec 31, 2026', 'Dec 31, 2026, 3:30 PM']);
    expect(shown(calls, 'Asia/Tokyo', 'de_DE.UTF-8')).toEqual(['01.01.2027', '01.01.2027, 08:30']);
  });

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
      expect(format.formatDate(text)).toBe('–');
      expect(format.formatDateTime(text)).toBe('–');
      expect(format.formatUtcDate(text)).toBe('–');
      expect(format.formatRelative(text)).toBe('–');
      if (text !== null) expect(format.formatUtcDay(text)).toBe('–');
    },
  );
});

describe('distances in time', () => {
  const now = '2026-11-21T12:00:00.000Z';
  const second = 1000;
  const minute = 60 * second;
  const hour = 60 * minute;
  const day = 24 * hour;

  function relative(distancesMs: number[], timeZone?: string): string[] {
    const nowMs = Date.parse(now);
    const calls = distancesMs.map((distanceMs): Call => {
      return ['formatRelative', new Date(nowMs + distanceMs).toISOString(), nowMs];
    });
    return shown(calls, timeZone);
  }

  test('within a moment are now, also when the clocks differ a little', () => {
    expect(relative([0, -44 * second, 44 * second])).toEqual(['just now', 'just now', 'just now']);
  });

  test('are counted in the unit that fits, in both directions', () => {
    expect(relative([-45 * second, -5 * minute, -44 * minute, -45 * minute, -3 * hour, -21 * hour])).toEqual([
      '1 minute ago',
      '5 minutes ago',
      '44 minutes ago',
      '1 hour ago',
      '3 hours ago',
      '21 hours ago',
    ]);
    expect(relative([45 * second, 5 * minute, 2 * hour, 3 * day])).toEqual([
      'in 1 minute',
      'in 5 minutes',
      'in 2 hours',
      'in 3 days',
    ]);
    expect(relative([-1 * day, 1 * day, -29 * day])).toEqual(['yesterday', 'tomorrow', '29 days ago']);
  });

  test('of a month and more are the date, of the time zone of the reader', () => {
    expect(relative([-30 * day, 40 * day])).toEqual(['Oct 22, 2026', 'Dec 31, 2026']);
    expect(relative([-30 * day], 'Pacific/Kiritimati')).toEqual(['Oct 23, 2026']);
  });

  test('are measured from this moment unless another is given', () => {
    expect(format.formatRelative(new Date().toISOString())).toBe('just now');
  });
});

describe('ids', () => {
  test('are shortened to what tells two apart', () => {
    expect(format.shortId('lic_4fT9x2mWq8Rz7Kq2')).toBe('lic_…7Kq2');
    expect(format.shortId('01a1fe17-4623-74fb-8151-b32dfc4e8b2f')).toBe('…8b2f');
  });

  test('that are short already stay whole', () => {
    expect(format.shortId('idn_aurora')).toBe('idn_aurora');
    expect(format.shortId('')).toBe('');
  });
});
