import { expect, test } from '@jest/globals';
import { callTool } from '../support/agent.ts';
import { grant, issueKey } from '../support/grants.ts';
import { reserveAbandoned } from '../support/period-totals.ts';
import { newRequestId } from '../../shared/base/ids.ts';
import { small } from '../support/requests.ts';
import { useService } from '../support/use-service.ts';

const service = useService();

/** All of an answer that tells something: what is the same in no two of them stands as one word. */
function told(answer: { status: number; headers: Headers; body: unknown }, requestId: string): string {
  const { headers, ...rest } = answer;
  const changing = ['date', 'x-request-id', 'ratelimit'];
  const others = [...headers].filter(([name]) => !changing.includes(name));
  return JSON.stringify({ ...rest, others }).replaceAll(requestId, 'the id');
}

test('a key that leaked from a browser reads, lists and deletes nothing that it did not make, and leaves the other keys of its license their places', async () => {
  const { license, key, keyId } = await grant(service.table, { maxInFlight: 3 });
  const leaked = await issueKey(service.table, license, { access: 'own', maxInFlight: 1 });
  const trial = await issueKey(service.table, license, { monthlyCredits: 9 });
  const identityId = service.ready.identities.aurora!;
  const byKey = (path: string, by: string, rest = {}) => service.api({ path, key: by, ...rest });
  const send = (by: string, changes = {}, headers = {}) =>
    byKey('/generate', by, { body: { ...small, identityId, ...changes }, headers });

  const { requestId } = (await send(key)).body;
  const running = (await reserveAbandoned(service.table, license, { identityId })).requestId;
  const never = newRequestId(Date.now());
  for (const method of ['GET', 'DELETE']) {
    const missing = told(await byKey(`/generate/${never}`, leaked.key, { method }), never);
    for (const id of [requestId, running]) {
      expect(told(await byKey(`/generate/${id}`, leaked.key, { method }), id)).toBe(missing);
    }
  }
  const tool = (id: string) => callTool(service, leaked.key, 'get_generation', { requestId: id });
  expect(await tool(requestId)).toEqual(await tool(never));
  for (const query of ['', `?keyId=${keyId}`, '?search=quiet', '?limit=1']) {
    const { body } = await byKey(`/generate${query}`, leaked.key);
    expect(body).toEqual({ generations: [], nextCursor: null, searchedBackTo: null });
  }
  const refused = await byKey(`/generate/${requestId}`, trial.key, { method: 'DELETE' });
  expect([refused.status, refused.body.code]).toEqual([404, 'REQUEST_NOT_FOUND']);
  expect(refused.body.error).toContain('has a budget of its own');
  expect((await byKey(`/generate/${requestId}`, trial.key)).status).toBe(200);

  // With one place of three away, eight at once by a key without a limit would leave none.
  const timed = async () => {
    const startedMs = performance.now();
    const { status } = await send(key);
    return { status, seconds: ((performance.now() - startedMs) / 1000).toFixed(1) };
  };
  const before = await timed();
  const large = { width: 1024, height: 1024, numOutputs: 2, numInferenceSteps: 50 };
  const flood = await Promise.all(
    Array.from({ length: 8 }, () => send(leaked.key, large, { prefer: 'respond-async' })),
  );
  const during = await timed();
  const accepted = flood.filter(({ status }) => status === 202);
  expect([before.status, during.status, accepted.length]).toEqual([200, 200, 1]);
  const { body } = flood.find(({ status }) => status === 429)!;
  expect(body.error).toContain('This key has 1 request in flight');
  const own = await byKey('/generate', leaked.key);
  expect(own.body.generations.map((one: any) => one.id)).toEqual([accepted[0]!.body.requestId]);
  console.log(
    `8 requests at once with the leaked key held 1 place of 3; another key of its license took ${before.seconds} s before, ${during.seconds} s meanwhile`,
  );
});
