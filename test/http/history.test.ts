import { beforeAll, describe, expect, test } from '@jest/globals';
import { newRequestId } from '../../shared/base/ids.ts';
import { generationStore } from '../../shared/generations/store.ts';
import { licenseStore } from '../../shared/licenses/store.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { grant } from '../support/grants.ts';
import { reserveAbandoned } from '../support/period-totals.ts';
import { openImage } from '../support/png.ts';
import type { ApiAnswer } from '../support/service.ts';
import { identities, newAccount, table } from './fixture.ts';

// The store's and the query's own tests hold what a page and a filter are.

const { aurora, basalt } = identities;
const owner = await newAccount();
const { byKey, bySession, license } = owner;
/** The license's requests, newest first: one by key, many that wait or failed, one of the playground. */
const ids: string[] = [];
const failed: string[] = [];

const ofOwner = (query: string) => bySession(`/generate?licenseId=${license.licenseId}${query}`);
const idsOf = ({ body }: ApiAnswer): string[] => body.generations.map(({ id }: { id: string }) => id);

beforeAll(async () => {
  const played = await owner.play({ prompt: 'Old harbour, no boats', negativePrompt: 'gulls' });
  ids.unshift(played.body.requestId);
  for (let i = 0; i < 21; i++) {
    const accepted = await reserveAbandoned(table, license, { identityId: basalt! });
    const failure = { status: 'FAILED', errorCode: 'GENERATION_FAILED', errorMessage: 'It broke.' } as const;
    ids.unshift(accepted.requestId);
    if (i % 5 > 0) continue;
    await generationStore(table).release(accepted, failure, Date.now());
    failed.unshift(accepted.requestId);
  }
  ids.unshift((await owner.generate()).body.requestId);
});

/** The ids of all pages. */
async function walk(page: (query: string) => Promise<ApiAnswer>, query: string): Promise<string[]> {
  const found: string[] = [];
  for (let cursor = '', pages = 0; pages < 60; pages++) {
    const answer = await page(`${query}${cursor}`);
    expectOk(answer);
    expect(Object.keys(answer.body).sort()).toEqual(['generations', 'nextCursor', 'searchedBackTo']);
    found.push(...idsOf(answer));
    if (answer.body.nextCursor === null) return found;
    cursor = `&cursor=${answer.body.nextCursor}`;
  }
  throw new Error('the pages never end');
}

describe('GET /generate', () => {
  test('is newest first, 20 where no limit is sent, each as GET /generate/{requestId} shows it', async () => {
    const page = await byKey('/generate');
    expect(idsOf(page)).toEqual(ids.slice(0, 20));
    expect(page.body.generations[1]).toEqual((await byKey(`/generate/${ids[1]}`)).body);
    await openImage(page.body.generations[0].outputUrl);
  });

  test('shows by session what a key of the license is shown, in pages that have each request once', async () => {
    // Links are signed anew each time.
    const withoutLinks = ({ body }: ApiAnswer) =>
      body.generations.map((item: object) => ({ ...item, outputs: null, outputUrl: null }));
    expect(withoutLinks(await ofOwner('&limit=100'))).toEqual(
      withoutLinks(await byKey('/generate?limit=100')),
    );
    expect(await walk(ofOwner, '&limit=6')).toEqual(ids);
    expect(await walk((query) => byKey(`/generate?${query}`), 'limit=6')).toEqual(ids);
  });

  test('has filters, alone or together', async () => {
    const [newest, oldest] = [ids[0]!, ids.at(-1)!];
    const { keyId, createdAt } = (await bySession(`/generate/${newest}`)).body;
    expect(keyId).toMatch(/^key_[0-9a-f]{32}$/);
    expect((await byKey(`/generate/${oldest}`)).body.keyId).toBeNull();
    const zoned = encodeURIComponent(createdAt.replace('Z', '+00:00'));
    const filters: Record<string, string[]> = {
      [`keyId=${keyId}`]: [newest],
      'keyId=playground': [oldest],
      'search=HARBOUR%20boat': [oldest],
      'search=gulls': [],
      [`createdAfter=${zoned}`]: [newest],
      [`createdBefore=${zoned}&limit=9`]: ids.slice(1),
      'type=reference': [],
      [`identityId=${basalt}&status=FAILED&type=text_to_image&limit=2`]: failed,
      'identityId=basalt&status=FAILED&limit=2': failed,
    };
    for (const [query, found] of Object.entries(filters))
      expect([query, await walk(ofOwner, `&${query}`)]).toEqual([query, found]);
  });

  test('says how far back it looked, in the time of the last request of the page', async () => {
    const { searchedBackTo, generations } = (await ofOwner('&limit=5')).body;
    const id: string = generations.at(-1).id;
    expect(Date.parse(searchedBackTo)).toBe(Number.parseInt(id.replace('-', '').slice(0, 12), 16));
    expect((await ofOwner('&limit=100')).body.searchedBackTo).toBeNull();
  });

  test('needs the license by session, and takes none with a key', async () => {
    const refusals = [
      [await bySession('/generate?limit=5'), 'licenseId'],
      [await byKey(`/generate?licenseId=x`), 'unknown query parameter "licenseId"'],
    ] as const;
    for (const [answer, named] of refusals) {
      expectError(answer, 400, 'INVALID_PARAMETERS');
      expect(answer.body.error).toContain(named);
    }
  });
});

describe('GET /generate/{requestId}', () => {
  test('by session finds a request in any license of the account, an ended one too', async () => {
    const { license: other } = await grant(table, { ownerId: license.ownerId });
    const { licenseId } = other;
    const { requestId } = await reserveAbandoned(table, other, { identityId: aurora! });
    await licenseStore(table).update(licenseId, { status: 'ended' });
    expect((await bySession(`/generate/${requestId}`)).body).toMatchObject({ id: requestId, licenseId });
    expect((await bySession(`/generate/${ids[1]}`)).body.licenseId).toBe(license.licenseId);
  });

  test('answers a key of another license as if the request were not there', async () => {
    const { byKey: byStranger } = await newAccount();
    const [foreign, missing] = [ids[0]!, newRequestId(Date.now())].map((id) => byStranger(`/generate/${id}`));
    expectError(await foreign!, 404, 'REQUEST_NOT_FOUND');
    expect((await foreign!).body).toEqual((await missing!).body);
    expect([...(await foreign!).headers.keys()]).toEqual([...(await missing!).headers.keys()]);
  });
});
