import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { demoIdentities } from '../../local/demo-data.ts';
import { generationStore } from '../../shared/generations/store.ts';
import { headersOf, messageOf } from '../support/agent.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { eventsIn, lastEvent } from '../support/events.ts';
import { issueKey, type Granted } from '../support/grants.ts';
import { objectsOf } from '../support/objects.ts';
import { openImage, pngSize } from '../support/png.ts';
import { generate, newestWith, small } from '../support/requests.ts';
import { itemsWith } from '../support/table-scan.ts';
import { pause } from '../support/until.ts';
import { identities, newAccount, service, table } from './fixture.ts';

const { aurora, drift, ember, flint, harbor } = identities;
const events = { accept: 'text/event-stream' };

// The playground’s are the same: playground.test.ts, and what hangs up below.
describe('the events of POST /generate', () => {
  test('are accepted, started, progress, then completed with the usual body', async () => {
    const answer = await (await newAccount()).generate({ identityId: harbor }, events);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, events.accept]);
    // Whoever meets other callers waits, and hears so.
    const sent = eventsIn(answer.body).filter(({ event }) => event !== 'queued');
    const requestId = answer.headers.get('x-request-id');
    expect(sent[0]).toMatchObject({ event: 'accepted', data: { requestId, creditsReserved: 1 } });
    expect(sent[1]).toEqual({ event: 'started', data: {} });
    const progress = sent.slice(2, -1);
    expect(progress.length).toBeGreaterThan(0);
    const steps = progress.map(({ data }) => data.step);
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    for (const { event, data } of progress) {
      expect([event, data.steps]).toEqual(['progress', small.numInferenceSteps]);
      expect(data.step >= 0 && data.step <= small.numInferenceSteps).toBe(true);
    }
    const last = sent.at(-1)!;
    expect(last).toMatchObject({ event: 'completed', data: { requestId, usage: { creditsCharged: 1 } } });
    await openImage(last.data.outputs[0]);
  });

  test('end with a failure, which says that nothing was charged', async () => {
    const { status, body } = await (await newAccount()).generate({ identityId: flint }, events);
    expect(status).toBe(200);
    const error = expect.stringMatching(/^The model could not finish the image\. .*Nothing was charged/);
    const data = { code: 'GENERATION_FAILED', status: 500, error };
    expect(lastEvent(body)).toEqual({ event: 'failed', data });
  });

  test('of a replay are one completed event', async () => {
    const own = await newAccount();
    const headers = { ...events, 'idempotency-key': 'events' };
    const [first, again] = [await own.generate({}, headers), await own.generate({}, headers)];
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const { requestId } = lastEvent(first.body).data;
    expect(eventsIn(again.body)).toMatchObject([{ event: 'completed', data: { requestId } }]);
  });
});

const failWith = String(demoIdentities.flint!.painter!.failWith);

test('flint is 500 GENERATION_FAILED and stored as FAILED, with no word of the model: those are in the log', async () => {
  const own = await newAccount();
  const answer = await own.generate({ identityId: flint });
  expectError(answer, 500, 'GENERATION_FAILED');
  expect(answer.body.error).toMatch(/^The model could not finish the image\. /);
  const requestId = answer.headers.get('x-request-id')!;
  expect(await own.stored(requestId)).toMatchObject({
    id: requestId,
    status: 'FAILED',
    errorMessage: 'The model could not finish the image.',
    outputs: [],
    creditsCharged: 0,
  });
  const lines = readFileSync(join(service.dataDir, 'service.log'), 'utf8').split('\n');
  expect(lines.filter((line) => line.includes(requestId)).join()).toContain(failWith);
});

describe('a client that hangs up does not lose its image, and pays for it once', () => {
  test.each([
    ['by key', '/generate', {}],
    ['by key, with events', '/generate', events],
    ['in the playground', '/playground/generate', {}],
    ['in the playground, with events', '/playground/generate', events],
    ['by MCP', '/mcp', {}],
  ])('%s', async (_, path, headers) => {
    const { key, session, license, stored, expectCharged } = await newAccount();
    const client = new AbortController();
    const isPlayground = path.startsWith('/playground');
    const order = { ...small, identityId: harbor, ...(isPlayground && { licenseId: license.licenseId }) };
    const call = { method: 'tools/call', params: { name: 'generate', arguments: order } };
    const isAgent = path === '/mcp';
    const authorization = `Bearer ${isPlayground ? session : key}`;
    const sent = fetch(service.ready.baseUrl + path, {
      method: 'POST',
      headers: { authorization, ...(isAgent ? headersOf(call) : headers) },
      body: JSON.stringify(isAgent ? messageOf(call) : order),
      signal: client.signal,
    }).then((answer) => answer.text());
    const id = await newestWith(service, key, ['PROCESSING', 'COMPLETED']);
    client.abort();
    await sent.catch(() => {});
    expect(await newestWith(service, key, ['COMPLETED'])).toBe(id);
    const record = await stored(id);
    expect(record.creditsCharged).toBe(1);
    expect(pngSize(await openImage(record.outputUrl))).toEqual({ width: 512, height: 512 });
    await expectCharged(1);
  });
});

