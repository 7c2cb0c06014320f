import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { newRequestId } from '../../shared/base/ids.ts';
import { generationStore } from '../../shared/generations/store.ts';
import { licenseStore } from '../../shared/licenses/store.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { reserveAbandoned } from '../support/period-totals.ts';
import { grant, issueKey, type Granted } from '../support/grants.ts';
import { openImage } from '../support/png.ts';
import { sendRaw } from '../support/raw-request.ts';
import { generate } from '../support/requests.ts';
import { type ApiAnswer } from '../support/service.ts';
import { sessionOf } from '../support/sessions.ts';
import { sharedService } from '../support/use-service.ts';

// The store's and the query's own tests hold what a page and a filter are.

const service = sharedService();
const { table } = service;
const { identities } = service.ready;
/** An account's license with requests, and one that has ended since its only request. */
let owner: Granted;
let ended: { licenseId: string; requestId: string };
let session: string;
/** The first license's requests, newest first: what they are of, and what became of them. */
const history: { id: string; slug: string; status: string }[] = [];

beforeAll(async () => {
  const ownerId = randomUUID();
  owner = await grant(table, { ownerId });
  session = await sessionOf(service.dataDir, { sub: ownerId });
  const playground = await service.api({
    path: '/playground/generate',
    method: 'POST',
    key: session,
    body: {
      licenseId: owner.license.licenseId,
      identityId: identities.aurora,
      prompt: 'Old harbour, no boats',
      negativePrompt: 'gulls',
    },
  });
  expectOk(playground);
  history.unshift({ id: playground.body.requestId, slug: 'aurora', status: 'COMPLETED' });
  for (let i = 0; i < 22; i++) {
    const slug = ['aurora', 'basalt'][i % 2]!;
    const accepted = await reserveAbandoned(table, owner.license, { identityId: identities[slug]! });
    const failure = { status: 'FAILED', errorCode: 'GENERATION_FAILED', errorMessage: 'It broke.' } as const;
    if (i % 3 === 0) await generationStore(table).release(accepted, failure, Date.now());
    history.unshift({ id: accepted.requestId, slug, status: i % 3 === 0 ? 'FAILED' : 'QUEUED' });
  }
  const { body } = await generate(service, owner.key, { identityId: identities.aurora });
  history.unshift({ id: body.requestId, slug: 'aurora', status: 'COMPLETED' });
  const { license } = await grant(table, { ownerId });
  const { requestId } = await reserveAbandoned(table, license, { identityId: identities.aurora! });
  await licenseStore(table).update(license.licenseId, { status: 'ended' });
  ended = { licenseId: license.licenseId, requestId };
});

const byKey = (path: string) => service.api({ path, key: owner.key });
const bySession = (path: string) => service.api({ path, key: session });
const ofOwner = (query: string) => bySession(`/generate?licenseId=${owner.license.licenseId}${query}`);
const idsOf = ({ body }: ApiAnswer): string[] => body.generations.map(({ id }: { id: string }) => id);

/** The ids of all pages. */
async function walk(page: (query: string) => Promise<ApiAnswer>, query: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = '', pages = 0; pages < 60; pages++) {
    const answer = await page(`${query}${cursor}`);
    expectOk(answer);
    expect(Object.keys(answer.body).sort()).toEqual(['generations', 'nextCursor', 'searchedBackTo']);
    ids.push(...idsOf(answer));
    if (answer.body.nextCursor === null) return ids;
    cursor = `&cursor=${answer.body.nextCursor}`;
  }
  throw new Error('the pages never end');
}

