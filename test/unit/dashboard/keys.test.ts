import { describe, expect, test } from '@jest/globals';
import type { ActivityItem } from '../../../shared/licenses/activity-contract.ts';
import type { KeyAnswer } from '../../../shared/keys/answer-contract.ts';
import { changeKeyBody, createKeyBody } from '../../../shared/keys/contract.ts';
import { maxActiveKeys as serviceLimit } from '../../../shared/keys/slots.ts';
import { controlTime } from '../../../dashboard/src/lib/format.ts';
import { activityText } from '../../../dashboard/src/screens/keys/activity-view.ts';
import {
  budgetProblem,
  changeKeyAdvice,
  changesOf,
  createKeyAdvice,
  editOf,
  maxMonthlyCredits,
  proposedPlaces,
  revokeKeyAdvice,
  bodyOf,
  customTimeProblem,
  expiresAt,
  nameProblem,
  problemsOf,
  type ExpiryChoice,
  type KeyFormValues,
} from '../../../dashboard/src/screens/keys/key-form.ts';
import {
  activeKeysOf,
  budgetOf,
  countKeys,
  expiryAt,
  refusalAt,
  filterKeys,
  limitsOf,
  maxActiveKeys,
  type KeyFilter,
} from '../../../dashboard/src/screens/keys/key-view.ts';
import {
  refusalRanges,
  refusalsIn,
  type RefusalRange,
} from '../../../dashboard/src/screens/keys/refusals-view.ts';

const nowMs = Date.parse('2026-11-21T12:00:00Z');
const dayMs = 24 * 3600 * 1000;
const at = (days: number) => new Date(nowMs + days * dayMs).toISOString();

function key(changes: Partial<KeyAnswer> = {}): KeyAnswer {
  const known = { keyId: 'key_1', keyPrefix: 'svc_live_AbCd', name: 'my app', licenseId: 'lic_1' };
  const times = { createdAt: at(-10), lastUsedAt: null, expiresAt: null, revokedAt: null };
  const limits = { monthlyCredits: null, access: 'license', maxInFlight: null } as const;
  return { ...known, ...times, ...limits, status: 'active', creditsUsed: 0, ...changes };
}

function form(changes: Partial<KeyFormValues> = {}): KeyFormValues {
  const limits = { budget: '', access: 'license', places: '' } as const;
  return { licenseId: 'lic_1', name: 'my app', ...limits, expiry: 'never', customTime: '', ...changes };
}

const ended = { status: 'ended', usable: false, apiAccess: true } as const;
const forGood = 'Refused for good: its license has ended.';
const suspended = { ...ended, status: 'active', suspended: { at: at(-1), reason: 'Chargeback' } } as const;
const noAccess = 'Refused: its license has no API access.';

test.each<[string, KeyAnswer, Parameters<typeof refusalAt>[1], string | null]>([
  ['its license works', key(), { status: 'active', usable: true, apiAccess: true }, null],
  ['its license is past due and works', key(), { status: 'past_due', usable: true, apiAccess: true }, null],
  ['its license is not known yet', key(), undefined, null],
  ['its license has ended', key(), ended, forGood],
  ['its license is past its end', key(), { ...ended, status: 'active' }, forGood],
  ['its license is not paid', key(), { ...ended, status: 'past_due' }, 'Refused until its license is paid.'],
  ['its license is suspended by the operator', key(), suspended, 'Refused while its license is suspended.'],
  ['its license has no API access', key(), { ...ended, status: 'active', apiAccess: false }, noAccess],
  ['it was revoked', key({ status: 'revoked' }), ended, null],
  ['it has expired', key({ expiresAt: at(-1) }), ended, null],
])('where %s, a key says so as its refusal', (_, one, license, expected) =>
  expect(refusalAt(one, license, nowMs)).toBe(expected),
);

