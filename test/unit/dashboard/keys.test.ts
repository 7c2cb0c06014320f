import { describe, expect, test } from '@jest/globals';
import type { ActivityItem } from '../../../shared/licenses/activity-contract.ts';
import type { KeyAnswer } from '../../../shared/keys/answer-contract.ts';
import { createKeyBody } from '../../../shared/keys/contract.ts';
import { maxActiveKeys as serviceLimit } from '../../../shared/keys/slots.ts';
import { activityText } from '../../../dashboard/src/screens/keys/activity-view.ts';
import {
  changeKeyAdvice,
  createKeyAdvice,
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
  countKeys,
  expiryAt,
  refusalAt,
  filterKeys,
  maxActiveKeys,
  statusAt,
} from '../../../dashboard/src/screens/keys/key-view.ts';

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

  test('is told in plain words', () => {
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
