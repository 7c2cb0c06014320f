import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Table } from '../../shared/store/table.ts';
import { grant, tableOf, type Granted } from '../support/grants.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';

let service: RunningService;
let table: Table;

beforeAll(async () => {
  service = await startService();
  table = tableOf(service.dataDir);
});

afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

/**
 * A request in which every check fails. Each step mends the first failure, so the answers must come in the order
 * that was decided.
 */
test('of several failures, the first in the decided order is told', async () => {
  const { ember, drift } = service.ready.identities;
  // Starter, everything used up; ember has no model, so even a perfect request would end with 503.
  const { key } = await grant(table, { tier: 'starter', creditsLimit: 5, used: 5 });
  const wrong = { prompt: '', numOutputs: 9, width: 4096, height: 4096 };
  const valid = { ...wrong, prompt: 'x' };
  const fits = { prompt: 'x' };
  const steps: [string | undefined, unknown, number, string][] = [
    ['svc_live_wrong', '{', 401, 'INVALID_API_KEY'],
    [key, '{', 400, 'INVALID_BODY'],
    [key, wrong, 400, 'MISSING_IDENTITY'],
    [key, { ...wrong, identityId: 'idn_unknown' }, 404, 'IDENTITY_NOT_FOUND'],
    [key, { ...wrong, identityId: drift }, 401, 'IDENTITY_MISMATCH'],
    [key, { ...wrong, identityId: ember }, 400, 'INVALID_PARAMETERS'],
    [key, { ...valid, identityId: ember }, 400, 'TIER_LIMIT'],
    [key, { ...fits, identityId: ember }, 429, 'CREDIT_LIMIT_EXCEEDED'],
  ];
  for (const [sentKey, body, status, code] of steps) {
    const answer = await service.api({ path: '/generate', key: sentKey, body });
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
  }
  const rich = await grant(table, { tier: 'starter', creditsLimit: 5 });
  const answer = await service.api({
    path: '/generate',
    key: rich.key,
    body: { ...fits, identityId: ember },
  });
  expect(answer.body.code).toBe('IDENTITY_UNAVAILABLE');
});

async function exhaust({ key }: Granted): Promise<void> {
  for (let i = 0; i < 10; i++) await service.api({ path: '/generate', key, body: '{' });
}

test('a rate-limited key hears RATE_LIMITED before anything about its body', async () => {
  const granted = await grant(table);
  await exhaust(granted);
  const answer = await service.api({ path: '/generate', key: granted.key, body: '{' });
  expect([answer.status, answer.body.code]).toEqual([429, 'RATE_LIMITED']);
});

test('a key that is refused hears INVALID_API_KEY even when its limit is used up', async () => {
  const granted = await grant(table);
  await exhaust(granted);
  const { licenseStore } = await import('../../shared/store/license-store.ts');
  await licenseStore(table).update(granted.license.licenseId, { status: 'ended' });
  const answer = await service.api({ path: '/generate', key: granted.key, body: '{' });
  expect([answer.status, answer.body.code]).toEqual([401, 'INVALID_API_KEY']);
});

test('an idempotency key of the wrong form is told with the parameters, not before the identity', async () => {
  const { key } = await grant(table);
  const headers = { 'idempotency-key': 'two words' };
  const missing = await service.api({ path: '/generate', key, headers, body: { prompt: '' } });
  expect(missing.body.code).toBe('MISSING_IDENTITY');
  const body = { identityId: service.ready.identities.aurora, prompt: '' };
  const answer = await service.api({ path: '/generate', key, headers, body });
  expect(answer.body.code).toBe('INVALID_PARAMETERS');
  expect(answer.body.error).toMatch(/Idempotency-Key.*prompt/s);
});
