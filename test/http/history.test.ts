import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newRequestId } from '../../shared/domain/ids.ts';
import { generationStore } from '../../shared/store/generation-store.ts';
import { licenseStore } from '../../shared/store/license-store.ts';
import type { Table } from '../../shared/store/table.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { reserveAbandoned } from '../support/books.ts';
import { grant, tableOf, type Granted } from '../support/grants.ts';
import { openImage } from '../support/png.ts';
import { generate } from '../support/requests.ts';
import { removeFolder, startService, type ApiAnswer, type RunningService } from '../support/service.ts';
import { sessionOf } from '../support/sessions.ts';

let service: RunningService;
let table: Table;
let identities: Record<string, string>;
/** An account with two licenses, and one with another. */
let first: Granted;
let second: Granted;
let stranger: Granted;
let session: string;
let strangersSession: string;
/** The first license's requests, newest first: what they are of, and what became of them. */
const history: { id: string; slug: string; status: string }[] = [];

beforeAll(async () => {
  service = await startService();
  table = tableOf(service.dataDir);
  identities = service.ready.identities;
  const ownerId = randomUUID();
  [first, second, stranger] = await Promise.all([
    grant(table, { ownerId }),
    grant(table, { ownerId }),
    grant(table),
  ]);
  session = await sessionOf(service.dataDir, { sub: ownerId });
  strangersSession = await sessionOf(service.dataDir, { sub: stranger.license.ownerId });
  const slugs = ['aurora', 'basalt'];
  for (let i = 0; i < 25; i++) {
    const slug = slugs[i % 2]!;
    const accepted = await reserveAbandoned(table, first.license, { identityId: identities[slug]! });
    const status = ['QUEUED', 'FAILED', 'TIMEOUT'][i % 3]!;
    await end(accepted, status);
    history.unshift({ id: accepted.requestId, slug, status });
  }
  const { body } = await generate(service, first.key, { identityId: identities.aurora });
  history.unshift({ id: body.requestId, slug: 'aurora', status: 'COMPLETED' });
});

afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

async function end(generation: Awaited<ReturnType<typeof reserveAbandoned>>, status: string): Promise<void> {
  if (status !== 'FAILED' && status !== 'TIMEOUT') return;
  const errorCode = status === 'FAILED' ? 'GENERATION_FAILED' : 'TIMEOUT';
  const failure = { status, errorCode, errorMessage: 'It broke.' } as const;
  await generationStore(table).release(generation, failure, Date.now());
}

const bySession = (path: string) => service.api({ path, key: session });
const ofFirst = (query: string) => bySession(`/generate?licenseId=${first.license.licenseId}${query}`);
const idsOf = ({ body }: ApiAnswer): string[] => body.generations.map(({ id }: { id: string }) => id);

async function walk(page: (query: string) => Promise<ApiAnswer>, query: string): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < 60; pages++) {
    const answer: ApiAnswer = await page(cursor === null ? query : `${query}&cursor=${cursor}`);
    expectOk(answer);
    ids.push(...idsOf(answer));
    cursor = answer.body.nextCursor;
    if (cursor === null) return ids;
  }
  throw new Error('the pages never end');
}

describe('GET /generate by session', () => {
  test('shows what a key of the license is shown', async () => {
    // Links are signed anew each time.
    const withoutLinks = ({ body }: ApiAnswer) =>
      body.generations.map((item: object) => ({ ...item, outputs: null, outputUrl: null }));
    const byKey = await service.api({ path: '/generate?limit=100', key: first.key });
    const answer = await ofFirst('&limit=100');
    expectOk(answer);
    expect(withoutLinks(answer)).toEqual(withoutLinks(byKey));
    expect(idsOf(answer)).toEqual(history.map(({ id }) => id));
    await openImage(answer.body.generations[0].outputUrl);
  });

  test.each([1, 4, 13, 26, 100])('pages of %i show every request once, in order', async (limit) => {
    expect(await walk(ofFirst, `&limit=${limit}`)).toEqual(history.map(({ id }) => id));
  });

  test('needs to be told the license', async () => {
    for (const path of ['/generate', '/generate?licenseId=', '/generate?limit=5']) {
      const answer = await bySession(path);
      expectError(answer, 400, 'INVALID_PARAMETERS');
      expect(answer.body.error).toContain('licenseId');
    }
    const { licenseId } = first.license;
    expectError(await ofFirst(`&licenseId=${licenseId}`), 400, 'INVALID_PARAMETERS');
  });

  test('a license that is unknown, or of another account, is LICENSE_NOT_FOUND in the same words', async () => {
    const sentences = new Set<string>();
    for (const id of [stranger.license.licenseId, 'lic_unknown', '%23', '%00']) {
      const answer = await bySession(`/generate?licenseId=${id}`);
      expectError(answer, 404, 'LICENSE_NOT_FOUND');
      sentences.add(answer.body.error);
    }
    expect(sentences.size).toBe(1);
  });

  test('with a key, licenseId is refused as unknown', async () => {
    const path = `/generate?licenseId=${first.license.licenseId}`;
    const answer = await service.api({ path, key: first.key });
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toContain('unknown query parameter "licenseId"');
  });

  test('another license of the account has a history of its own', async () => {
    const answer = await bySession(`/generate?licenseId=${second.license.licenseId}`);
    expect(answer.body).toEqual({ generations: [], nextCursor: null });
  });

  test('a license that has ended still shows its history', async () => {
    const ended = await grant(table, { status: 'ended', ownerId: first.license.ownerId });
    const { requestId } = await reserveAbandoned(table, ended.license, { identityId: identities.aurora! });
    const answer = await bySession(`/generate?licenseId=${ended.license.licenseId}`);
    expect(idsOf(answer)).toEqual([requestId]);
  });

  test('another account’s cursor leads nowhere', async () => {
    const { body } = await ofFirst('&limit=5');
    const { licenseId } = stranger.license;
    const path = `/generate?licenseId=${licenseId}&cursor=${body.nextCursor}`;
    const answer = await service.api({ path, key: strangersSession });
    expect(answer.body).toEqual({ generations: [], nextCursor: null });
  });
});

