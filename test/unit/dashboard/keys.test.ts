import { describe, expect, test } from '@jest/globals';
import type { ActivityItem } from '../../../shared/licenses/activity-contract.ts';
import type { KeyAnswer } from '../../../shared/keys/answer-contract.ts';
import {
  changeKeyBody,
  createKeyBody,
  maxMonthlyCredits as serviceBudget,
} from '../../../shared/keys/contract.ts';
import { maxActiveKeys as serviceLimit } from '../../../shared/keys/slots.ts';
import { activityText } from '../../../dashboard/src/screens/keys/activity-view.ts';
import {
  budgetProblem,
  changeKeyAdvice,
  changesOf,
  createKeyAdvice,
  editOf,
  maxMonthlyCredits,
  revokeKeyAdvice,
  bodyOf,
  controlTime,
  customTimeProblem,
  expiresAt,
  nameLength,
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
  maxActiveKeys,
  statusAt,
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
  return { ...known, ...times, status: 'active', monthlyCredits: null, creditsUsed: 0, ...changes };
}

function form(changes: Partial<KeyFormValues> = {}): KeyFormValues {
  return { licenseId: 'lic_1', name: 'my app', budget: '', expiry: 'never', customTime: '', ...changes };
}

describe('a key that its license has refused', () => {
  const ended = { status: 'ended', usable: false, apiAccess: true } as const;

  test.each([
    ['its license works', { status: 'active', usable: true, apiAccess: true }, null],
    ['its license is past due and still works', { status: 'past_due', usable: true, apiAccess: true }, null],
    ['its license is not known yet', undefined, null],
    ['its license has ended', ended, 'Refused for good: its license has ended.'],
    [
      'its license is past its end',
      { ...ended, status: 'active' },
      'Refused for good: its license has ended.',
    ],
    ['its license is suspended', { ...ended, status: 'past_due' }, 'Refused until its license is paid.'],
    [
      'its license has no API access',
      { ...ended, status: 'active', apiAccess: false },
      'Refused: its license has no API access.',
    ],
  ] as const)('%s', (_, license, expected) => {
    expect(refusalAt(key(), license, nowMs)).toBe(expected);
  });

  test('says only that it was revoked, or that it expired, if that is so', () => {
    expect(refusalAt(key({ status: 'revoked' }), ended, nowMs)).toBeNull();
    expect(refusalAt(key({ expiresAt: at(-1) }), ended, nowMs)).toBeNull();
  });
});

describe('the list', () => {
  const keys = [
    key({ keyId: 'key_old', createdAt: at(-3) }),
    key({ keyId: 'key_revoked', status: 'revoked', createdAt: at(-2), revokedAt: at(-1) }),
    key({ keyId: 'key_new', createdAt: at(-1), licenseId: 'lic_2' }),
    key({ keyId: 'key_over', createdAt: at(-4), expiresAt: at(-0.001) }),
    key({ keyId: 'key_expired', status: 'expired', createdAt: at(-5), expiresAt: at(-2) }),
  ];
  const ids = (list: KeyAnswer[]) => list.map(({ keyId }) => keyId);

  test('shows the newest key first and each in one of the two halves', () => {
    expect(ids(filterKeys(keys, 'active', nowMs))).toEqual(['key_new', 'key_old']);
    expect(ids(filterKeys(keys, 'inactive', nowMs))).toEqual(['key_revoked', 'key_over', 'key_expired']);
    expect(filterKeys(keys, 'all', nowMs)).toHaveLength(5);
  });

  test('counts what each filter shows', () => {
    expect(countKeys(keys, nowMs)).toEqual({ all: 5, active: 2, inactive: 3 });
  });

  test('shows a key as expired from the end on, although the list was fetched before', () => {
    const ending = key({ expiresAt: at(0) });
    expect(statusAt(ending, nowMs - 1)).toBe('active');
    expect(statusAt(ending, nowMs)).toBe('expired');
  });

  test('counts only active keys of the license against its limit, which is the service’s', () => {
    expect(activeKeysOf(keys, 'lic_1', nowMs)).toBe(1);
    expect(maxActiveKeys).toBe(serviceLimit);
  });

  test('warns of an expiry within seven days, and only while the key works', () => {
    expect(expiryAt(key({ expiresAt: at(6.99) }), nowMs)).toEqual({ soon: true, near: true });
    expect(expiryAt(key({ expiresAt: at(7) }), nowMs)).toEqual({ soon: false, near: true });
    const revoked = key({ expiresAt: at(2), status: 'revoked' });
    for (const other of [key({ expiresAt: at(14) }), key({ expiresAt: at(-1) }), revoked, key()])
      expect(expiryAt(other, nowMs)).toEqual({ soon: false, near: false });
  });
});