describe('the list', () => {
  const keys = [
    key({ keyId: 'key_old', createdAt: at(-3) }),
    key({ keyId: 'key_revoked', status: 'revoked', createdAt: at(-2), revokedAt: at(-1) }),
    key({ keyId: 'key_new', createdAt: at(-1), licenseId: 'lic_2' }),
    // It has expired since the list was fetched.
    key({ keyId: 'key_over', createdAt: at(-4), expiresAt: at(0) }),
  ];
  const ids = (filter: KeyFilter) => filterKeys(keys, filter, nowMs).map(({ keyId }) => keyId);

  test('shows the newest key first and each in one of the two halves, which are counted', () => {
    expect(ids('active')).toEqual(['key_new', 'key_old']);
    expect(ids('inactive')).toEqual(['key_revoked', 'key_over']);
    expect(countKeys(keys, nowMs)).toEqual({ all: 4, active: 2, inactive: 2 });
    expect(countKeys(keys, nowMs - 1)).toEqual({ all: 4, active: 3, inactive: 1 });
  });

  test('counts only active keys of the license against its limit, which is the service’s', () => {
    expect(activeKeysOf(keys, 'lic_1', nowMs)).toBe(1);
    expect(maxActiveKeys).toBe(serviceLimit);
  });

  test.each<[Partial<KeyAnswer>, boolean, boolean]>([
    [{ expiresAt: at(6.99) }, true, true],
    [{ expiresAt: at(7) }, false, true],
    [{ expiresAt: at(14) }, false, false],
    [{ expiresAt: at(-1) }, false, false],
    [{ expiresAt: at(2), status: 'revoked' }, false, false],
    [{}, false, false],
  ])('of a key with %j warns of its end: %j', (changes, soon, near) => {
    expect(expiryAt(key(changes), nowMs)).toEqual({ soon, near });
  });
});

describe('the form', () => {
  const isTaken = (changes: Partial<KeyFormValues>): boolean =>
    createKeyBody.safeParse(bodyOf(form(changes), nowMs)).success;
  const long = ['x'.repeat(64), 'x'.repeat(65), '🎨'.repeat(64), '🎨'.repeat(65), `  ${'x'.repeat(64)}  `];

  test.each([...long, 'a', 'Łukasz’s “laptop”', '', '\u00a0', 'a\0b', 'a\ud800b'])(
    'refuses a name if and only if the service does: %j',
    (name) => expect(nameProblem(name) === null).toBe(isTaken({ name })),
  );

  const budgets = ['', ' ', '1', ' 500 ', '007', String(maxMonthlyCredits), String(maxMonthlyCredits + 1)];
  test.each([...budgets, '0', '-1', '1.5', '1e3', '0x10', '1,000', 'many', '9'.repeat(40)])(
    'refuses a budget if and only if the service does: %j',
    (budget) => expect(budgetProblem(budget) === null).toBe(isTaken({ budget })),
  );

  test.each<[ExpiryChoice, number]>([
    ['30-days', 30],
    ['90-days', 90],
    ['1-year', 365],
  ])('computes %s by the calendar and sends UTC', (expiry, days) => {
    const iso = expiresAt(form({ expiry }), nowMs)!;
    // An hour's difference where the clocks change in between.
    expect(Math.abs(Date.parse(iso) - (nowMs + days * dayMs))).toBeLessThanOrEqual(3_600_000);
    expect(isTaken({ expiry })).toBe(true);
  });

  test('sends null for a key that never expires and has no limits of its own, and limits as numbers', () => {
    const known = { licenseId: 'lic_1', name: 'my app', expiresAt: null, access: 'license' };
    expect(bodyOf(form(), nowMs)).toEqual({ ...known, monthlyCredits: null, maxInFlight: null });
    const limited = form({ budget: ' 500 ', access: 'own', places: '2' });
    const limits = { monthlyCredits: 500, access: 'own', maxInFlight: 2 };
    expect(bodyOf(limited, nowMs)).toEqual({ ...known, ...limits });
  });

  test('takes as many requests at a time as the license has, and proposes half of them', () => {
    const places = (typed: string) => problemsOf(form({ places: typed }), nowMs, { maxInFlight: 3 }).places;
    expect([places(''), places(' 3 ')]).toEqual([null, null]);
    for (const typed of ['0', '4', '1.5', 'all']) expect(places(typed)).toContain('from 1 to 3');
    expect([1, 3, 10].map((maxInFlight) => proposedPlaces({ maxInFlight }))).toEqual(['1', '1', '5']);
  });

  test('reads a chosen time in the reader’s zone: what the control shows is what is sent', () => {
    const customTime = controlTime(nowMs);
    expect(expiresAt(form({ expiry: 'custom', customTime }), nowMs)).toBe('2026-11-21T12:00:00.000Z');
  });

  test.each<[string, string, string | null]>([
    ['nothing', '', 'Enter a date and a time.'],
    ['no time', '2026-02-31T10:00:00junk', 'Enter a date and a time.'],
    ['now', controlTime(nowMs), 'Choose a time in the future.'],
    ['the next minute', controlTime(nowMs + 60_000), null],
    ['a far year', '+012026-01-01T00:00', 'Choose a time before the year 9999.'],
  ])('of %s as a chosen time says what is wrong', (_, customTime, problem) =>
    expect(customTimeProblem(customTime, nowMs)).toBe(problem),
  );

  test('needs a license, and ignores a chosen time after another choice', () => {
    const problems = { license: null, name: null, budget: null, places: null, customTime: null };
    expect(problemsOf(form({ customTime: '2020-01-01T00:00' }), nowMs, undefined)).toEqual(problems);
    expect(problemsOf(form({ licenseId: '' }), nowMs, undefined).license).toBe('Choose a license.');
  });
});

