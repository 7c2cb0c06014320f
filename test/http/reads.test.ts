import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { demoIdentities } from '../../local/demo-world.ts';
import { newRequestId } from '../../shared/domain/ids.ts';
import { basePath, routes } from '../../shared/routes.ts';
import type { Table } from '../../shared/store/table.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { testAuthorization } from '../support/authorization-suite.ts';
import { fixedTableOf, reserveAbandoned } from '../support/books.ts';
import { grant, issueKey, type Granted } from '../support/grants.ts';
import { sendRaw } from '../support/raw-request.ts';
import { generate, small } from '../support/requests.ts';
import { removeFolder, startService, type ApiAnswer, type RunningService } from '../support/service.ts';

let service: RunningService;
let table: Table;
let owner: Granted;
let stranger: Granted;
let generated: ApiAnswer;

beforeAll(async () => {
  service = await startService();
  table = await fixedTableOf(service.dataDir);
  [owner, stranger] = await Promise.all([grant(table), grant(table)]);
  const body = { identityId: service.ready.identities.aurora, seed: 11, negativePrompt: 'noise' };
  generated = await generate(service, owner.key, { ...body, guidanceScale: 5.5, numOutputs: 2 });
});

afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

const get = (path: string, key?: string) => service.api({ path, key });

describe('GET /generate/{requestId}', () => {
  test('has exactly the members of the specification and of the decisions', async () => {
    const answer = await get(`/generate/${generated.body.requestId}`, owner.key);
    expectOk(answer);
    const { outputs, outputUrl, createdAt, startedAt, completedAt, modelVersion, ...rest } = answer.body;
    expect(rest).toEqual({
      id: generated.body.requestId,
      licenseId: owner.license.licenseId,
      type: 'text_to_image',
      status: 'COMPLETED',
      identity: { id: service.ready.identities.aurora, name: 'aurora', slug: 'aurora' },
      prompt: small.prompt,
      negativePrompt: 'noise',
      seed: 11,
      steps: small.numInferenceSteps,
      cfgScale: 5.5,
      width: 512,
      height: 512,
      numOutputs: 2,
      outputFormat: 'png',
      referenceMode: 'reference',
      preserveBranding: false,
      errorMessage: null,
      creditsCharged: 2,
      referenceImagesUsed: 0,
      processingTimeMs: generated.body.processingTimeMs,
    });
    expect(outputs).toHaveLength(2);
    expect(outputUrl).toBe(outputs[0]);
    expect(modelVersion).toMatch(/\S/);
    const times = [createdAt, startedAt, completedAt].map((at) => Date.parse(at));
    expect([createdAt, startedAt, completedAt]).toEqual(times.map((ms) => new Date(ms).toISOString()));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(rest.processingTimeMs).toBe(times[2]! - times[0]!);
  });

  test('answers any key of the same license alike', async () => {
    const { key } = await issueKey(table, owner.license);
    const answer = await get(`/generate/${generated.body.requestId}`, key);
    expectOk(answer);
    expect(answer.body.id).toBe(generated.body.requestId);
  });

  test("answers another license's request and a missing one with the same 404, byte for byte", async () => {
    const bearer: [string, string][] = [['authorization', `Bearer ${stranger.key}`]];
    const ask = (id: string) => sendRaw(service.ready.baseUrl, { path: `/generate/${id}`, headers: bearer });
    const foreign = await ask(generated.body.requestId);
    const missing = await ask(newRequestId(Date.now()));
    expect(foreign).toMatchObject({ status: 404, text: missing.text });
    expect(missing.status).toBe(404);
    expect(JSON.parse(foreign.text).code).toBe('REQUEST_NOT_FOUND');
    expect([...foreign.headers.keys()]).toEqual([...missing.headers.keys()]);
    expect(foreign.headers.get('content-length')).toBe(missing.headers.get('content-length'));
  });

  test.each([
    ['no UUID', 'nonsense'],
    ['a UUID of another version', randomUUID()],
    ['an encoded slash', 'a%2Fb'],
    ['a path upwards', '..%2Fgenerate'],
    ['a wildcard', '%23'],
    ['a NUL', '%00'],
    ['bytes that are no text', '%ff'],
    ['a broken escape', '%zz'],
    ['nothing', ''],
    ['a further segment', `${newRequestId(0)}/outputs`],
    ['5000 characters', 'a'.repeat(5000)],
  ])('is 404 in the shape of every error for %s', async (_, id) => {
    const answer = await get(`/generate/${id}`, owner.key);
    const code = /^(|.*\/.*|%ff|%zz)$/.test(id) ? 'NOT_FOUND' : 'REQUEST_NOT_FOUND';
    expectError(answer, 404, code);
  });

  test('knows one spelling of an id', async () => {
    const { requestId } = generated.body;
    for (const other of [
      requestId.toUpperCase(),
      `${requestId} `,
      `{${requestId}}`,
      requestId.replaceAll('-', ''),
    ]) {
      expectError(await get(`/generate/${encodeURIComponent(other)}`, owner.key), 404, 'REQUEST_NOT_FOUND');
    }
  });

  test('refuses an unknown query parameter by name', async () => {
    const answer = await get(`/generate/${generated.body.requestId}?fresh=1`, owner.key);
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toContain('fresh');
  });

  test('lets exactly 60 a minute through for one key, then is 429 RATE_LIMITED with the time to wait', async () => {
    const { key, license } = await grant(table);
    const path = `/generate/${newRequestId(Date.now())}`;
    for (let left = 59; left >= 0; left--) {
      const answer = await get(path, key);
      expectError(answer, 404, 'REQUEST_NOT_FOUND');
      expect(answer.headers.get('ratelimit-policy')).toBe('"fetch";q=60;w=60');
      expect(answer.headers.get('ratelimit')).toMatch(new RegExp(`^"fetch";r=${left};t=\\d+$`));
    }
    for (let i = 0; i < 3; i++) {
      const refused = await get(path, key);
      expectError(refused, 429, 'RATE_LIMITED');
      const wait = Number(refused.headers.get('retry-after'));
      expect(wait).toBeLessThanOrEqual(60);
      expect(refused.headers.get('ratelimit')).toBe(`"fetch";r=0;t=${wait}`);
      expect(refused.headers.get('ratelimit-policy')).toBe('"fetch";q=60;w=60');
    }
    const sibling = await issueKey(table, license);
    expectError(await get(path, sibling.key), 404, 'REQUEST_NOT_FOUND');
    expectOk(await get('/generate', key));
  });
});

