import { describe, expect, jest, test } from '@jest/globals';
import { billingPeriod } from '../../../shared/licenses/billing-period.ts';
import { fingerprintApiKey, isApiKey } from '../../../shared/keys/api-key.ts';
import { whyInactive, type License } from '../../../shared/licenses/license.ts';
import type { RateDecision } from '../../../shared/limits/rate-limit.ts';
import type { ApiKey, ApiKeyStore, Insertion } from '../../../shared/keys/store.ts';
import { createdKey, issueApiKey, keyAnswer, keyAnswers } from '../../../shared/keys/manage.ts';
import { periodFromItem, tallyNames } from '../../../shared/licenses/period-store.ts';
import { sampleKeyId, sampleLicense } from '../../support/unit-samples.ts';

const nowMs = Date.UTC(2026, 4, 17, 11, 23, 45, 678);
const iso = (ms: number) => new Date(ms).toISOString();

const rate: RateDecision = { allowed: true, log: [nowMs], remaining: 99, resetSeconds: 86_400 };

/** Remembers what it is given, unless it refuses. */
function storeThat(refuses: Insertion | null = null) {
  const kept: ApiKey[] = [];
  const insert = (key: ApiKey): Promise<Insertion> => {
    if (refuses === null) kept.push(key);
    return Promise.resolve(refuses ?? { stored: true, rate });
  };
  return { kept, store: { insert } as unknown as ApiKeyStore };
}

/** The members that both answers have. */
const shown = {
  keyId: 'key_1',
  keyPrefix: 'svc_live_abcd',
  name: 'mine',
  licenseId: 'lic_1',
  monthlyCredits: 500,
  access: 'own',
  maxInFlight: 2,
} as const;
const times = { createdAtMs: nowMs, expiresAtMs: nowMs + 5000, revokedAtMs: null };
const key: ApiKey = { ...shown, ...times, sha256: 'hash', ownerId: 'owner' };
const shownTimes = { createdAt: iso(nowMs), expiresAt: iso(nowMs + 5000) };

const command = { license: sampleLicense, name: 'mine', expiresAtMs: nowMs + 1, monthlyCredits: 7 };

describe('a key that is issued', () => {
  test('is a real one, of the license and its owner', async () => {
    const { kept, store } = storeThat();
    const decided = jest.fn();
    const { rawKey, key: issued } = await issueApiKey(command, store, nowMs, decided);
    expect(decided.mock.calls).toEqual([[rate]]);
    expect(isApiKey(rawKey)).toBe(true);
    expect(issued).toEqual({
      ...fingerprintApiKey(rawKey),
      keyPrefix: rawKey.slice(0, 13),
      name: 'mine',
      monthlyCredits: 7,
      access: 'license',
      maxInFlight: null,
      licenseId: sampleLicense.licenseId,
      ownerId: sampleLicense.ownerId,
      createdAtMs: nowMs,
      expiresAtMs: nowMs + 1,
      revokedAtMs: null,
    });
    expect(kept).toEqual([issued]);
  });

  const { licenseId } = sampleLicense;
  test.each<[string, Insertion, [message: string, retryAfterSeconds?: number]]>([
    [
      'finds no room beside 25 active ones',
      { stored: false, noRoom: { reason: 'active' } },
      [`The license ${licenseId} has 25 active keys already: revoke one first.`],
    ],
    [
      'finds no room beside 50 of the last minute',
      { stored: false, noRoom: { reason: 'recent', waitSeconds: 17 } },
      [
        `The license ${licenseId} has 50 keys that are active or ended within the last 60 seconds: wait 17 seconds.`,
      ],
    ],
    [
      'is one too many for a day',
      { stored: false, noRoom: null, rate: { ...rate, allowed: false, remaining: 0, resetSeconds: 4000 } },
      ['At most 100 new keys in 24 hours are allowed for one account. Try again in 4000 seconds.', 4000],
    ],
  ])('%s, and the sentence says what to do', async (_what, refusal, [message, retryAfterSeconds]) => {
    const { store } = storeThat(refusal);
    const code = retryAfterSeconds === undefined ? 'KEY_LIMIT_REACHED' : 'RATE_LIMITED';
    const error = { code, message, retryAfterSeconds };
    await expect(issueApiKey(command, store, nowMs)).rejects.toMatchObject(error);
  });

  test.each<Partial<License>>([{ status: 'ended' }, { apiAccess: false }, { activeUntilMs: nowMs }])(
    'of an inactive license (%j) is refused before it is made, with the reason',
    async (change) => {
      const { kept, store } = storeThat();
      const license = { ...sampleLicense, ...change };
      await expect(issueApiKey({ ...command, license }, store, nowMs)).rejects.toMatchObject({
        code: 'LICENSE_INACTIVE',
        message: `The license ${license.licenseId} gets no keys: ${whyInactive(license, nowMs)}.`,
      });
      expect(kept).toEqual([]);
    },
  );
});