describe('the form', () => {
  test.each(['a', 'x'.repeat(64), '🎨'.repeat(64), `  ${'x'.repeat(64)}  `, 'Łukasz’s “laptop”'])(
    'accepts a name that the service accepts: %j',
    (name) => {
      expect(nameProblem(name)).toBeNull();
      expect(createKeyBody.safeParse(bodyOf(form({ name }), nowMs)).success).toBe(true);
    },
  );

  test.each(['', '   ', '\u00a0', 'x'.repeat(65), '🎨'.repeat(65), 'a\0b', 'a\ud800b'])(
    'refuses a name that the service refuses: %j',
    (name) => {
      expect(nameProblem(name)).toEqual(expect.any(String));
      expect(createKeyBody.safeParse(bodyOf(form({ name }), nowMs)).success).toBe(false);
    },
  );

  test('counts characters as the service does', () => {
    expect(nameLength('🎨 é ')).toBe(3);
  });

  test.each<[ExpiryChoice, number]>([
    ['30-days', 30],
    ['90-days', 90],
    ['1-year', 365],
  ])('computes %s by the calendar and sends UTC', (expiry, days) => {
    const iso = expiresAt(form({ expiry }), nowMs)!;
    expect(iso).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    // An hour's difference where the clocks change in between.
    expect(Math.abs(Date.parse(iso) - (nowMs + days * dayMs))).toBeLessThanOrEqual(3_600_000);
    expect(createKeyBody.safeParse(bodyOf(form({ expiry }), nowMs)).success).toBe(true);
  });

  test('sends null for a key that never expires and has no budget', () => {
    const nothing = { expiresAt: null, monthlyCredits: null };
    expect(bodyOf(form(), nowMs)).toEqual({ licenseId: 'lic_1', name: 'my app', ...nothing });
    expect(createKeyBody.safeParse(bodyOf(form({ budget: ' ' }), nowMs)).success).toBe(true);
  });

  test('reads a chosen time in the reader’s zone: what the control shows is what is sent', () => {
    const customTime = controlTime(nowMs);
    expect(expiresAt(form({ expiry: 'custom', customTime }), nowMs)).toBe('2026-11-21T12:00:00.000Z');
  });

  test.each(['', 'tomorrow', '2026-02-31T10:00:00junk'])('asks for a time that is one: %j', (customTime) => {
    expect(customTimeProblem(customTime, nowMs)).toBe('Enter a date and a time.');
    expect(expiresAt(form({ expiry: 'custom', customTime }), nowMs)).toBeNull();
  });

  test('refuses a chosen time that does not lie in the future', () => {
    expect(customTimeProblem(controlTime(nowMs), nowMs)).toBe('Choose a time in the future.');
    expect(customTimeProblem(controlTime(nowMs + 60_000), nowMs)).toBeNull();
    expect(customTimeProblem('+012026-01-01T00:00', nowMs)).toEqual(expect.any(String));
  });

  test('ignores a chosen time after another choice', () => {
    const values = form({ expiry: 'never', customTime: '2020-01-01T00:00' });
    expect(problemsOf(values, nowMs)).toEqual({ license: null, name: null, budget: null, customTime: null });
  });

  test('needs a license', () => {
    expect(problemsOf(form({ licenseId: '' }), nowMs).license).toBe('Choose a license.');
  });
});

