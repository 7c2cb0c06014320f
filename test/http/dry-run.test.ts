import { describe, expect, test } from '@jest/globals';
import { expectError, expectOk } from '../support/answers.ts';
import { grant, type Granted } from '../support/grants.ts';
import { objectsOf } from '../support/objects.ts';
import { small } from '../support/requests.ts';
import type { ApiAnswer } from '../support/service.ts';
import { itemsWith } from '../support/table-scan.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
const { table } = service;

const body = (changes: object = {}) => ({
  ...small,
  identityId: service.ready.identities.aurora,
  ...changes,
});

const send = (
  key: string,
  sent: unknown,
  { query = '?dryRun=true', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
): Promise<ApiAnswer> => service.api({ path: `/generate${query}`, key, body: sent, headers });

/** Every item of the table that tells of a license or a key, but the logs of rate limits: a dry run counts for them. */
async function itemsOf({ license, keyId }: Granted): Promise<unknown[]> {
  const items = await itemsWith(table, [license.licenseId, keyId]);
  return items.filter(({ PK }) => !String(PK).startsWith('RATE#'));
}

const keysOf = ({ license }: Granted) => objectsOf(service.dataDir, license).map(({ key }) => key);

describe('POST /generate?dryRun=true', () => {
  test('tells what the request costs, and leaves no trace', async () => {
    const granted = await grant(table, { creditsLimit: 10, used: 3 });
    const { key } = granted;
    const items = await itemsOf(granted);
    expect(items.length).toBeGreaterThan(2);
    const answer = await send(key, body({ numOutputs: 2 }), {
      headers: { 'idempotency-key': 'dry', accept: 'text/event-stream', prefer: 'respond-async' },
    });
    expectOk(answer);
    expect(answer.headers.has('preference-applied')).toBe(false);
    expect(answer.body).toMatchObject({
      dryRun: true,
      accepted: true,
      identity: { id: service.ready.identities.aurora },
      credits: 2,
      usage: { creditsUsed: 3, creditsLimit: 10, creditsRemaining: 7, creditsCharged: 0 },
    });
    expect([await itemsOf(granted), keysOf(granted)]).toEqual([items, []]);
    const again = await service.api({ path: `/generate/${answer.headers.get('x-request-id')}`, key });
    expectError(again, 404, 'REQUEST_NOT_FOUND');
  });

  test('is refused exactly as the request itself is', async () => {
    const { drift, ember } = service.ready.identities;
    const poor = { creditsLimit: 1 };
    const cases: [code: string, unknown, object?][] = [
      ['INVALID_BODY', '{'],
      ['IDENTITY_MISMATCH', body({ identityId: drift })],
      ['INVALID_PARAMETERS', body({ width: 500, steps: 3 })],
      ['TIER_LIMIT', body({ numOutputs: 2 }), { tier: 'starter' }],
      ['CREDIT_LIMIT_EXCEEDED', body({ identityId: ember, numOutputs: 2 }), poor],
      ['IDENTITY_UNAVAILABLE', body({ identityId: ember })],
    ];
    for (const [code, sent, changes] of cases) {
      const { key } = await grant(table, changes);
      const [dry, real] = [await send(key, sent), await send(key, sent, { query: '?dryRun=false' })];
      expectError(dry, real.status, code);
      expect(dry.body).toEqual(real.body);
      expect(dry.headers.has('retry-after')).toBe(real.headers.has('retry-after'));
    }
  });
});
