import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openApiDocument } from '../../shared/openapi/document.ts';
import { routes } from '../../shared/routes.ts';
import type { Table } from '../../shared/store/table.ts';
import { expectError, expectOk, uuid } from '../support/answers.ts';
import { fixedTableOf } from '../support/books.ts';
import { grant, type Granted } from '../support/grants.ts';
import { small } from '../support/requests.ts';
import { removeFolder, startService, type ApiAnswer, type RunningService } from '../support/service.ts';
import { sessionOf } from '../support/sessions.ts';
import { startQuickContainer } from '../fuzz/quick-container.ts';
import { closed, fits } from '../unit/openapi/json-schema.ts';

type OperationId = keyof typeof routes;

let service: RunningService;
let container: Awaited<ReturnType<typeof startQuickContainer>>;
let table: Table;
let granted: Granted;
let session: string;
/** With no room for members that it does not name. */
const document = closed(openApiDocument());
/** Operations whose answers were seen, by status. */
const seen = new Map<string, Set<number>>();
/** Headers of the document that an answer had. */
const seenHeaders = new Set<string>();

/** Of the connection and the body's form, which OpenAPI does not document. */
const ofTransport = [
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
];
/** Of the browser's conversation with the service, which the document tells about in words (Fetch, "CORS protocol"). */
const ofOrigins = ['vary', 'access-control-allow-origin', 'access-control-expose-headers'];

beforeAll(async () => {
  container = await startQuickContainer();
  service = await startService({ args: ['--container', container.url, '--deadline', '5'] });
  table = await fixedTableOf(service.dataDir);
  granted = await grant(table, { creditsLimit: 6 });
  session = await sessionOf(service.dataDir, { sub: granted.license.ownerId });
});
afterAll(async () => {
  await service.end();
  await container.close();
  removeFolder(service.dataDir);
});

/** The answer is one that the document tells of: its status, its headers and its body. */
function expectDocumented(operationId: OperationId, answer: ApiAnswer): void {
  const { path, method } = routes[operationId];
  const response = document.paths[path][method.toLowerCase()].responses[answer.status];
  expect([operationId, answer.status, answer.body, response !== undefined]).toContain(true);
  expectHeadersDocumented(operationId, answer, response);
  const { schema } = response.content['application/json'];
  expect([answer.body, fits(schema, answer.body, document)]).toEqual([answer.body, true]);
  seen.set(operationId, (seen.get(operationId) ?? new Set()).add(answer.status));
}

/** Every header of the answer is documented and fits, and none that is promised is missing. */
function expectHeadersDocumented(operationId: OperationId, answer: ApiAnswer, response: any): void {
  for (const [name, { $ref }] of Object.entries<any>(response.headers)) {
    const header = document.components.headers[$ref.split('/').at(-1)];
    const sent = answer.headers.get(name);
    if (header.required) expect([name, sent !== null]).toEqual([name, true]);
    const value = header.schema.type === 'integer' ? Number(sent) : sent;
    if (sent === null) continue;
    expect([name, sent, fits(header.schema, value, document)]).toEqual([name, sent, true]);
    seenHeaders.add($ref.split('/').at(-1));
  }
  const told = [
    ...Object.keys(response.headers).map((name) => name.toLowerCase()),
    ...ofTransport,
    ...ofOrigins,
  ];
  const untold = [...answer.headers.keys()].filter((name) => !told.includes(name));
  expect([operationId, answer.status, untold]).toEqual([operationId, answer.status, []]);
}

