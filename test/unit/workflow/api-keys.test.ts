import { describe, expect, test } from '@jest/globals';
import { fingerprintApiKey, isApiKey } from '../../../shared/domain/api-key.ts';
import { whyInactive } from '../../../shared/domain/license.ts';
import type { ApiKey, ApiKeyStore } from '../../../shared/store/api-key-store.ts';
import { createdKey, issueApiKey, keyAnswer } from '../../../shared/workflow/api-keys.ts';
import { sampleLicense } from '../../support/unit-samples.ts';

const nowMs = Date.UTC(2026, 4, 17, 11, 23, 45, 678);
const iso = (ms: number) => new Date(ms).toISOString();

/** Remembers what it is given, as long as it has room. */
function roomFor(count: number) {
  const kept: ApiKey[] = [];
  const store = {
    insert: (key: ApiKey) => Promise.resolve(kept.length < count && kept.push(key) > 0),
  } as unknown as ApiKeyStore;
  return { kept, store };
}

const key: ApiKey = {
  keyId: 'key_1',
  sha256: 'hash',
  keyPrefix: 'svc_live_abcd',
  name: 'mine',
  licenseId: 'lic_1',
  ownerId: 'owner',
  createdAtMs: nowMs,
  expiresAtMs: nowMs + 5000,
  revokedAtMs: null,
};

describe('a key that is issued', () => {
  test.each([null, nowMs + 1])(
    'is a real one, of the license and its owner, that expires at %p',
    async (expiresAtMs) => {
      const { kept, store } = roomFor(1);
      const command = { license: sampleLicense, name: 'mine', expiresAtMs };
      const { rawKey, key: issued } = await issueApiKey(command, store, nowMs);
      expect(isApiKey(rawKey)).toBe(true);
      expect(issued).toEqual({
        ...fingerprintApiKey(rawKey),
        keyPrefix: rawKey.slice(0, 13),
        name: 'mine',
        licenseId: sampleLicense.licenseId,
        ownerId: sampleLicense.ownerId,
        createdAtMs: nowMs,
        expiresAtMs,
        revokedAtMs: null,
      });
      expect(kept).toEqual([issued]);
    },
  );

  test('finds no room beside 25 others, and the sentence says what to do', async () => {
    const { store } = roomFor(0);
    const command = { license: sampleLicense, name: 'mine', expiresAtMs: null };
    await expect(issueApiKey(command, store, nowMs)).rejects.toMatchObject({
      code: 'KEY_LIMIT_REACHED',
      message: `The license ${sampleLicense.licenseId} has 25 active keys already: revoke one first.`,
    });
  });

  test.each([
    ['of a license that ended', { status: 'ended' as const }],
    ['of a license that is suspended', { status: 'past_due' as const }],
    ['of a license without API access', { apiAccess: false }],
    ['of a license that ran out', { activeUntilMs: nowMs }],
  ])('%s is refused before it is made, with the reason', async (_what, change) => {
    const { kept, store } = roomFor(1);
    const license = { ...sampleLicense, ...change };
    const command = { license, name: 'mine', expiresAtMs: null };
    await expect(issueApiKey(command, store, nowMs)).rejects.toMatchObject({
      code: 'LICENSE_INACTIVE',
      message: `The license ${license.licenseId} gets no keys: ${whyInactive(license, nowMs)}.`,
    });
    expect(kept).toEqual([]);
  });
});

test('the one answer with the raw key has exactly these members', () => {
  expect(createdKey('raw', key)).toEqual({
    keyId: 'key_1',
    key: 'raw',
    keyPrefix: 'svc_live_abcd',
    name: 'mine',
    licenseId: 'lic_1',
    createdAt: iso(nowMs),
    expiresAt: iso(nowMs + 5000),
  });
  expect(createdKey('raw', { ...key, expiresAtMs: null }).expiresAt).toBeNull();
});

describe('a key in a list', () => {
  test('has exactly these members, and never the hash', () => {
    expect(keyAnswer({ ...key, revokedAtMs: nowMs + 7 }, nowMs + 3, nowMs + 9)).toEqual({
      keyId: 'key_1',
      keyPrefix: 'svc_live_abcd',
      name: 'mine',
      licenseId: 'lic_1',
      status: 'revoked',
      createdAt: iso(nowMs),
      lastUsedAt: iso(nowMs + 3),
      expiresAt: iso(nowMs + 5000),
      revokedAt: iso(nowMs + 7),
    });
  });

  test('that was never used, never expires and was not revoked says so by null', () => {
    expect(keyAnswer({ ...key, expiresAtMs: null }, null, nowMs)).toMatchObject({
      status: 'active',
      lastUsedAt: null,
      expiresAt: null,
      revokedAt: null,
    });
  });
});