describe('advice', () => {
  test.each(['LICENSE_INACTIVE', 'LICENSE_NOT_FOUND', 'KEY_LIMIT_REACHED', 'INVALID_PARAMETERS'])(
    'says what to do about %s',
    (code) => expect(createKeyAdvice({ status: 400, code })).toEqual(expect.any(String)),
  );

  test('advice about a lost answer is uncertain, advice about a refusal is not', () => {
    expect(createKeyAdvice({ status: 0, code: 'NETWORK' })).toContain('look in the list');
    expect(createKeyAdvice({ status: 201, code: 'UNEXPECTED_ANSWER' })).toContain('look in the list');
    expect(revokeKeyAdvice({ status: 500, code: 'INTERNAL_ERROR' })).toContain('may still be accepted');
    expect(createKeyAdvice({ status: 401, code: 'SESSION_ENDED' })).toBeNull();
    expect(revokeKeyAdvice({ status: 401, code: 'SESSION_ENDED' })).toBeNull();
    expect(revokeKeyAdvice({ status: 404, code: 'KEY_NOT_FOUND' })).toContain('Reload');
    expect(changeKeyAdvice({ status: 404, code: 'KEY_NOT_FOUND' })).toContain('Reload');
    expect(changeKeyAdvice({ status: 503, code: 'UNAVAILABLE' })).toContain('Try again');
    expect(changeKeyAdvice({ status: 400, code: 'INVALID_PARAMETERS' })).toBeNull();
  });
});

describe('activity', () => {
  const item = (changes: Partial<ActivityItem>): ActivityItem => ({
    id: 'x',
    at: at(-1),
    by: 'operator',
    action: 'license_changed',
    keyId: null,
    keyName: null,
    changes: [],
    ...changes,
  });
  const change = (member: string, from: any, to: any) => ({ member, from, to });

  test('is in plain words', () => {
    const changes = [change('name', null, 'CI')];
    expect(activityText(item({ by: 'owner', action: 'key_issued', changes }))).toEqual({
      what: 'You created the key',
      details: [],
    });
    expect(activityText(item({ action: 'key_revoked' })).what).toBe('The operator revoked the key');
    const changed = activityText(
      item({
        by: 'billing',
        changes: [
          change('tier', 'Pro', 'Starter'),
          change('creditsLimit', 4000, 500),
          change('foundingCatalog', true, false),
          change('identityIds', ['a'], ['b', 'c']),
          change('apiAccess', true, false),
          change('status', 'active', 'past_due'),
          change('activeUntil', at(1), null),
          change('name', 'Old', 'New'),
          change('name', 'New', null),
          change('planName', null, 'Studio'),
          change('planName', 'Studio', null),
          change('somethingNew', 1, 2),
        ],
      }),
    );
    expect(changed).toEqual({
      what: 'Billing changed the license',
      details: [
        'Pro to Starter',
        '4,000 credits to 500 credits a month',
        'without the founding catalog',
        '2 identities more',
        '1 identity less',
        'API access switched off',
        'past due',
        'without an end',
        'named “New”',
        'no longer named “New”',
        'plan “Studio”',
        'somethingNew changed',
      ],
    });
  });

  test('of a new license says what it has', () => {
    const changes = [
      change('name', null, 'Labs'),
      change('tier', null, 'Pro'),
      change('creditsLimit', null, 4000),
      change('foundingCatalog', null, true),
      change('apiAccess', null, true),
      change('status', null, 'active'),
      change('periodAnchor', null, at(0)),
    ];
    expect(activityText(item({ action: 'license_granted', changes })).details).toEqual([
      'named “Labs”',
      'Pro',
      '4,000 credits a month',
      'with the founding catalog',
    ]);
  });
});

