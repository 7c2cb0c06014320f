import { once } from 'node:events';
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { documentedRoutes, openApiDocument } from '../../shared/openapi/document.ts';
import type { OperationId } from '../../shared/openapi/operations.ts';
import { routes } from '../../shared/routes/routes.ts';
import { answerHeaders } from '../../shared/routes/api.ts';
import { eventsIn } from '../support/events.ts';
import { grant } from '../support/grants.ts';
import { small } from '../support/requests.ts';
import type { ApiAnswer, ApiCall } from '../support/service.ts';
import { useService } from '../support/use-service.ts';
import { closed, fits, resolve } from '../unit/openapi/json-schema.ts';
import { newAccount, type Account } from './fixture.ts';

const service = useService({ quickContainer: true, args: ['--deadline', '5'] });
let own: Account;
/** Without room for members that it does not name. */
const document = closed(openApiDocument());
/** The statuses that each operation answered. */
const seen = new Map<OperationId, Set<number>>();
/** Headers of the document that an answer had. */
const seenHeaders = new Set<string>();

/** Headers that OpenAPI does not document: of the connection, of the body's form, of CORS and of another format. */
const undocumented =
  'connection content-encoding content-length content-type date keep-alive transfer-encoding vary ' +
  'x-accel-buffering x-should-retry access-control-allow-origin access-control-expose-headers';

beforeAll(async () => void (own = await newAccount({ creditsLimit: 6 }, service)));

/** The document has the answer's status, its headers and its body. */
function expectDocumented(operationId: OperationId, answer: ApiAnswer): void {
  const { path, method } = routes[operationId];
  const reference = document.paths[path][method.toLowerCase()].responses[answer.status];
  expect([operationId, answer.status, answer.body, reference !== undefined]).toContain(true);
  const response = resolve(reference.$ref, document);
  expectHeadersDocumented(operationId, answer, response);
  const schema = response.content?.['application/json'].schema ?? { const: '' };
  expect([answer.body, fits(schema, answer.body, document)]).toEqual([answer.body, true]);
  seen.set(operationId, (seen.get(operationId) ?? new Set()).add(answer.status));
}

/** Every header of the answer is documented and fits its schema, and every required one is there. */
function expectHeadersDocumented(operationId: OperationId, answer: ApiAnswer, response: any): void {
  const documented = Object.entries<{ $ref: string }>(response.headers);
  for (const [name, { $ref }] of documented) {
    const { required, schema } = resolve($ref, document);
    const sent = answer.headers.get(name);
    if (required) expect([name, sent !== null]).toEqual([name, true]);
    if (sent === null) continue;
    const value = schema.type === 'integer' ? Number(sent) : sent;
    expect([name, sent, fits(schema, value, document)]).toEqual([name, sent, true]);
    seenHeaders.add($ref.split('/').at(-1)!);
  }
  // On AWS some have another name.
  const always = Object.keys(answerHeaders(answer.status));
  expect([operationId, always.filter((name) => !answer.headers.has(name))]).toEqual([operationId, []]);
  const known = [...documented.map(([name]) => name.toLowerCase()), ...always, ...undocumented.split(' ')];
  const unknown = [...answer.headers.keys()].filter((name) => !known.includes(name));
  expect([operationId, answer.status, unknown]).toEqual([operationId, answer.status, []]);
}

type Sent = Partial<Pick<ApiCall, 'key' | 'body' | 'headers'>> & {
  /** In the place of the route's own path, or what is added to it. */
  path?: string;
  query?: string;
};

/** Calls an operation. The answer must have this status, as the document has it. */
async function call(operationId: OperationId, status: number, sent: Sent = {}): Promise<ApiAnswer> {
  const { query = '', ...rest } = sent;
  const { method, path } = routes[operationId];
  const answer = await service.api({ method, ...rest, path: `${sent.path ?? path}${query}` });
  expectDocumented(operationId, answer);
  expect([operationId, sent, answer.status]).toEqual([operationId, sent, status]);
  return answer;
}

