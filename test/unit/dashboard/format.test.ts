import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
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

const newYear = '2026-12-31T23:30:00.000Z';

test('numbers and times are shown as the reader’s language and time zone have them', () => {
  const calls: Call[] = [
    ['formatNumber', 1234567.5],
    ['formatCredits', 1500],
    ['formatDuration', 2400],
    ['formatDate', newYear],
    ['formatDateTime', newYear],
  ];
  const english = ['1,234,567.5', '1,500 credits', '2.4 s', 'Dec 31, 2026', 'Dec 31, 2026, 11:30 PM'];
  expect(shown(calls)).toEqual(english);
  const german = ['1.234.567,5', '1.500 credits', '2,4 s', '01.01.2027', '01.01.2027, 08:30'];
  expect(shown(calls, 'Asia/Tokyo', 'de_DE.UTF-8')).toEqual(german);
  const exact: Call = ['formatExactTime', '2026-11-21T09:05:07.999Z'];
  expect(shown([exact], 'Asia/Tokyo')).toEqual(['Nov 21, 2026, 6:05:07 PM GMT+9']);
});

test('numbers have their noun in singular or plural', () => {
  const counts = [0, 1, 2].map((count) => format.formatCount(count, 'identity', 'identities'));
  expect(counts).toEqual(['0 identities', '1 identity', '2 identities']);
});

test.each<[number, string]>([
  [840.4, '840 ms'],
  [999.4, '999 ms'],
  [999.5, '1 s'],
  [59_949, '59.9 s'],
  [59_950, '1 min 0 s'],
  [119_600, '2 min 0 s'],
  [3_600_000, '60 min 0 s'],
])('%d ms are shown in the unit that fits, and never as 60 seconds', (durationMs, text) =>
  expect(format.formatDuration(durationMs)).toBe(text),
);

test('days of billing, and the moments in a sentence of the service, are the same everywhere: in UTC', () => {
  const sentence = 'From 2026-01-01T00:00Z to 2026-12-21T12:27:30.000Z; 2026-12-21 and 12:27 stay.';
  const calls: Call[] = [
    ['formatUtcDate', newYear],
    ['formatUtcDay', newYear],
    ['formatUtcDay', '2026-11-21'],
    ['withReadableTimes', sentence],
  ];
  const readable = 'From Jan 1, 2026, 12:00 AM UTC to Dec 21, 2026, 12:27 PM UTC; 2026-12-21 and 12:27 stay.';
  for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
    expect(shown(calls, zone)).toEqual(['Dec 31, 2026 UTC', 'Dec 31', 'Nov 21', readable]);
  }
});

test.each([null, '', 'soon', '2026-13-01', 'NaN'])('%j is shown as a dash, never as a wrong date', (text) => {
  expect(format.formatRelative(text, 'happened', 0)).toBe('–');
  for (const formatTime of [format.formatDate, format.formatUtcDate]) expect(formatTime(text)).toBe('–');
});

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

test.each<['happened' | 'to come', [number, string][]]>([
  [
    'happened',
    [
      // By a clock that is wrong: it never says that this is to come.
      [400 * day, 'Dec 26, 2027, 12:00 PM'],
      [45, 'Nov 21, 2026, 12:00 PM'],
      [44, 'just now'],
      [-44, 'just now'],
      [-45, '1 minute ago'],
      [-44 * minute, '44 minutes ago'],
      [-45 * minute, '1 hour ago'],
      [-21 * hour, '21 hours ago'],
      [-1 * day, 'yesterday'],
      [-29 * day, '29 days ago'],
      [-30 * day, 'Oct 22, 2026'],
    ],
  ],
  [
    'to come',
    [
      [-5 * minute, 'Nov 21, 2026, 11:55 AM'],
      [-44, 'in a moment'],
      [44, 'in a moment'],
      [5 * minute, 'in 5 minutes'],
      [1 * day, 'tomorrow'],
      [40 * day, 'Dec 31, 2026'],
    ],
  ],
])(
  'of what %s the distance is counted in the unit that fits; beyond a month it is the date',
  (what, rows) => {
    const nowMs = Date.parse('2026-11-21T12:00:00.000Z');
    const calls = rows.map(([seconds]): Call => {
      return ['formatRelative', new Date(nowMs + seconds * 1000).toISOString(), what, nowMs];
    });
    expect(shown(calls)).toEqual(rows.map(([, text]) => text));
  },
);

test('ids are shortened to their ends, unless they are short already', () => {
  const ids = ['lic_4fT9x2mWq8Rz7Kq2', '01a1fe17-4623-74fb-8151-b32dfc4e8b2f', 'idn_aurora'];
  expect(ids.map(format.shortId)).toEqual(['lic_…7Kq2', '…8b2f', 'idn_aurora']);
});
