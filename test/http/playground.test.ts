import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { License } from '../../shared/domain/license.ts';
import { licenseStore } from '../../shared/store/license-store.ts';
import type { Table } from '../../shared/store/table.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { books, expectCharged } from '../support/books.ts';
import { grant, newLicense, tableOf, type Granted } from '../support/grants.ts';
import { openImage } from '../support/png.ts';
import { small } from '../support/requests.ts';
import { removeFolder, startService, type ApiAnswer, type RunningService } from '../support/service.ts';
import { sessionOf } from '../support/sessions.ts';
import { pause, until } from '../support/until.ts';

let service: RunningService;
let table: Table;
let identities: Record<string, string>;

beforeAll(async () => {
  service = await startService({ args: ['--deadline', '10'] });
  table = tableOf(service.dataDir);
  identities = service.ready.identities;
});

afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

interface Owner extends Granted {
  session: string;
  /** In the playground. `licenseId` is the license's unless the body says otherwise. */
  play(body?: object | string, headers?: Record<string, string>, query?: string): Promise<ApiAnswer>;
}

/** A signed-in account with a license, and a key of it. */
async function owner(options: Parameters<typeof grant>[1] = {}): Promise<Owner> {
  const granted = await grant(table, options);
  const session = await sessionOf(service.dataDir, { sub: granted.license.ownerId });
  const { licenseId } = granted.license;
  return {
    ...granted,
    session,
    play: (body = {}, headers = {}, query = '') =>
      service.api({
        method: 'POST',
        path: `/playground/generate${query}`,
        key: session,
        headers,
        body:
          typeof body === 'string' ? body : { licenseId, ...small, identityId: identities.aurora, ...body },
      }),
  };
}

/** What both endpoints must answer alike; ids, links, times and random seeds are each request's own. */
function comparable({ status, headers, body }: ApiAnswer) {
  const { requestId, outputs, processingTimeMs, seed, ...rest } = body;
  return {
    status,
    retryAfter: headers.get('retry-after') === null,
    policy: headers.get('ratelimit-policy')?.replace(/^"\w+"/, ''),
    left: headers.get('ratelimit')?.replace(/^"\w+"|;t=\d+$/g, ''),
    members: Object.keys(body),
    outputs: outputs?.length,
    kinds: [requestId, processingTimeMs, seed].map((value) => typeof value),
    isSentSeed: seed === texts.seed,
    isOwnId: requestId === undefined || requestId === headers.get('x-request-id'),
    // A key is what the caller of the other endpoint holds; nothing else may differ.
    rest: JSON.parse(JSON.stringify(rest).replace(/This [A-Za-z ]+ may not/, 'This caller may not')),
  };
}

type Case = [
  what: string,
  status: number,
  body: () => object | string,
  changes?: Partial<License> & { used?: number },
];

const of =
  (slug: string, rest: object = {}) =>
  () => ({ ...small, identityId: identities[slug], ...rest });
const url = 'https://example.test/a.png';
const texts = { prompt: 'x', negativePrompt: 'n', seed: 7, numInferenceSteps: 25, guidanceScale: 3.5 };
const shape = { numOutputs: 2, width: 576, height: 512, referenceImages: [], referenceMode: 'reference' };
const everything = { ...texts, ...shape, outputFormat: 'png', preserveBranding: true };
const starter = { tier: 'starter', creditsLimit: 500 } as const;

const cases: Case[] = [
  ['the smallest body', 200, of('aurora')],
  ['everything that a body can say', 200, () => ({ ...everything, identityId: identities.aurora })],
  ['an empty body', 400, () => ''],
  ['half a body', 400, () => '{'],
  ['an array', 400, () => '[]'],
  ['null', 400, () => 'null'],
  ['more than a mebibyte', 413, () => `{"prompt":"${'x'.repeat(1024 * 1024)}"}`],
  ['no identity', 400, of('nobody')],
  ['a null identity and a wrong prompt', 400, of('aurora', { identityId: null, prompt: 5 })],
  ['an unknown identity', 404, of('aurora', { identityId: 'idn_unknown', width: 1 })],
  ['an identity that is no text', 404, of('aurora', { identityId: {} })],
  ['an identity of another catalog', 401, of('drift', { width: 1 })],
  ['many wrong fields', 400, of('aurora', { prompt: '', seed: -1, width: 513, stpes: 1, numOutputs: 0 })],
  ['no prompt', 400, of('aurora', { prompt: undefined })],
  ['a format that there is not', 400, of('aurora', { outputFormat: 'gif' })],
  ['a prompt of 1001 characters', 400, of('aurora', { prompt: 'x'.repeat(1001) })],
  ['reference images where they are not taken', 400, of('aurora', { referenceImages: [{ url }] })],
  ['reference images', 400, of('citrine', { referenceImages: [{ url }, { uploadId: 'u' }] })],
  ['a mode without reference images', 400, of('citrine', { referenceMode: 'exact_product' })],
  ['more than the tier allows', 400, of('aurora', { numOutputs: 2, width: 2048 }), starter],
  ['more than the month has left', 429, of('aurora', { numOutputs: 3 }), { creditsLimit: 10, used: 8 }],
  ['more than the whole month', 429, of('ember', { numOutputs: 4 }), { creditsLimit: 3 }],
  ['the last credit', 200, of('aurora'), { creditsLimit: 10, used: 9 }],
  ['an identity without a model', 503, of('ember')],
  ['a model that fails', 500, of('flint', { numOutputs: 2 })],
  ['a model that never ends', 504, of('glacier')],
];

