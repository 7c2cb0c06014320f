import { expect, test } from '@jest/globals';
import { newGeneration } from '../../shared/domain/generation.ts';
import { reserveItems } from '../../shared/store/generation-transactions.ts';
import { ttlAttribute } from '../../shared/store/table-keys.ts';
import { sampleBody, sampleIdentity } from '../support/unit-samples.ts';

test('the table may remove an idempotency key in the second after it ends, and not before', () => {
  const nowMs = Date.UTC(2026, 4, 17, 11, 23, 45, 678);
  const generation = newGeneration({
    requestId: 'r1',
    licenseId: 'lic_1',
    keyId: 'key_1',
    identity: sampleIdentity,
    body: sampleBody,
    periodStartMs: 0,
    nowMs,
    deadlineSeconds: 120,
    retentionDays: 90,
    onceId: 'once',
  });
  const { Item } = reserveItems('table', generation, 100, { bodyHash: 'h' })[2]!.Put!;
  expect(Item![ttlAttribute]).toBe(Date.UTC(2026, 4, 18, 11, 23, 46) / 1000);
});