describe('GET /generate', () => {
  const ids = () => history.map(({ id }) => id);

  test('is newest first, 20 unless told otherwise, each as GET /generate/{requestId} shows it', async () => {
    const page = await byKey('/generate');
    expect(idsOf(page)).toEqual(ids().slice(0, 20));
    expect(page.body.generations[1]).toEqual((await byKey(`/generate/${ids()[1]}`)).body);
    await openImage(page.body.generations[0].outputUrl);
  });

  test('shows by session what a key of the license is shown', async () => {
    // Links are signed anew each time.
    const withoutLinks = ({ body }: ApiAnswer) =>
      body.generations.map((item: object) => ({ ...item, outputs: null, outputUrl: null }));
    const answer = await ofOwner('&limit=100');
    expect(idsOf(answer)).toEqual(ids());
    expect(withoutLinks(answer)).toEqual(withoutLinks(await byKey('/generate?limit=100')));
  });

  test.each([4, 24])('pages of %i show every request once, in order', async (limit) => {
    expect(await walk(ofOwner, `&limit=${limit}`)).toEqual(ids());
    expect(await walk((query) => byKey(`/generate?${query}`), `limit=${limit}`)).toEqual(ids());
  });

  test('has filters, one or all at once', async () => {
    const those = (of: (one: (typeof history)[0]) => boolean) => history.filter(of).map(({ id }) => id);
    const failed = those(({ status }) => status === 'FAILED');
    expect(await walk(ofOwner, '&status=FAILED&limit=3')).toEqual(failed);
    expect(await walk((query) => byKey(`/generate?${query}`), 'status=FAILED')).toEqual(failed);
    expect(await walk(ofOwner, '&type=reference')).toEqual([]);
    const all = those(({ slug, status }) => slug === 'basalt' && status === 'FAILED');
    expect(all.length).toBeGreaterThan(2);
    const query = `&identityId=${identities.basalt}&status=FAILED&type=text_to_image&limit=2`;
    expect(await walk(ofOwner, query)).toEqual(all);
  });

  test('has filters by key, by time and by words of the prompt', async () => {
    const [newest] = ids();
    const oldest = ids().at(-1)!;
    const { keyId, createdAt } = (await bySession(`/generate/${newest}`)).body;
    expect(keyId).toMatch(/^key_[0-9a-f]{32}$/);
    expect((await byKey(`/generate/${oldest}`)).body.keyId).toBeNull();
    expect(await walk(ofOwner, `&keyId=${keyId}`)).toEqual([newest]);
    expect(await walk(ofOwner, '&keyId=playground')).toEqual([oldest]);
    expect(await walk(ofOwner, '&search=HARBOUR%20boat')).toEqual([oldest]);
    expect(await walk(ofOwner, '&search=gulls')).toEqual([]);
    const zoned = encodeURIComponent(createdAt.replace('Z', '+00:00'));
    expect(await walk(ofOwner, `&createdAfter=${zoned}`)).toEqual([newest]);
    expect(await walk(ofOwner, `&createdBefore=${zoned}&limit=9`)).toEqual(ids().slice(1));
  });

  test('tells how far back it looked, in the time of the last request of the page', async () => {
    const { searchedBackTo, generations } = (await ofOwner('&limit=5')).body;
    const id: string = generations.at(-1).id;
    expect(Date.parse(searchedBackTo)).toBe(Number.parseInt(id.replace('-', '').slice(0, 12), 16));
    expect((await ofOwner('&limit=100')).body.searchedBackTo).toBeNull();
  });

  test('needs to be told the license by session, and not with a key', async () => {
    const unnamed = await bySession('/generate?limit=5');
    expectError(unnamed, 400, 'INVALID_PARAMETERS');
    expect(unnamed.body.error).toContain('licenseId');
    const twice = await byKey(`/generate?licenseId=${owner.license.licenseId}`);
    expectError(twice, 400, 'INVALID_PARAMETERS');
    expect(twice.body.error).toContain('unknown query parameter "licenseId"');
  });

  test('still shows the history of a license that has ended', async () => {
    expect(idsOf(await bySession(`/generate?licenseId=${ended.licenseId}`))).toEqual([ended.requestId]);
  });
});

describe('GET /generate/{requestId}', () => {
  test('by session finds a request in any license of the account, an ended one too', async () => {
    for (const [id, licenseId] of [
      [history[1]!.id, owner.license.licenseId],
      [ended.requestId, ended.licenseId],
    ]) {
      expect((await bySession(`/generate/${id}`)).body).toMatchObject({ id, licenseId });
    }
  });

  test('finds a request by its id in any case', async () => {
    for (const ask of [byKey, bySession]) {
      const answer = await ask(`/generate/${history[1]!.id.toUpperCase()}`);
      expectOk(answer);
      expect(answer.body.id).toBe(history[1]!.id);
    }
  });

  test('answers any key of the license alike', async () => {
    const path = `/generate/${history[1]!.id}`;
    const { key } = await issueKey(table, owner.license);
    expect((await service.api({ path, key })).body).toEqual((await byKey(path)).body);
  });

  test("answers another license's request and a missing one with the same 404, byte for byte", async () => {
    const { key } = await grant(table);
    const headers: [string, string][] = [['authorization', `Bearer ${key}`]];
    const ask = (id: string) => sendRaw(service.ready.baseUrl, { path: `/generate/${id}`, headers });
    const foreign = await ask(history[0]!.id);
    const missing = await ask(newRequestId(Date.now()));
    expect(foreign).toMatchObject({ status: 404, text: missing.text });
    expect(JSON.parse(foreign.text).code).toBe('REQUEST_NOT_FOUND');
    expect([...foreign.headers.keys()]).toEqual([...missing.headers.keys()]);
    expect(foreign.headers.get('content-length')).toBe(missing.headers.get('content-length'));
  });
});