describe('POST /playground/generate is POST /generate to the letter', () => {
  test.each(cases)('%s: %i', async (_, status, body, changes = {}) => {
    const twins = { ownerId: randomUUID(), periodAnchorMs: Date.now() - 3600_000, ...changes };
    const [one, two] = [await owner(twins), await owner(twins)];
    const sent = body();
    const [byKey, bySession] = await Promise.all([
      service.api({ method: 'POST', path: '/generate', key: one.key, body: sent }),
      two.play(typeof sent === 'string' ? sent : { identityId: undefined, prompt: undefined, ...sent }),
    ]);
    expect(byKey.status).toBe(status);
    expect(comparable(bySession)).toEqual(comparable(byKey));
    if (status === 200) await Promise.all(bySession.body.outputs.map(openImage));
    expect(await books(table, two.license)).toEqual(await books(table, one.license));
    const [history, twin] = await Promise.all([historyOf(two), historyOf(one)]);
    expect(history).toEqual(twin);
  });

  test('licenseId is the playground’s alone: with a key it is an unknown member', async () => {
    const { key, license } = await owner();
    const body = { ...small, identityId: identities.aurora, licenseId: license.licenseId };
    const answer = await service.api({ path: '/generate', key, body });
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toBe('unknown member "licenseId".');
  });

  test('a wrong Idempotency-Key and an unknown query parameter are told with the parameters', async () => {
    const { play } = await owner();
    const answer = await play({ prompt: '' }, { 'idempotency-key': 'two words' }, '?draft=1');
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toMatch(/draft.*Idempotency-Key.*prompt/s);
  });
});

/** What became of a license's requests, without what is each request's own. */
async function historyOf({ license, session }: Owner): Promise<unknown[]> {
  const path = `/generate?licenseId=${license.licenseId}`;
  const { body } = await service.api({ path, key: session });
  const times = { createdAt: null, startedAt: null, completedAt: null, processingTimeMs: null };
  const own = { ...times, id: null, licenseId: null, seed: null, outputUrl: null };
  return body.generations.map((item: any) => ({ ...item, ...own, outputs: item.outputs.length }));
}

test('of several failures, the first in the decided order is told', async () => {
  const own = await owner({ ...starter, creditsLimit: 5, used: 5 });
  const ended = newLicense({ ownerId: own.license.ownerId, status: 'ended' });
  await licenseStore(table).insert(ended);
  const wrong = { identityId: undefined, prompt: '', numOutputs: 9, width: 4096 };
  const valid = { prompt: 'x', numOutputs: 9, identityId: identities.ember };
  const steps: [object | string, number, string][] = [
    ['{', 400, 'INVALID_BODY'],
    [{ ...wrong, licenseId: 5 }, 400, 'INVALID_PARAMETERS'],
    [{ ...wrong, licenseId: 'lic_unknown' }, 404, 'LICENSE_NOT_FOUND'],
    [{ ...wrong, licenseId: ended.licenseId }, 403, 'LICENSE_INACTIVE'],
    [wrong, 400, 'MISSING_IDENTITY'],
    [{ ...wrong, identityId: 'idn_unknown' }, 404, 'IDENTITY_NOT_FOUND'],
    [{ ...wrong, identityId: identities.drift }, 401, 'IDENTITY_MISMATCH'],
    [{ ...wrong, identityId: identities.ember }, 400, 'INVALID_PARAMETERS'],
    [valid, 400, 'TIER_LIMIT'],
    [{ ...valid, numOutputs: 1 }, 429, 'CREDIT_LIMIT_EXCEEDED'],
  ];
  for (const [body, status, code] of steps) {
    const { status: sent, body: answer } = await own.play(body);
    expect([sent, answer.code]).toEqual([status, code]);
  }
  // Ten were let through, whatever they were told: now nothing is looked at any more.
  const refused = await own.play('{');
  expectError(refused, 429, 'RATE_LIMITED');
  expect(refused.body.error).toContain('account');
  await expectCharged(table, own.license, 5);
});