test('the one answer with the raw key has exactly these members', () => {
  expect(createdKey('raw', key)).toEqual({ ...shown, ...shownTimes, key: 'raw' });
  expect(createdKey('raw', { ...key, expiresAtMs: null }).expiresAt).toBeNull();
});

describe('a key in a list', () => {
  test('has exactly these members, and never the hash', () => {
    const revoked = { ...key, revokedAtMs: nowMs + 7 };
    const used = { lastUsedAtMs: nowMs + 3, creditsUsed: 12 };
    const ended = {
      status: 'revoked',
      revokedAt: iso(nowMs + 7),
      lastUsedAt: iso(nowMs + 3),
      creditsUsed: 12,
    };
    expect(keyAnswer(revoked, used, nowMs + 9)).toEqual({ ...shown, ...shownTimes, ...ended });
  });

  test('that was never used, never expires, was not revoked and has no budget says so by null', () => {
    const bare = { ...key, expiresAtMs: null, monthlyCredits: null };
    const answer = keyAnswer(bare, { lastUsedAtMs: null, creditsUsed: 0 }, nowMs);
    const nulls = { lastUsedAt: null, expiresAt: null, revokedAt: null, monthlyCredits: null };
    expect(answer).toMatchObject({ status: 'active', ...nulls });
  });
});

test('keys are listed with what each used of its license in the period that runs, and when those that are asked for were used', async () => {
  const [used, unused, lost] = [
    { ...key, keyId: sampleKeyId, licenseId: sampleLicense.licenseId },
    { ...key, keyId: 'key_2', licenseId: sampleLicense.licenseId },
    { ...key, keyId: 'key_3', licenseId: 'lic_gone' },
  ];
  const at = {
    type: 'text_to_image',
    identityId: 'idn_1',
    completedAtMs: nowMs,
    keyId: sampleKeyId,
  } as const;
  const [requests, credits] = tallyNames(at).at(-1)!;
  const read: unknown[] = [];
  const answers = await keyAnswers(
    [used, unused, lost],
    {
      apiKeys: {
        lastUsed: (...asked) => {
          read.push(asked);
          return Promise.resolve(new Map([[sampleKeyId, nowMs - 1]]));
        },
      },
      licenses: {
        getMany: (ids) => {
          read.push(ids);
          return Promise.resolve(new Map([[sampleLicense.licenseId, sampleLicense]]));
        },
      },
      periods: {
        getMany: (periods) => {
          read.push(periods);
          return Promise.resolve(periods.map(() => periodFromItem({ [requests]: 1, [credits]: 4 })));
        },
      },
      keyLimitNames: ['generate'],
    },
    nowMs,
    [used],
  );
  expect(answers).toEqual([
    keyAnswer(used, { lastUsedAtMs: nowMs - 1, creditsUsed: 4 }, nowMs),
    keyAnswer(unused, { lastUsedAtMs: null, creditsUsed: 0 }, nowMs),
    keyAnswer(lost, { lastUsedAtMs: null, creditsUsed: 0 }, nowMs),
  ]);
  const { licenseId, periodAnchorMs } = sampleLicense;
  const { startMs } = billingPeriod(periodAnchorMs, nowMs);
  expect(read).toEqual([[[sampleKeyId], ['generate']], [licenseId, 'lic_gone'], [{ licenseId, startMs }]]);
});
