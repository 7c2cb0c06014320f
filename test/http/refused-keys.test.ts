import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { newApiKey } from '../../shared/keys/api-key.ts';
import { newRequestId } from '../../shared/base/ids.ts';
import { routes } from '../../shared/routes/routes.ts';
import type { Route } from '../../shared/routes/route.ts';
import { startRecordedGateway, type RecordedGateway, type TableCall } from '../support/recorded-gateway.ts';
import { small } from '../support/requests.ts';
import { callApi, type ApiCall } from '../support/service.ts';
import { identities, newAccount, service } from './fixture.ts';

let recorded: RecordedGateway;

beforeAll(async () => void (recorded = await startRecordedGateway(service.dataDir)));
afterAll(() => recorded.close());

/** The refusal of a request, and what the table was asked for meanwhile. */
async function refusalFor(key: string, call: Partial<ApiCall> = {}) {
  const before = recorded.calls.length;
  const body = { ...small, identityId: identities.aurora };
  const { status, body: answer } = await callApi(recorded.baseUrl, { path: '/generate', key, body, ...call });
  const refusal = answer as { error: string; code: string };
  return { status, ...refusal, calls: recorded.calls.slice(before) };
}

/** Reads, each with the items that it asks for, without what is each key's own. */
function readsIn(calls: TableCall[]): string[] {
  const shapeOf = (key: string) => key.replace(/#\w+/g, '#…');
  return calls
    .filter(({ operation }) => operation !== 'UpdateItem' && operation !== 'PutItem')
    .map(({ operation, keys }) => `${operation} ${keys.map(shapeOf).toSorted().join(', ')}`);
}

/** More than any caller may send of what costs the most to read: it is not even JSON. */
const hostileBody = `{"identityId":${'[{"a":'.repeat(170_000)}`;
const everyHeader = { 'idempotency-key': 'a-key', accept: 'text/event-stream' };

/** Sends the hostile body. @returns the refusal, when nothing parsed the body meanwhile. */
async function unparsedRefusal(
  key: string,
  { path, headers }: Pick<ApiCall, 'path'> & { headers?: Record<string, string> } = { path: '/generate' },
): ReturnType<typeof refusalFor> {
  const parse = jest.spyOn(JSON, 'parse');
  try {
    const refusal = await refusalFor(key, { path, body: hostileBody, headers: headers ?? everyHeader });
    expect(parse.mock.calls.filter(([text]) => text === hostileBody).length).toBe(0);
    return refusal;
  } finally {
    parse.mockRestore();
  }
}

/**
 * A stranger must not learn from the time of a refusal whether a key exists. What takes time is the table;
 * `test/long/key-timing.test.ts` looks at the clock.
 */
test('a key is refused after the same one read of two items, whether it was revoked, has expired or was never made', async () => {
  const revoked = await newAccount({ key: { revokedAtMs: 1 } });
  const expired = await newAccount({ key: { createdAtMs: 0, expiresAtMs: 1 } });
  const oneRead = ['BatchGetItem KEY#… KEY, RATE#… generate'];
  for (const key of [newApiKey(), revoked.key, expired.key]) {
    const { status, calls } = await unparsedRefusal(key);
    expect([status, readsIn(calls)]).toEqual([401, oneRead]);
    expect(calls).toHaveLength(1);
  }
  expect((await unparsedRefusal(`${newApiKey()}x`)).calls).toEqual([]);
});

test('the holder of a good key whose license has ended learns it after the license was read, and nothing else is', async () => {
  const ended = await newAccount({ status: 'ended' });
  const read = ['BatchGetItem KEY#… KEY, RATE#… generate', 'GetItem LICENSE#… LICENSE'];
  // When its limit is used up, too.
  for (let i = 0; i <= routes.createGeneration.limit.quota; i++) {
    const { status, code, error, calls } = await unparsedRefusal(ended.key);
    expect([status, code, readsIn(calls)]).toEqual([401, 'INVALID_API_KEY', read]);
    expect(error).toContain('its license is not active: it has ended');
  }
});

test('a body is not parsed for a caller over the limit, who hears of the limit first', async () => {
  const { key } = await newAccount();
  const { quota } = routes.createGeneration.limit;
  const codes: string[] = [];
  for (let i = 0; i < quota; i++) codes.push((await refusalFor(key, { body: hostileBody })).code);
  expect(codes).toEqual(codes.map(() => 'INVALID_BODY'));
  const { status, code, calls } = await unparsedRefusal(key);
  expect([status, code]).toEqual([429, 'RATE_LIMITED']);
  expect(readsIn(calls)).toHaveLength(2);
  const headers = { 'x-stainless-retry-count': '0' };
  for (const { path } of [routes.createOpenAiImage, routes.editOpenAiImage])
    expect((await unparsedRefusal(key, { path, headers })).status).toBe(429);
});

test('no route reads more than the key and its rate log for a stranger, nor a catalog', async () => {
  for (const { path, method, auth } of Object.values(routes as Record<string, Route>)) {
    if (auth !== 'key' && auth !== 'key_or_session') continue;
    const call = { path: path.replace('{requestId}', newRequestId(0)), method };
    const without = method === 'GET' ? { body: undefined } : {};
    const { status, calls } = await refusalFor(newApiKey(), { ...call, ...without });
    // The count of the refusal before may be written beside it.
    expect([path, status, readsIn(calls).length]).toEqual([path, 401, 1]);
    const read = calls.find(({ operation }) => operation !== 'UpdateItem')!;
    expect(read.keys.filter((key) => key.includes('#')).length).toBeLessThanOrEqual(2);
  }
});
