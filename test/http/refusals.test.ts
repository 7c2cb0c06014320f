import { describe, expect, test } from '@jest/globals';
import { dateOf } from '../../shared/limits/refusals.ts';
import { newAccount, type Account } from '../support/accounts.ts';
import { callTool } from '../support/agent.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { grant } from '../support/grants.ts';
import { generate, small } from '../support/requests.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
const { aurora, flint } = service.ready.identities as Record<string, string>;

async function refusalsOf({ bySession, license }: Account): Promise<Record<string, number>> {
  const answer = await bySession(`/licenses/${license.licenseId}/refusals`);
  expectOk(answer);
  // Midnight may pass during a test.
  const counts: Record<string, number> = {};
  for (const { refusals } of answer.body.days) {
    for (const { keyId, code, count } of refusals) {
      counts[`${keyId} ${code}`] = (counts[`${keyId} ${code}`] ?? 0) + count;
    }
  }
  return counts;
}

describe('GET /licenses/{licenseId}/refusals', () => {
  test('counts what was refused in every way of asking, and nothing that was accepted', async () => {
    const account = await newAccount(service);
    const { key, keyId, license, bySession } = account;
    const { licenseId } = license;
    const tooMany = { ...small, identityId: aurora, numOutputs: 99 };
    const events = { accept: 'text/event-stream' };
    expectOk(await generate(service, key, { identityId: aurora }));
    expectError(await generate(service, key, { identityId: flint }), 500, 'GENERATION_FAILED');
    expect(await refusalsOf(account)).toEqual({});
    expectError(await service.api({ path: '/generate', key, body: {} }), 400, 'MISSING_IDENTITY');
    expectError(
      await service.api({ path: '/generate', key, body: {}, headers: events }),
      400,
      'MISSING_IDENTITY',
    );
    expectError(await service.api({ path: '/generate', key, body: tooMany }), 400, 'TIER_LIMIT');
    expect((await service.api({ path: '/openai/v1/models/nobody', key })).status).toBe(404);
    expectError(await service.api({ path: '/generate/nothing', key }), 404, 'REQUEST_NOT_FOUND');
    await callTool(service, key, 'get_generation', { requestId: 'nothing' });
    const ofPlayground = { body: { ...tooMany, licenseId } };
    expectError(await bySession('/playground/generate', ofPlayground), 400, 'TIER_LIMIT');
    // No license is known of these.
    expectError(await bySession('/generate/nothing'), 404, 'REQUEST_NOT_FOUND');
    expectError(await bySession('/playground/generate', { body: tooMany }), 400, 'INVALID_PARAMETERS');
    expect(await refusalsOf(account)).toEqual({
      [`${keyId} MISSING_IDENTITY`]: 2,
      [`${keyId} TIER_LIMIT`]: 1,
      [`${keyId} IDENTITY_NOT_FOUND`]: 1,
      [`${keyId} REQUEST_NOT_FOUND`]: 2,
      'null TIER_LIMIT': 1,
    });
    const { days } = (await bySession(`/licenses/${licenseId}/refusals?days=2`)).body;
    expect([dateOf(Date.now()), dateOf(Date.now(), 1)]).toContain(days[0].date);
    expect(days[0].refusals.map(({ count }: any) => count)).toEqual(
      days[0].refusals.map(({ count }: any) => count).toSorted((one: number, other: number) => other - one),
    );
  });

  test('counts a key whose license is not active, and no key that is revoked or was never made', async () => {
    const account = await newAccount(service, { status: 'ended' });
    const { key, keyId, license } = account;
    expectError(await generate(service, key, { identityId: aurora }), 401, 'INVALID_API_KEY');
    const { ownerId } = license;
    const inactive = await account.bySession('/playground/generate', {
      body: { ...small, identityId: aurora, licenseId: license.licenseId },
    });
    expectError(inactive, 403, 'LICENSE_INACTIVE');
    const counted = { [`${keyId} INVALID_API_KEY`]: 1, 'null LICENSE_INACTIVE': 1 };
    expect(await refusalsOf(account)).toEqual(counted);
    const revoked = await grant(service.table, { ownerId, key: { revokedAtMs: Date.now() } });
    expectError(await generate(service, revoked.key, { identityId: aurora }), 401, 'INVALID_API_KEY');
    expect(await refusalsOf({ ...account, license: revoked.license })).toEqual({});
  });

  test('counts nothing for a license of another account that a stranger names', async () => {
    const [mine, other] = [await newAccount(service), await newAccount(service)];
    const body = { ...small, identityId: aurora, licenseId: other.license.licenseId };
    expectError(await mine.bySession('/playground/generate', { body }), 404, 'LICENSE_NOT_FOUND');
    expect([await refusalsOf(mine), await refusalsOf(other)]).toEqual([{}, {}]);
  });

  test.each(['days=0', 'days=31', 'days=', 'days=1.5', 'days=7&days=7', 'limit=1'])(
    'refuses ?%s',
    async (query) => {
      const { bySession, license } = await newAccount(service);
      const answer = await bySession(`/licenses/${license.licenseId}/refusals?${query}`);
      expectError(answer, 400, 'INVALID_PARAMETERS');
    },
  );
});