describe('a budget', () => {
  test('takes the credits that the service takes, typed in digits', () => {
    expect(maxMonthlyCredits).toBe(serviceBudget);
    for (const budget of ['', ' ', '1', ' 500 ', '007', String(serviceBudget)]) {
      expect({ budget, problem: budgetProblem(budget) }).toEqual({ budget, problem: null });
      expect(createKeyBody.safeParse(bodyOf(form({ budget }), nowMs)).success).toBe(true);
    }
    expect(bodyOf(form({ budget: ' 500 ' }), nowMs).monthlyCredits).toBe(500);
    const tooLarge = String(serviceBudget + 1);
    for (const budget of ['0', '-1', '1.5', '1e3', '0x10', '1,000', 'many', tooLarge, '9'.repeat(40)]) {
      expect({ budget, problem: budgetProblem(budget) }).toEqual({ budget, problem: expect.any(String) });
      expect(createKeyBody.safeParse(bodyOf(form({ budget }), nowMs)).success).toBe(false);
    }
  });

  test('of which nothing is used up until its last credit is', () => {
    const view = (monthlyCredits: number | null, creditsUsed: number) =>
      budgetOf({ monthlyCredits, creditsUsed });
    expect(view(500, 120)).toEqual({ text: '120 of 500 credits', barPercent: 24, isUsedUp: false });
    expect(view(500, 0)).toMatchObject({ barPercent: 0, isUsedUp: false });
    expect(view(5000, 1)).toMatchObject({ barPercent: 1, isUsedUp: false });
    expect(view(500, 499)).toMatchObject({ barPercent: 99, isUsedUp: false });
    expect(view(500, 500)).toMatchObject({ barPercent: 100, isUsedUp: true });
    // It was lowered.
    expect(view(1, 500)).toEqual({ text: '500 of 1 credit', barPercent: 100, isUsedUp: true });
    expect(view(null, 12)).toEqual({ text: '12 credits used', barPercent: null, isUsedUp: false });
  });
});

describe('an edit', () => {
  const edited = (changes: Partial<ReturnType<typeof editOf>>, monthlyCredits: number | null = 500) => {
    const before = { name: 'my app', monthlyCredits };
    return changesOf(before, { ...editOf(before), ...changes });
  };

  test('sends only what is different', () => {
    expect(edited({})).toBeNull();
    expect(edited({}, null)).toBeNull();
    expect(edited({ name: ' my app ', budget: ' 500 ' })).toBeNull();
    expect(edited({ name: 'CI' })).toEqual({ name: 'CI' });
    expect(edited({ budget: '600' })).toEqual({ monthlyCredits: 600 });
    expect(edited({ budget: '600' }, null)).toEqual({ monthlyCredits: 600 });
    expect(edited({ name: 'CI', budget: '' })).toEqual({ name: 'CI', monthlyCredits: null });
  });

  test.each<Partial<ReturnType<typeof editOf>>>([{ name: 'CI' }, { budget: '' }, { budget: '1' }])(
    'is taken by the service: %j',
    (changes) => {
      expect(changeKeyBody.safeParse(edited(changes)).success).toBe(true);
    },
  );
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

describe('refused calls', () => {
  test('are those of the days of UTC that were asked for, today included', () => {
    const totals = (range: RefusalRange) =>
      refusalsIn(refusalDays, range, firstMinutesMs).map(({ keyId, count }) => [keyId, count]);
    expect(totals(today)).toEqual([
      ['key_1', 2],
      [null, 1],
    ]);
    expect(totals(week)).toEqual([
      ['key_1', 7],
      [null, 1],
    ]);
    expect(totals(month)).toEqual([
      [null, 101],
      ['key_2', 90],
      ['key_1', 47],
    ]);
    expect(refusalsIn([], month, firstMinutesMs)).toEqual([]);
  });

  test('of a key are counted by code, the most frequent first, with the days of each', () => {
    const [, , one] = refusalsIn(refusalDays, month, firstMinutesMs);
    expect(one!.codes).toEqual([
      { code: 'RATE_LIMITED', count: 40, days: [{ date: '2026-11-17', count: 40 }] },
      {
        code: 'TIER_LIMIT',
        count: 7,
        days: [
          { date: '2026-11-24', count: 2 },
          { date: '2026-11-18', count: 5 },
        ],
      },
    ]);
  });
});