describe('GET /openapi.json', () => {
  test('answers everyone with the document, as JSON, and takes no query parameter', async () => {
    const { body } = await call('getOpenApi', 200);
    expect(body).toEqual({ ...openApiDocument(), servers: [{ url: service.ready.baseUrl }] });
    await call('getOpenApi', 400, { query: '?v=1' });
  });

  test('names the address that it was asked at, with a tag of its own, and no other', async () => {
    const { hostname, port } = new URL(service.ready.baseUrl);
    const askedAt = async (host: string) => {
      const request = get({ hostname, port, path: '/api/v1/openapi.json', headers: { host } });
      const [answer] = await once(request, 'response');
      return [JSON.parse(await text(answer)).servers[0].url, answer.headers.etag];
    };
    const asAlways = await askedAt(`${hostname}:${port}`);
    const [url, tag] = await askedAt(`localhost:${port}`);
    expect([asAlways[0], url]).toEqual([service.ready.baseUrl, `http://localhost:${port}/api/v1`]);
    expect(tag).not.toBe(asAlways[1]);
    const others =
      'evil.example localhost.evil.example:80 localhost:1@evil.example localhost/x localhost:99999';
    for (const host of others.split(' ')) expect([host, await askedAt(host)]).toEqual([host, asAlways]);
  });

  test.each(['gzip', 'identity'])('is 304 without a body to who has it already, as %s', async (encoding) => {
    const asked = (ifNoneMatch: string) => ({
      headers: { 'accept-encoding': encoding, 'if-none-match': ifNoneMatch },
    });
    const { headers } = await call('getOpenApi', 200, asked(''));
    const tag = headers.get('etag')!;
    // Weak, strong, in a list, or any.
    for (const sent of [tag, `"other, one" ,W/"",${tag.slice(2)}`, ' * ']) {
      const unchanged = await call('getOpenApi', 304, asked(sent));
      for (const name of ['etag', 'cache-control', 'vary'])
        expect([name, unchanged.headers.get(name)]).toEqual([name, headers.get(name)]);
    }
    for (const others of ['W/"other", "another"', '"*"', 'W/"', tag.replaceAll('"', '')])
      await call('getOpenApi', 200, asked(others));
  });
});