describe('Idempotency-Key', () => {
  const once = (name: string) => ({ 'idempotency-key': name });

  test('a repeat answers the first result, says so and charges nothing', async () => {
    const { play, license } = await owner();
    const first = await play({}, once('order-1'));
    const again = await play({}, once('order-1'));
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    const { outputs, ...rest } = again.body;
    expect({ ...rest, outputs: first.body.outputs }).toEqual(first.body);
    await openImage(outputs[0]);
    await expectCharged(table, license, 1);
  });

  test('with another body, or another license, it is IDEMPOTENCY_MISMATCH', async () => {
    const { play, license } = await owner();
    const second = newLicense({ ownerId: license.ownerId });
    await licenseStore(table).insert(second);
    await play({}, once('k'));
    for (const change of [{ prompt: 'other' }, { licenseId: second.licenseId }]) {
      expectError(await play(change, once('k')), 422, 'IDEMPOTENCY_MISMATCH');
    }
    await expectCharged(table, second, 0);
  });

  test('while the first runs, a repeat is IDEMPOTENCY_IN_PROGRESS and names it', async () => {
    const { play, license } = await owner();
    const running = play({ identityId: identities.harbor }, once('slow'));
    await until('the first is stored', async () => (await books(table, license)).committed === 1);
    const answer = await play({ identityId: identities.harbor }, once('slow'));
    expectError(answer, 409, 'IDEMPOTENCY_IN_PROGRESS');
    expect(answer.headers.get('x-request-id')).toBe((await running).body.requestId);
  });

  test('belongs to the account: another account, and the account’s own key, may use the same', async () => {
    const ownerId = randomUUID();
    const [own, other] = [await owner({ ownerId }), await owner()];
    const body = { ...small, identityId: identities.aurora };
    const answers = [
      await own.play({}, once('shared')),
      await other.play({}, once('shared')),
      await service.api({ path: '/generate', key: own.key, body, headers: once('shared') }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body: { requestId } }) => requestId)).size).toBe(3);
  });
});

describe('server-sent events', () => {
  const events = { accept: 'text/event-stream' };
  const namesOf = (text: string) => [...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name);
  const lastOf = (text: string) => JSON.parse(/data: (.*)\n\n$/.exec(text)![1]!);

  test('accepted, started, progress, then completed with the usual body', async () => {
    const { play, license } = await owner();
    const answer = await play({ identityId: identities.harbor }, events);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const names = namesOf(answer.body);
    expect([names[0], names[1], names.at(-1)]).toEqual(['accepted', 'started', 'completed']);
    expect(new Set(names.slice(2, -1))).toEqual(new Set(['progress']));
    const result = lastOf(answer.body);
    expect(result).toMatchObject({
      requestId: answer.headers.get('x-request-id'),
      usage: { creditsCharged: 1 },
    });
    await openImage(result.outputs[0]);
    await expectCharged(table, license, 1);
  });

  test('a failure is an event, and what is refused before acceptance is a plain answer', async () => {
    const { play, license } = await owner();
    const failed = await play({ identityId: identities.flint }, events);
    expect(lastOf(failed.body)).toMatchObject({ code: 'GENERATION_FAILED', status: 500 });
    expectError(await play({ width: 1 }, events), 400, 'INVALID_PARAMETERS');
    expectError(await play({ licenseId: 'lic_unknown' }, events), 404, 'LICENSE_NOT_FOUND');
    await expectCharged(table, license, 0);
  });

  test('a client that hangs up, with events or without, does not lose its image', async () => {
    const { session, license } = await owner();
    const body = JSON.stringify({ licenseId: license.licenseId, ...small, identityId: identities.harbor });
    for (const headers of [events, {}]) {
      const hangUp = new AbortController();
      const sent = fetch(`${service.ready.baseUrl}/playground/generate`, {
        method: 'POST',
        headers: { authorization: `Bearer ${session}`, ...headers },
        body,
        signal: hangUp.signal,
      });
      const before = (await books(table, license)).committed;
      await until(
        'it is accepted',
        async () => (await books(table, license)).committed > before || before === 2,
      );
      await pause(100);
      hangUp.abort();
      await sent.catch(() => {});
    }
    await until('both are charged', async () => (await books(table, license)).used === 2, 10_000);
    const list = await service.api({ path: `/generate?licenseId=${license.licenseId}`, key: session });
    expectOk(list);
    expect(list.body.generations).toMatchObject([{ status: 'COMPLETED' }, { status: 'COMPLETED' }]);
    await openImage(list.body.generations[0].outputUrl);
  });
});