test.each([
  [createKeyAdvice, 'look in the list', { status: 409, code: 'ANY' }],
  [revokeKeyAdvice, 'may still be accepted', { status: 404, code: 'ANY' }],
  [changeKeyAdvice, 'Try again', { status: 400, code: 'ANY' }],
])('advice is given where it is uncertain whether the work was done: %p', (advice, words, refusal) => {
  for (const status of [0, 201, 500]) expect(advice({ status, code: 'ANY' })).toContain(words);
  expect(advice(refusal)).toBeNull();
});

test.each(['LICENSE_INACTIVE', 'LICENSE_NOT_FOUND', 'KEY_LIMIT_REACHED', 'INVALID_PARAMETERS'])(
  'where no key is made for %s, advice says what to do',
  (code) => expect(createKeyAdvice({ status: 400, code })).toEqual(expect.any(String)),
);

test.each<[ActivityItem['action'], string, any, any, string[]]>([
  ['license_changed', 'tier', 'Pro', 'Starter', ['Pro to Starter']],
  ['license_changed', 'creditsLimit', 4000, 500, ['4,000 credits to 500 credits a month']],
  ['license_changed', 'identityIds', ['a'], ['b', 'c'], ['2 identities more', '1 identity less']],
  ['license_changed', 'activeUntil', at(1), null, ['without an end']],
  ['license_changed', 'name', 'New', null, ['no longer named “New”']],
  ['license_changed', 'planName', 'Studio', null, []],
  ['license_changed', 'somethingNew', 1, 2, ['somethingNew changed']],
  // A new license says what it has, and a new key's name stands in the sentence already.
  ['license_granted', 'tier', null, 'Pro', ['Pro']],
  ['license_granted', 'status', null, 'active', []],
  ['key_issued', 'name', null, 'CI', []],
  ['key_changed', 'access', 'license', 'own', ['sees only its own requests']],
  ['key_changed', 'maxInFlight', 2, null, ['no limit of its own at a time']],
])('%s with another %s, %j to %j, is said as %j', (action, member, from, to, details) => {
  const item = { id: 'x', at: at(-1), by: 'billing', keyId: null, keyName: null } as const;
  expect(activityText({ ...item, action, changes: [{ member, from, to }] }).details).toEqual(details);
});