// What else becomes of a repeat: test/unit/generations/repeated-requests.test.ts.
test('a repeat answers the first result with fresh links, says so and charges nothing', async () => {
  const own = await newAccount();
  const send = () => own.generate({}, { 'idempotency-key': 'order-1' });
  const first = await send();
  expect(first.headers.get('idempotent-replayed')).toBeNull();
  // Links are signed to the second.
  await pause(1100);
  const again = await send();
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  expect(again.headers.get('x-request-id')).toBe(first.body.requestId);
  const { outputs: firstLinks, ...firstRest } = first.body;
  const { outputs: links, ...rest } = again.body;
  expect(rest).toEqual(firstRest);
  expect(links).not.toEqual(firstLinks);
  expect((await fetch(links[0])).status).toBe(200);
  await own.expectCharged(1);
});

test('an idempotency key belongs to who sent it: an API key, or an account in the playground', async () => {
  const own = await newAccount();
  const other = await issueKey(table, own.license);
  const headers = { 'idempotency-key': 'shared' };
  const answers = [
    await own.generate({}, headers),
    await generate(service, other.key, { identityId: aurora }, headers),
    await own.play({}, headers),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(new Set(answers.map(({ body: { requestId } }) => requestId)).size).toBe(3);
});

test('20 parallel requests with one key give one generation and one charge', async () => {
  const own = await newAccount();
  // Two API keys would not share it; one API key lets ten of the twenty through its rate limit.
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => own.generate({}, { 'idempotency-key': 'parallel' })),
  );
  const codes = answers.map(({ status, body }) => body.code ?? status);
  const allowed = [200, 'IDEMPOTENCY_IN_PROGRESS', 'RATE_LIMITED'];
  expect(codes.filter((code) => !allowed.includes(code))).toEqual([]);
  const ids = new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body.requestId));
  expect(ids.size).toBe(1);
  expect(codes.filter((code) => code === 'RATE_LIMITED')).toHaveLength(10);
  await own.expectCharged(1);
  const records = await generationStore(table).list(own.license.licenseId, 100, null);
  expect(records.map(({ requestId }) => requestId)).toEqual([...ids]);
});

/** Every item of the table about a license or a key, but the logs of rate limits: a dry run counts for them. */
async function itemsOf({ license, keyId }: Granted): Promise<unknown[]> {
  const items = await itemsWith(table, [license.licenseId, keyId]);
  return items.filter(({ PK }) => !String(PK).startsWith('RATE#'));
}

describe('POST /generate?dryRun=true', () => {
  const path = '/generate?dryRun=true';

  test('answers what the request costs, and leaves no trace', async () => {
    const own = await newAccount({ creditsLimit: 10, used: 3 });
    const items = await itemsOf(own);
    expect(items.length).toBeGreaterThan(2);
    // These say how a request that pays is answered: they have no meaning here.
    const headers = { 'idempotency-key': 'dry', prefer: 'respond-async', ...events };
    const body = { ...small, identityId: aurora, numOutputs: 2 };
    const answer = await own.byKey(path, { body, headers });
    expectOk(answer);
    expect(answer.headers.has('preference-applied')).toBe(false);
    expect(answer.body).toMatchObject({
      dryRun: true,
      accepted: true,
      identity: { id: aurora },
      credits: 2,
      usage: { creditsUsed: 3, creditsLimit: 10, creditsRemaining: 7, creditsCharged: 0 },
    });
    expect([await itemsOf(own), objectsOf(service.dataDir, own.license)]).toEqual([items, []]);
    const again = await own.byKey(`/generate/${answer.headers.get('x-request-id')}`);
    expectError(again, 404, 'REQUEST_NOT_FOUND');
  });

  test.each<[code: string, changed: object | null, license?: object]>([
    ['INVALID_BODY', null],
    ['IDENTITY_MISMATCH', { identityId: drift }],
    ['INVALID_PARAMETERS', { width: 500, steps: 3 }],
    ['TIER_LIMIT', { numOutputs: 2 }, { tier: 'starter' }],
    ['CREDIT_LIMIT_EXCEEDED', { identityId: ember, numOutputs: 2 }, { creditsLimit: 1 }],
    ['IDENTITY_UNAVAILABLE', { identityId: ember }],
  ])('is refused exactly as the request itself is: %s', async (code, changed, license = {}) => {
    const { byKey } = await newAccount(license);
    const body = changed === null ? '{' : { ...small, identityId: aurora, ...changed };
    const [dry, real] = [await byKey(path, { body }), await byKey('/generate?dryRun=false', { body })];
    expectError(dry, real.status, code);
    expect(dry.body).toEqual(real.body);
    expect(dry.headers.has('retry-after')).toBe(real.headers.has('retry-after'));
  });
});
