import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newApiKey } from '../../shared/domain/api-key.ts';
import { routes } from '../../shared/routes.ts';
import { grant } from '../support/grants.ts';
import { startRecordedGateway, type RecordedGateway, type TableCall } from '../support/recorded-gateway.ts';
import { callApi } from '../support/service.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
const { table } = service;
let recorded: RecordedGateway;

beforeAll(async () => {
  recorded = await startRecordedGateway(service.dataDir);
});

afterAll(() => recorded.close());

/** Sends a request that is correct but for its key. @returns what the table was asked for meanwhile. */
async function callsFor(key: string): Promise<TableCall[]> {
  const before = recorded.calls.length;
  const body = { identityId: service.ready.identities.aurora, prompt: 'x' };
  const { status } = await callApi(recorded.baseUrl, { path: '/generate', key, body });
  expect(status).toBe(401);
  return recorded.calls.slice(before);
}

/** The reads, without what is each key's own. */
function readsIn(calls: TableCall[]): string[] {
  const shapeOf = (key: string) => key.replace(/#\w+/g, '#…');
  return calls
    .filter(({ operation }) => operation !== 'UpdateItem' && operation !== 'PutItem')
    .map(({ operation, keys }) => `${operation} ${keys.map(shapeOf).toSorted().join(', ')}`)
    .toSorted();
}

/**
 * A stranger must not learn from the time of a refusal whether a key exists. What takes time is the table;
 * `test/long/key-timing.test.ts` looks at the clock.
 */
test('a key is refused after the same reads, whether it was revoked, has expired or was never made', async () => {
  const revoked = await grant(table, { key: { revokedAtMs: 1 } });
  const expired = await grant(table, { key: { createdAtMs: 0, expiresAtMs: 1 } });
  const ended = await grant(table, { status: 'ended' });
  const neverMade = await callsFor(newApiKey());
  expect(neverMade.length).toBeGreaterThan(1);
  for (const key of [revoked.key, expired.key]) {
    const calls = await callsFor(key);
    expect(readsIn(calls)).toEqual(readsIn(neverMade));
    expect(calls).toHaveLength(neverMade.length);
  }
  // Its use is written to the rate log, and its refusal does not wait for that; when its limit is used up, too.
  for (let i = 0; i <= routes.createGeneration.limit.quota; i++) {
    expect(readsIn(await callsFor(ended.key))).toEqual(readsIn(neverMade));
  }
});