describe('what the service answers is what the document says', () => {
  const generation = (changes: object = {}) => ({
    ...small,
    identityId: service.ready.identities.aurora,
    ...changes,
  });

  test('generating by key', async () => {
    const { key } = own;
    const headers = { 'idempotency-key': 'once' };
    const body = generation();
    const made = await call('createGeneration', 200, { key, body, headers });
    const replayed = await call('createGeneration', 200, { key, body, headers });
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');
    await call('createGeneration', 422, { key, body: generation({ seed: 1 }), headers });
    const path = `/generate/${made.body.requestId}`;
    await call('getGeneration', 200, { key, path });
    await call('cancelGeneration', 409, { key, path: `${path}/cancel` });
    for (const status of [200, 404]) await call('deleteGeneration', status, { key, path });
    const { flint, ember, glacier, drift } = service.ready.identities;
    const refusals: [status: number, changes: object][] = [
      [500, { identityId: flint }],
      [504, { identityId: glacier }],
      [503, { identityId: ember }],
      [401, { identityId: drift }],
      [404, { identityId: 'nobody' }],
      [400, { stpes: 20 }],
      [429, { numOutputs: 4, width: 2048, height: 2048 }],
    ];
    for (const [status, changes] of refusals)
      await call('createGeneration', status, { key, body: generation(changes) });
    await call('createGeneration', 401, { body });
    const other = await newAccount({}, service);
    await call('createGeneration', 413, { key: other.key, body: 'x'.repeat(1024 * 1024 + 1) });
    await call('createGeneration', 200, { key: other.key, body, query: '?dryRun=true' });
    const slow = { body: generation({ identityId: glacier }), headers: { prefer: 'respond-async' } };
    const accepted = await call('createGeneration', 202, { key: other.key, ...slow });
    // It runs, so that it says when to look again.
    const ofSlow = { key: other.key, path: `/generate/${accepted.body.requestId}` };
    expect((await call('getGeneration', 200, ofSlow)).headers.has('retry-after')).toBe(true);
    await call('cancelGeneration', 200, { key: other.key, path: `${ofSlow.path}/cancel` });
  });

  test('every event of a stream', async () => {
    const { byKey } = await newAccount({}, service);
    const headers = { accept: 'text/event-stream' };
    const answer = await byKey('/generate', { body: generation(), headers });
    expectHeadersDocumented('createGeneration', answer, document.components.responses.GenerationAnswer);
    const { properties } = document.components.schemas.GenerationEvents;
    const events = eventsIn(answer.body);
    expect(events.length).toBeGreaterThan(2);
    for (const { event, data } of events)
      expect([event, data, fits(properties[event], data, document)]).toEqual([event, data, true]);
  });

  test('every other operation', async () => {
    const { key, session, license } = own;
    const { licenseId, ownerId } = license;
    const ofLicense = `?licenseId=${licenseId}`;
    const ended = (await grant(service.table, { ownerId, status: 'ended' })).license.licenseId;
    const made = await call('createKey', 201, { key: session, body: { licenseId, name: 'my app' } });
    const path = `/keys/${made.body.keyId}`;
    const noKey = '/keys/nothing';
    const ofNobody = '?licenseId=nobody';
    const byKey: [OperationId, number, Sent?][] = [
      ['listGenerations', 200],
      ['listGenerations', 400, { query: '?limit=0' }],
      ['listLicenses', 401],
      ['listIdentities', 200],
      ['listIdentities', 400, { query: ofLicense }],
      ['getIdentity', 200, { path: '/identities/aurora' }],
      ['getIdentity', 404, { path: '/identities/nothing' }],
      ['listKeys', 401],
      ['getKey', 200],
      ['getKey', 400, { query: '?x=1' }],
      ['getAccount', 401],
      ['createUpload', 201],
      ['createUpload', 201, { body: { contentType: 'image/png' } }],
      ['createUpload', 400, { body: { licenseId } }],
      ['createPlaygroundGeneration', 401, { body: generation({ licenseId }) }],
      ['getHealth', 200],
      ['getHealth', 400, { query: '?deep=1' }],
    ];
    const bySession: typeof byKey = [
      ['listGenerations', 200, { query: `${ofLicense}&limit=1` }],
      ['listGenerations', 404, { query: ofNobody }],
      ['getGeneration', 404, { path: '/generate/nothing' }],
      ['getGeneration', 404, { path: '/generate/%zz' }],
      ['listLicenses', 200],
      ['getUsage', 200, { query: ofLicense }],
      ['getUsage', 400],
      ['getUsage', 404, { query: ofNobody }],
      ['listActivity', 200, { path: `/licenses/${licenseId}/activity` }],
      ['listActivity', 404, { path: '/licenses/nobody/activity' }],
      ['listRefusals', 200, { path: `/licenses/${licenseId}/refusals` }],
      ['listRefusals', 400, { path: `/licenses/${licenseId}/refusals`, query: '?days=31' }],
      ['listRefusals', 404, { path: '/licenses/nobody/refusals' }],
      ['listRefusedRequests', 200, { path: `/licenses/${licenseId}/refused-requests` }],
      [
        'listRefusedRequests',
        400,
        { path: `/licenses/${licenseId}/refused-requests`, query: '?requestId=x' },
      ],
      ['listRefusedRequests', 404, { path: '/licenses/nobody/refused-requests' }],
      ['listIdentities', 404, { query: ofNobody }],
      ['createKey', 400, { body: { licenseId, name: '' } }],
      ['createKey', 400, { body: '{' }],
      ['createKey', 404, { body: { licenseId: 'nobody', name: 'x' } }],
      ['createKey', 403, { body: { licenseId: ended, name: 'x' } }],
      ['getAccount', 200],
      ['updateAccount', 200, { body: { creditMails: true } }],
      ['updateAccount', 400, { body: { creditMails: 1 } }],
      ['listKeys', 200],
      ['updateKey', 200, { path, body: { name: 'k' } }],
      ['updateKey', 404, { path: noKey, body: { name: 'k' } }],
      ['revokeKey', 200, { path }],
      ['revokeKey', 404, { path: noKey }],
      ['listKeys', 200],
      ['createUpload', 201, { body: { licenseId } }],
      ['createUpload', 404, { body: { licenseId: 'nobody' } }],
      ['createUpload', 403, { body: { licenseId: ended } }],
      ['createPlaygroundGeneration', 200, { body: generation({ licenseId }) }],
      ['createPlaygroundGeneration', 200, { body: generation({ licenseId }), query: '?dryRun=true' }],
      ['createPlaygroundGeneration', 400, { body: generation() }],
      ['createPlaygroundGeneration', 404, { body: generation({ licenseId: 'nobody' }) }],
    ];
    for (const [name, status, sent] of byKey) await call(name, status, { key, ...sent });
    for (const [name, status, sent] of bySession) await call(name, status, { key: session, ...sent });
  });

  test('every header of the document was seen, and every route was seen to succeed and to refuse', () => {
    expect([...seenHeaders].sort()).toEqual(Object.keys(document.components.headers).sort());
    for (const [operationId] of documentedRoutes) {
      const statuses = [...(seen.get(operationId) ?? [])];
      const hasBoth = statuses.some((status) => status < 300) && statuses.some((status) => status >= 400);
      expect([operationId, hasBoth]).toEqual([operationId, true]);
    }
  });
});
