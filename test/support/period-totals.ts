import { expect } from '@jest/globals';
import { billingPeriod } from '../../shared/licenses/billing-period.ts';
import { creditPeriod } from '../../shared/licenses/credit-period.ts';
import { newGeneration, type Generation } from '../../shared/generations/generation.ts';
import { bodyFingerprint } from '../../shared/generations/idempotency.ts';
import { newRequestId } from '../../shared/base/ids.ts';
import { maxInFlight, type License } from '../../shared/licenses/license.ts';
import { hashIdempotencyKey } from '../../shared/generations/idempotency-store.ts';
import { generationStore } from '../../shared/generations/store.ts';
import { identityStore } from '../../shared/identities/store.ts';
import { licenseStore } from '../../shared/licenses/store.ts';
import { periodStore } from '../../shared/licenses/period-store.ts';
import type { Table } from '../../shared/table/table.ts';
import { createGenerationBody } from '../../shared/generations/contract.ts';
import { tableOf } from './grants.ts';

/**
 * Like `tableOf`, for tests with more than one service: the SDK reads its endpoint from the environment when it is
 * first used, so a first read fixes it before another service is pointed at.
 */
export async function fixedTableOf(dataDir: string): Promise<Table> {
  const table = tableOf(dataDir);
  await licenseStore(table).get('none');
  return table;
}

/** What a license's period totals are in the current period. */
export async function periodTotals(
  table: Table,
  license: License,
): Promise<{ used: number; committed: number }> {
  const { startMs } = billingPeriod(license.periodAnchorMs, Date.now());
  const { used, committed } = await periodStore(table).get(license.licenseId, startMs);
  return { used, committed };
}

/** Nothing is held, and so much is charged. */
export async function expectCharged(table: Table, license: License, credits: number): Promise<void> {
  expect(await periodTotals(table, license)).toEqual({ used: credits, committed: credits });
}

/** A request that was accepted, by the service's own code, and that nobody runs: as if its handler had died. */
export async function reserveAbandoned(
  table: Table,
  license: License,
  options: {
    identityId: string;
    prompt?: string;
    acceptedAtMs?: number;
    /** When it is that the license's period is the current one. */
    periodAtMs?: number;
    keyId?: string;
    /** How many it was sent with. */
    referenceImages?: number;
    /** Its body counts as an empty one. */
    idempotencyKey?: string;
  },
): Promise<Generation> {
  const { identityId, prompt = 'abandoned', acceptedAtMs = Date.now(), idempotencyKey } = options;
  const { keyId = `key_${'0'.repeat(32)}`, referenceImages: count = 0, periodAtMs = Date.now() } = options;
  const referenceImages = Array.from({ length: count }, (_, i) => ({ url: `https://a.example/${i}` }));
  const generation = newGeneration({
    requestId: newRequestId(acceptedAtMs),
    licenseId: license.licenseId,
    keyId,
    keyInFlight: null,
    identity: (await identityStore(table).get(identityId))!,
    body: createGenerationBody.parse({ identityId, prompt, width: 512, height: 512, referenceImages }),
    periodStartMs: creditPeriod(license, periodAtMs).startMs,
    creditsLimit: license.creditsLimit,
    nowMs: acceptedAtMs,
    deadlineSeconds: 60,
    retentionDays: 90,
    idempotencyKeyHash: idempotencyKey === undefined ? null : hashIdempotencyKey(idempotencyKey),
    moderation: null,
  });
  const bodyHash = bodyFingerprint('');
  const limits = { creditsLimit: license.creditsLimit, keyBudget: null, maxInFlight: maxInFlight(license) };
  const { outcome } = await generationStore(table).reserve(generation, limits, bodyHash);
  expect(outcome).toBe('reserved');
  return generation;
}