describe.each([
  ['by key', (query: string) => service.api({ path: `/generate?${query.slice(1)}`, key: first.key })],
  ['by session', ofFirst],
])('the filters of GET /generate %s', (_, page) => {
  test.each(['COMPLETED', 'FAILED', 'TIMEOUT', 'QUEUED', 'PROCESSING'])('status %s', async (status) => {
    const expected = history.filter((one) => one.status === status).map(({ id }) => id);
    expect(await walk(page, `&status=${status}&limit=3`)).toEqual(expected);
  });

  test.each(['aurora', 'basalt', 'harbor'])('identity %s', async (slug) => {
    const expected = history.filter((one) => one.slug === slug).map(({ id }) => id);
    expect(await walk(page, `&identityId=${identities[slug]}&limit=4`)).toEqual(expected);
  });

  test('type', async () => {
    const all = history.map(({ id }) => id);
    expect(await walk(page, '&type=text_to_image&limit=5')).toEqual(all);
    expect(await walk(page, '&type=reference')).toEqual([]);
    expect(await walk(page, '&type=exact_product')).toEqual([]);
  });

  test('all at once', async () => {
    const query = `&identityId=${identities.basalt}&status=FAILED&type=text_to_image&limit=2`;
    const expected = history.filter(({ slug, status }) => slug === 'basalt' && status === 'FAILED');
    expect(expected.length).toBeGreaterThan(2);
    expect(await walk(page, query)).toEqual(expected.map(({ id }) => id));
  });

  test.each([
    ['status=DONE', ['status', 'QUEUED']],
    ['status=', ['status']],
    ['status=FAILED&status=TIMEOUT', ['status']],
    ['type=text', ['type', 'text_to_image']],
    ['identityId=', ['identityId']],
    ['identityId=%23', ['identityId']],
    ['status=x&type=y&identityId=%20', ['status', 'type', 'identityId']],
    ['prompt=x', ['prompt']],
  ])('%s is refused by name', async (query, names) => {
    const answer = await page(`&${query}`);
    expectError(answer, 400, 'INVALID_PARAMETERS');
    for (const name of names) expect(answer.body.error).toContain(name);
  });
});

describe('GET /generate/{requestId} by session', () => {
  const fetchOne = (id: string, credential: string) =>
    service.api({ path: `/generate/${id}`, key: credential });

  test('finds a request in any license of the account, an ended one too, as a key is shown it', async () => {
    const made = await generate(service, second.key, { identityId: identities.basalt });
    const ended = await grant(table, { ownerId: first.license.ownerId });
    const { requestId } = await reserveAbandoned(table, ended.license, { identityId: identities.aurora! });
    await licenseStore(table).update(ended.license.licenseId, { status: 'ended' });
    const licenses = [
      [history[0]!.id, first.license.licenseId],
      [made.body.requestId, second.license.licenseId],
      [requestId, ended.license.licenseId],
    ];
    for (const [id, licenseId] of licenses) {
      const answer = await fetchOne(id!, session);
      expectOk(answer);
      expect(answer.body).toMatchObject({ id, licenseId });
    }
    const [byKey, mine] = [
      await fetchOne(history[1]!.id, first.key),
      await fetchOne(history[1]!.id, session),
    ];
    expect(mine.body).toEqual(byKey.body);
  });

  test('another account’s request and a missing one are the same 404', async () => {
    const foreign = await fetchOne(history[0]!.id, strangersSession);
    expectError(foreign, 404, 'REQUEST_NOT_FOUND');
    for (const id of [newRequestId(Date.now()), 'nonsense', '%00']) {
      const missing = await fetchOne(id, strangersSession);
      expectError(missing, 404, 'REQUEST_NOT_FOUND');
      expect(missing.body).toEqual(foreign.body);
    }
  });

  test('refuses a query parameter, licenseId too', async () => {
    const answer = await fetchOne(`${history[0]!.id}?licenseId=${first.license.licenseId}`, session);
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toContain('licenseId');
  });

  test('lets 60 a minute through for one account; its keys, its lists and other accounts go on', async () => {
    const granted = await grant(table);
    const own = await sessionOf(service.dataDir, { sub: granted.license.ownerId });
    const id = newRequestId(Date.now());
    for (let left = 59; left >= 0; left--) {
      const answer = await fetchOne(id, own);
      expectError(answer, 404, 'REQUEST_NOT_FOUND');
      expect(answer.headers.get('ratelimit')).toMatch(new RegExp(`^"fetch";r=${left};t=\\d+$`));
    }
    const refused = await fetchOne(id, own);
    expectError(refused, 429, 'RATE_LIMITED');
    expect(refused.body.error).toContain('account');
    expect(refused.headers.get('ratelimit')).toBe(`"fetch";r=0;t=${refused.headers.get('retry-after')}`);
    expectError(await fetchOne(id, granted.key), 404, 'REQUEST_NOT_FOUND');
    expectError(await fetchOne(id, strangersSession), 404, 'REQUEST_NOT_FOUND');
    const { licenseId } = granted.license;
    expectOk(await service.api({ path: `/generate?licenseId=${licenseId}`, key: own }));
  });
});