describe('GET /generate', () => {
  let history: Granted;
  let ids: string[];

  beforeAll(async () => {
    history = await grant(table);
    ids = [];
    const { aurora } = service.ready.identities;
    for (let i = 0; i < 23; i++) {
      const { requestId } = await reserveAbandoned(table, history.license, { identityId: aurora! });
      ids.unshift(requestId);
    }
  });

  const idsOf = ({ body }: ApiAnswer): string[] => body.generations.map(({ id }: { id: string }) => id);

  async function pageThrough(limit: number): Promise<string[][]> {
    const pages: string[][] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${cursor}`;
      const page = await get(`/generate?limit=${limit}${query}`, history.key);
      expectOk(page);
      expect(Object.keys(page.body).sort()).toEqual(['generations', 'nextCursor']);
      pages.push(idsOf(page));
      cursor = page.body.nextCursor;
    } while (cursor !== null && pages.length < 50);
    return pages;
  }

  test('is newest first, 20 unless told otherwise, each as GET /generate/{requestId} shows it', async () => {
    const page = await get('/generate', history.key);
    expectOk(page);
    expect(idsOf(page)).toEqual(ids.slice(0, 20));
    const alone = await get(`/generate/${ids[0]}`, history.key);
    expect(page.body.generations[0]).toEqual(alone.body);
  });

  test.each([1, 7, 22, 23, 100])('pages of %i show every request once, in order', async (limit) => {
    const pages = await pageThrough(limit);
    expect(pages.flat()).toEqual(ids);
    expect(pages.map((page) => page.length > 0 && page.length <= limit)).not.toContain(false);
    expect(pages).toHaveLength(Math.ceil(ids.length / limit));
  });

  test('what is stored while somebody pages shifts no page', async () => {
    const first = await get('/generate?limit=10', history.key);
    const { aurora } = service.ready.identities;
    const { requestId } = await reserveAbandoned(table, history.license, { identityId: aurora! });
    const second = await get(`/generate?limit=10&cursor=${first.body.nextCursor}`, history.key);
    expect(idsOf(second)).toEqual(ids.slice(10, 20));
    ids.unshift(requestId);
  });

  test.each(['0', '101', '-1', 'abc', '', '1.5', '1e1', '%201', '99999999999999999999'])(
    'refuses limit=%s',
    async (limit) => {
      const answer = await get(`/generate?limit=${limit}`, history.key);
      expectError(answer, 400, 'INVALID_PARAMETERS');
      expect(answer.body.error).toMatch(/limit.*1 to 100/);
    },
  );

  test.each([
    ['nonsense', 'nonsense'],
    ['nothing', ''],
    ['another kind of key', Buffer.from('LICENSE').toString('base64url')],
    ['a UUID of another version', Buffer.from(randomUUID()).toString('base64url')],
    ['JSON', Buffer.from('{"PK":"LICENSE#x"}').toString('base64url')],
  ])('refuses a cursor made of %s', async (_, cursor) => {
    expectError(await get(`/generate?cursor=${cursor}`, history.key), 400, 'INVALID_PARAMETERS');
  });

  test("another license's cursor shows nothing of that license", async () => {
    const { body } = await get('/generate?limit=5', history.key);
    const answer = await get(`/generate?limit=100&cursor=${body.nextCursor}`, owner.key);
    expectOk(answer);
    const own = idsOf(await get('/generate', owner.key));
    expect(own).toEqual([generated.body.requestId]);
    for (const id of idsOf(answer)) expect(own).toContain(id);
  });

  test('refuses unknown and repeated parameters by name', async () => {
    const unknown = await get('/generate?state=FAILED', history.key);
    expectError(unknown, 400, 'INVALID_PARAMETERS');
    expect(unknown.body.error).toContain('state');
    expectError(await get('/generate?limit=1&limit=1', history.key), 400, 'INVALID_PARAMETERS');
  });
});

describe('GET /identities', () => {
  test('shows the founding catalog to a core plan: what each is called, and whether it can be used now', async () => {
    const { keys, identities } = service.ready;
    const answer = await get('/identities', keys.starter);
    expectOk(answer);
    const founding = Object.entries(demoIdentities).filter(([, { catalog }]) => catalog === 'founding');
    expect(founding).toHaveLength(7);
    expect(answer.body).toEqual({
      identities: founding.map(([name, { description, productPhotos }]) => ({
        id: identities[name],
        name,
        slug: name,
        description,
        productPhotos,
        available: name !== 'ember',
      })),
    });
  });

  test('shows a specialist record its own identity only', async () => {
    const answer = await get('/identities', service.ready.keys.specialist);
    expect(answer.body.identities.map(({ slug }: any) => slug)).toEqual(['drift']);
  });

  test('refuses an unknown query parameter', async () => {
    expectError(await get('/identities?all=1', owner.key), 400, 'INVALID_PARAMETERS');
  });
});

test('GET /health needs no key and says that both the API and the inference backend are up', async () => {
  for (const key of [undefined, 'nonsense']) {
    const answer = await get('/health', key);
    expectOk(answer);
    expect(answer.body).toEqual({ status: 'ok', api: 'up', inference: 'up' });
  }
});

test.each([
  ['GET', '/api/v2/health'],
  ['GET', basePath],
  ['GET', `${basePath}/`],
  ['GET', `${basePath}//health`],
  ['GET', `${basePath}/Health`],
  ['GET', `${basePath}/generate/x/y`],
  ['POST', `${basePath}/health`],
  ['POST', `${basePath}/identities`],
  ['PUT', `${basePath}/generate`],
  ['DELETE', `${basePath}/generate/00000000-0000-7000-8000-000000000000`],
])('%s %s is 404 NOT_FOUND', async (method, path) => {
  const response = await fetch(new URL(service.ready.baseUrl).origin + path, { method });
  const answer = { status: response.status, headers: response.headers, body: await response.json() };
  expectError(answer, 404, 'NOT_FOUND');
});

for (const route of Object.values(routes).filter(({ auth }) => auth === 'key' || auth === 'key_or_session')) {
  describe(`the Authorization header of ${route.method} ${route.path}`, () => {
    testAuthorization(route, () => ({ baseUrl: service.ready.baseUrl, table }));
  });
}