async function call(
  operationId: OperationId,
  options: {
    as?: string;
    path?: string;
    query?: string;
    body?: unknown;
    headers?: Record<string, string>;
  } = {},
): Promise<ApiAnswer> {
  const { as, body, query = '', headers = {} } = options;
  const { method, path } = routes[operationId];
  const answer = await service.api({
    method,
    path: `${options.path ?? path}${query}`,
    key: as,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  expectDocumented(operationId, answer);
  return answer;
}

describe('GET /openapi.json', () => {
  test('answers everyone with the document, as JSON', async () => {
    const answer = await service.api({ path: '/openapi.json' });
    expectOk(answer);
    expect(answer.body).toEqual(openApiDocument());
    expect((await call('getOpenApi')).body).toEqual(answer.body);
  });

  test('takes no query parameter', async () => {
    expectError(await call('getOpenApi', { query: '?v=1' }), 400, 'INVALID_PARAMETERS');
  });

  test.each(['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])('knows no %s', async (method) => {
    const response = await fetch(`${service.ready.baseUrl}/openapi.json`, { method });
    expect(response.status).toBe(404);
    expect(response.headers.get('x-request-id')).toMatch(uuid);
    if (method !== 'HEAD') expect(await response.json()).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('what the service answers is what the document tells', () => {
  const generation = (changes: object = {}) => ({
    ...small,
    identityId: service.ready.identities.aurora,
    ...changes,
  });

  test('generating by key: done, failed, late, refused', async () => {
    const as = granted.key;
    const headers = { 'idempotency-key': 'once' };
    const { body } = await call('createGeneration', { as, body: generation(), headers });
    const replayed = await call('createGeneration', { as, body: generation(), headers });
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');
    await call('getGeneration', { as, path: `/generate/${body.requestId}` });
    const { flint, ember, glacier, drift } = service.ready.identities;
    const refusals: [object, number][] = [
      [{ identityId: flint }, 500],
      [{ identityId: glacier }, 504],
      [{ identityId: ember }, 503],
      [{ identityId: drift }, 401],
      [{ identityId: 'nobody' }, 404],
      [{ stpes: 20 }, 400],
      [{ numOutputs: 4, width: 2048, height: 2048 }, 429],
    ];
    for (const [changes, status] of refusals) {
      expect((await call('createGeneration', { as, body: generation(changes) })).status).toBe(status);
    }
    expect((await call('createGeneration', { as, body: generation({ seed: 1 }), headers })).status).toBe(422);
    const tooLarge = `{"prompt":"${'x'.repeat(1024 * 1024)}"}`;
    const other = await grant(table);
    expect((await call('createGeneration', { as: other.key, body: tooLarge })).status).toBe(413);
    const dry = await call('createGeneration', { as: other.key, body: generation(), query: '?dryRun=true' });
    expect(dry.body).toMatchObject({ dryRun: true, accepted: true, credits: 1 });
    expect((await call('createGeneration', { body: generation() })).status).toBe(401);
  });

  test('histories, with every status and both credentials', async () => {
    await call('listGenerations', { as: granted.key });
    await call('listGenerations', { as: session, query: `?licenseId=${granted.license.licenseId}&limit=1` });
    await call('listGenerations', { as: session, query: '?licenseId=nobody' });
    await call('listGenerations', { as: granted.key, query: '?limit=0' });
    await call('getGeneration', { as: session, path: '/generate/nothing' });
    await call('getGeneration', { as: session, path: '/generate/%zz' });
  });

  test('events fit their schemas', async () => {
    const answer = await service.api({
      path: '/generate',
      key: (await grant(table)).key,
      body: generation(),
      headers: { accept: 'text/event-stream' },
    });
    expectHeadersDocumented('createGeneration', answer, document.paths['/generate'].post.responses[200]);
    const { properties } = document.components.schemas.GenerationEvents;
    const events = (answer.body as string)
      .trim()
      .split('\n\n')
      .map((block) => block.split('\n'));
    expect(events.length).toBeGreaterThan(2);
    for (const [event, data] of events) {
      const value = JSON.parse(data!.replace('data: ', ''));
      const schema = properties[event!.replace('event: ', '')];
      expect([event, value, fits(schema, value, document)]).toEqual([event, value, true]);
    }
  });

  test('the account: licenses, usage, identities', async () => {
    await call('listLicenses', { as: session });
    await call('listLicenses', { as: granted.key });
    await call('getUsage', { as: session, query: `?licenseId=${granted.license.licenseId}` });
    await call('getUsage', { as: session });
    await call('getUsage', { as: session, query: '?licenseId=nobody' });
    await call('listIdentities', { as: granted.key });
    await call('listIdentities', { as: session, query: '?licenseId=nobody' });
  });

  test('keys: made, listed, revoked, refused', async () => {
    const { licenseId } = granted.license;
    const { body } = await call('createKey', { as: session, body: { licenseId, name: 'my app' } });
    await call('createKey', { as: session, body: { licenseId, name: '' } });
    await call('createKey', { as: session, body: '{' });
    await call('createKey', { as: session, body: { licenseId: 'nobody', name: 'x' } });
    await call('listKeys', { as: session });
    await call('listKeys', { as: granted.key });
    await call('revokeKey', { as: session, path: `/keys/${body.keyId}` });
    await call('revokeKey', { as: session, path: '/keys/nothing' });
    await call('listKeys', { as: session });
    const ended = await grant(table, { ownerId: granted.license.ownerId, status: 'ended' });
    const refused = { licenseId: ended.license.licenseId, name: 'x' };
    expect((await call('createKey', { as: session, body: refused })).status).toBe(403);
  });

  test('uploads, by key and by session', async () => {
    const { licenseId } = granted.license;
    await call('createUpload', { as: granted.key });
    await call('createUpload', { as: granted.key, body: { contentType: 'image/png' } });
    await call('createUpload', { as: session, body: { licenseId } });
    await call('createUpload', { as: session, body: { licenseId: 'nobody' } });
    await call('createUpload', { as: granted.key, body: { licenseId } });
  });

  test('the playground', async () => {
    const { licenseId } = granted.license;
    await call('createPlaygroundGeneration', { as: session, body: generation({ licenseId }) });
    const body = generation({ licenseId });
    await call('createPlaygroundGeneration', { as: session, body, query: '?dryRun=true' });
    await call('createPlaygroundGeneration', { as: session, body: generation() });
    await call('createPlaygroundGeneration', { as: session, body: generation({ licenseId: 'nobody' }) });
    await call('createPlaygroundGeneration', { as: granted.key, body: generation({ licenseId }) });
  });

  test('health', async () => {
    await call('getHealth');
    await call('getHealth', { query: '?deep=1' });
  });

  test('every header of the document was seen', () => {
    expect([...seenHeaders].sort()).toEqual(Object.keys(document.components.headers).sort());
  });

  test('every route was seen to succeed and to refuse', () => {
    for (const operationId of Object.keys(routes)) {
      const statuses = [...(seen.get(operationId) ?? [])];
      expect([operationId, statuses.some((status) => status < 300)]).toEqual([operationId, true]);
      expect([operationId, statuses.some((status) => status >= 400)]).toEqual([operationId, true]);
    }
  });
});