test.each<[number | null, number, ReturnType<typeof budgetOf>]>([
  [500, 0, { text: '0 of 500 credits', barPercent: 0, isUsedUp: false }],
  [5000, 1, { text: '1 of 5,000 credits', barPercent: 1, isUsedUp: false }],
  [500, 499, { text: '499 of 500 credits', barPercent: 99, isUsedUp: false }],
  [500, 500, { text: '500 of 500 credits', barPercent: 100, isUsedUp: true }],
  // It was lowered.
  [1, 500, { text: '500 of 1 credit', barPercent: 100, isUsedUp: true }],
  [null, 12, { text: '12 credits used', barPercent: null, isUsedUp: false }],
])('of a budget of %j, of which %d is used, the list shows %j', (monthlyCredits, creditsUsed, view) =>
  expect(budgetOf({ monthlyCredits, creditsUsed })).toEqual(view),
);

test.each<[number | null, Partial<ReturnType<typeof editOf>>, ReturnType<typeof changesOf>]>([
  [null, {}, null],
  [500, { name: ' my app ', budget: ' 500 ' }, null],
  [500, { name: 'CI' }, { name: 'CI' }],
  [null, { budget: '600' }, { monthlyCredits: 600 }],
  [500, { name: 'CI', budget: '' }, { name: 'CI', monthlyCredits: null }],
  [null, { access: 'license', places: '' }, { access: 'license', maxInFlight: null }],
])(
  'of a key with a budget of %j the edit %j sends only what is different: %j',
  (monthlyCredits, edit, sent) => {
    const before = { name: 'my app', monthlyCredits, access: 'own', maxInFlight: 2 } as const;
    expect(changesOf(before, { ...editOf(before), ...edit })).toEqual(sent);
    expect(sent === null || changeKeyBody.safeParse(sent).success).toBe(true);
  },
);

test('the list says what a key may less than others', () => {
  expect(limitsOf(key())).toEqual([]);
  expect(limitsOf(key({ access: 'own', maxInFlight: 2 }))).toEqual([
    'Sees only its own requests',
    '2 at a time',
  ]);
});

const [today, week, month] = refusalRanges;
const firstMinutesMs = Date.parse('2026-11-24T00:10:00Z');

const day = (date: string, ...refusals: [keyId: string | null, code: string, count: number][]) => ({
  date,
  refusals: refusals.map(([keyId, code, count]) => ({ keyId, code, count })),
});
const refusalDays = [
  day('2026-11-24', ['key_1', 'TIER_LIMIT', 2], [null, 'TIER_LIMIT', 1]),
  day('2026-11-18', ['key_1', 'TIER_LIMIT', 5]),
  day('2026-11-17', ['key_1', 'RATE_LIMITED', 40], ['key_2', 'NOT_FOUND', 90]),
  day('2026-10-26', [null, 'TIER_LIMIT', 100]),
];

test('refused calls are those of the days of UTC that were asked for, today included', () => {
  const totals = (range: RefusalRange) =>
    refusalsIn(refusalDays, range, firstMinutesMs).map(({ keyId, count }) => `${keyId} ${count}`);
  expect(totals(today)).toEqual(['key_1 2', 'null 1']);
  expect(totals(week)).toEqual(['key_1 7', 'null 1']);
  expect(totals(month)).toEqual(['null 101', 'key_2 90', 'key_1 47']);
});

test('refused calls of a key are counted by code, the most frequent first, with the days of each', () => {
  const [, , one] = refusalsIn(refusalDays, month, firstMinutesMs);
  const [first, second] = [
    { date: '2026-11-24', count: 2 },
    { date: '2026-11-18', count: 5 },
  ];
  expect(one!.codes).toEqual([
    { code: 'RATE_LIMITED', count: 40, days: [{ date: '2026-11-17', count: 40 }] },
    { code: 'TIER_LIMIT', count: 7, days: [first, second] },
  ]);
});
