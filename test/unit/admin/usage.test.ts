import { describe, expect, test } from '@jest/globals';
import { isKeyId, keyStatus } from '../../../shared/domain/api-key.ts';
import { billingPeriod } from '../../../shared/domain/billing-period.ts';
import { usageAggregates, usageStats } from '../../../shared/domain/usage.ts';

const startMs = Date.UTC(2026, 10, 15, 9);
const nowMs = Date.UTC(2026, 10, 21, 9);
const period = billingPeriod(startMs, nowMs);

describe('usage statistics', () => {
  const stats = (used: number, creditsLimit: number, atMs = nowMs) =>
    usageStats({ tier: 'pro', creditsLimit }, used, period, atMs);

  test('tell where a period stands', () => {
    expect(stats(1234, 4000)).toEqual({
      current: 1234,
      limit: 4000,
      percentage: 30,
      billingPeriodStart: '2026-11-15T09:00:00.000Z',
      billingPeriodEnd: '2026-12-15T09:00:00.000Z',
      daysRemaining: 24,
      tier: 'Pro',
    });
  });

  test.each([
    [0, 500, 0],
    [499, 500, 99],
    [500, 500, 100],
    [1, 3, 33],
    [29, 100, 29],
    [57, 100, 57],
    [300, 200, 150],
    [0, 0, 100],
  ])('%i of %i credits are %i percent', (used, limit, percentage) => {
    expect(stats(used, limit).percentage).toBe(percentage);
  });

  test('a day that has begun is still counted', () => {
    expect(stats(0, 1, period.startMs).daysRemaining).toBe(30);
    expect(stats(0, 1, period.startMs + 1).daysRemaining).toBe(30);
    expect(stats(0, 1, period.endMs - 1).daysRemaining).toBe(1);
  });

  test('name every type and every identity, whatever became of it', () => {
    const tallies = {
      byType: { reference: { requests: 2, credits: 8 } },
      byIdentity: { idn_1: { requests: 1, credits: 4 }, gone: { requests: 1, credits: 4 } },
      byDay: {},
    };
    const identities = [{ identityId: 'idn_1', name: 'Aurora', slug: 'aurora' }];
    expect(usageAggregates(tallies, identities, period, nowMs)).toMatchObject({
      byType: {
        text_to_image: { requests: 0, credits: 0 },
        reference: { requests: 2, credits: 8 },
        exact_product: { requests: 0, credits: 0 },
      },
      byIdentity: {
        idn_1: { name: 'Aurora', slug: 'aurora', requests: 1, credits: 4 },
        gone: { name: 'gone', slug: 'gone', requests: 1, credits: 4 },
      },
    });
  });
});

test("a key's status is its revocation first, then its end", () => {
  const status = (revokedAtMs: number | null, expiresAtMs: number | null) =>
    keyStatus({ revokedAtMs, expiresAtMs }, nowMs);
  expect(status(null, null)).toBe('active');
  expect(status(null, nowMs + 1)).toBe('active');
  expect(status(null, nowMs)).toBe('expired');
  expect(status(nowMs - 1, null)).toBe('revoked');
  expect(status(nowMs - 1, nowMs - 2)).toBe('revoked');
});

test('only the id of a key looks like one', () => {
  expect(isKeyId(`key_${'0a'.repeat(16)}`)).toBe(true);
  for (const text of [
    '',
    'key_',
    `key_${'0A'.repeat(16)}`,
    `key_${'0a'.repeat(17)}`,
    `KEY#${'0a'.repeat(16)}`,
  ]) {
    expect(isKeyId(text)).toBe(false);
  }
});
