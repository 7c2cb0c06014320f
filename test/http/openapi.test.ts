import { once } from 'node:events';
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { documentedRoutes, openApiDocument } from '../../shared/openapi/document.ts';
import type { OperationId } from '../../shared/openapi/operations.ts';
import { routes } from '../../shared/routes/routes.ts';
import { answerHeaders } from '../../shared/routes/api.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { grant, type Granted } from '../support/grants.ts';
import { small } from '../support/requests.ts';
import type { ApiAnswer } from '../support/service.ts';
import { sessionOf } from '../support/sessions.ts';
import { useService } from '../support/use-service.ts';
import { closed, fits, resolve } from '../unit/openapi/json-schema.ts';

const service = useService({ quickContainer: true, args: ['--deadline', '5'] });
let granted: Granted;
let session: string;
/** Without room for members that it does not name. */
const document = closed(openApiDocument());
/** The statuses that each operation answered. */
const seen = new Map<OperationId, Set<number>>();
/** Headers of the document that an answer had. */
const seenHeaders = new Set<string>();

/** Headers that OpenAPI does not document: of the connection, of the body's form, of CORS and of another format. */
const undocumented = [
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
  'vary',
  'x-accel-buffering',
  'access-control-allow-origin',
  // For OpenAI's SDKs, on what the gateway answers, whatever the route.
  'x-should-retry',
  'access-control-expose-headers',
];

/** Headers that every answer of its status has. On AWS some have another name. */
const everywhere = (status: number) => Object.keys(answerHeaders(status));

beforeAll(async () => {
  granted = await grant(service.table, { creditsLimit: 6 });
  session = await sessionOf(service.dataDir, { sub: granted.license.ownerId });
});

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
  const always = everywhere(answer.status);
  expect([operationId, always.filter((name) => !answer.headers.has(name))]).toEqual([operationId, []]);
  const known = [...documented.map(([name]) => name.toLowerCase()), ...always, ...undocumented];
  const unknown = [...answer.headers.keys()].filter((name) => !known.includes(name));
  expect([operationId, answer.status, unknown]).toEqual([operationId, answer.status, []]);
}

interface Call {
  as?: string;
  path?: string;
  query?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Calls an operation. The answer must have this status, as the document has it. */
async function call(operationId: OperationId, status: number, options: Call = {}): Promise<ApiAnswer> {
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
  expect([operationId, options, answer.status]).toEqual([operationId, options, status]);
  return answer;
}

test('GET /openapi.json answers everyone with the document, as JSON, and takes no query parameter', async () => {
  const answer = await call('getOpenApi', 200);
  expectOk(answer);
  expect(answer.body).toEqual({ ...openApiDocument(), servers: [{ url: service.ready.baseUrl }] });
  expectError(await call('getOpenApi', 400, { query: '?v=1' }), 400, 'INVALID_PARAMETERS');
});

test('GET /openapi.json names the address that it was asked at, with a tag of its own, and no other', async () => {
  const { hostname, port } = new URL(service.ready.baseUrl);
  const askedAt = async (host: string) => {
    const request = get({ hostname, port, path: '/api/v1/openapi.json', headers: { host } });
    const [answer] = await once(request, 'response');
    return [JSON.parse(await text(answer)).servers, answer.headers.etag];
  };
  const own = await askedAt(`${hostname}:${port}`);
  const byName = await askedAt(`localhost:${port}`);
  const urls = [service.ready.baseUrl, `http://localhost:${port}/api/v1`];
  expect([own, byName].map(([servers]) => servers)).toEqual(urls.map((url) => [{ url }]));
  expect(byName[1]).not.toBe(own[1]);
  const others =
    'evil.example localhost.evil.example:80 localhost:1@evil.example localhost/x localhost:99999';
  for (const host of others.split(' ')) expect([host, await askedAt(host)]).toEqual([host, own]);
});

test('GET /openapi.json is answered 304 without a body to who has it already, compressed or not', async () => {
  for (const encoding of ['gzip', 'identity']) {
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
    for (const others of ['"other"', 'W/"other", "another"', '"*"', 'W/"', tag.replaceAll('"', '')])
      await call('getOpenApi', 200, asked(others));
  }
});

describe('what the service answers is what the document says', () => {
  const generation = (changes: object = {}) => ({
    ...small,
    identityId: service.ready.identities.aurora,
    ...changes,
  });

  test('generating by key', async () => {
    const as = granted.key;
    const headers = { 'idempotency-key': 'once' };
    const { body } = await call('createGeneration', 200, { as, body: generation(), headers });
    const replayed = await call('createGeneration', 200, { as, body: generation(), headers });
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');
    await call('getGeneration', 200, { as, path: `/generate/${body.requestId}` });
    for (const status of [200, 404]) {
      await call('deleteGeneration', status, { as, path: `/generate/${body.requestId}` });
    }
    const { flint, ember, glacier, drift } = service.ready.identities;
    const refusals: [changes: object, status: number][] = [
      [{ identityId: flint }, 500],
      [{ identityId: glacier }, 504],
      [{ identityId: ember }, 503],
      [{ identityId: drift }, 401],
      [{ identityId: 'nobody' }, 404],
      [{ stpes: 20 }, 400],
      [{ numOutputs: 4, width: 2048, height: 2048 }, 429],
    ];
    for (const [changes, status] of refusals) {
      await call('createGeneration', status, { as, body: generation(changes) });
    }
    await call('createGeneration', 422, { as, body: generation({ seed: 1 }), headers });
    const other = (await grant(service.table)).key;
    await call('createGeneration', 413, { as: other, body: `{"prompt":"${'x'.repeat(1024 * 1024)}"}` });
    await call('createGeneration', 200, { as: other, body: generation(), query: '?dryRun=true' });
    await call('createGeneration', 401, { body: generation() });
    const slow = {
      as: other,
      body: generation({ identityId: glacier }),
      headers: { prefer: 'respond-async' },
    };
    const { headers: sent } = await call('createGeneration', 202, slow);
    const path = `/generate/${sent.get('x-request-id')}`;
    await call('getGeneration', 200, { as: other, path });
  });

  test('every event of a stream', async () => {
    const answer = await service.api({
      path: '/generate',
      key: (await grant(service.table)).key,
      body: generation(),
      headers: { accept: 'text/event-stream' },
    });
    expectHeadersDocumented('createGeneration', answer, document.components.responses.GenerationAnswer);
    const { properties } = document.components.schemas.GenerationEvents;
    const blocks = (answer.body as string).trim().split('\n\n');
    expect(blocks.length).toBeGreaterThan(2);
    for (const block of blocks) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(block)!;
      expect([block, fits(properties[event!], JSON.parse(data!), document)]).toEqual([block, true]);
    }
  });

  test('every other operation', async () => {
    const as = granted.key;
    const bySession = { as: session };
    const { licenseId, ownerId } = granted.license;
    const ofLicense = `?licenseId=${licenseId}`;
    const ofNobody = { as: session, query: '?licenseId=nobody' };
    const ended = (await grant(service.table, { ownerId, status: 'ended' })).license.licenseId;
    const made = { licenseId, name: 'my app' };
    const { body: key } = await call('createKey', 201, { as: session, body: made });
    const calls: [OperationId, number, Call?][] = [
      ['listGenerations', 200, { as }],
      ['listGenerations', 200, { as: session, query: `${ofLicense}&limit=1` }],
      ['listGenerations', 404, ofNobody],
      ['listGenerations', 400, { as, query: '?limit=0' }],
      ['getGeneration', 404, { as: session, path: '/generate/nothing' }],
      ['getGeneration', 404, { as: session, path: '/generate/%zz' }],
      ['listLicenses', 200, bySession],
      ['listLicenses', 401, { as }],
      ['getUsage', 200, { as: session, query: ofLicense }],
      ['getUsage', 400, bySession],
      ['listActivity', 200, { as: session, path: `/licenses/${licenseId}/activity` }],
      ['listActivity', 404, { as: session, path: '/licenses/nobody/activity' }],
      ['listRefusals', 200, { as: session, path: `/licenses/${licenseId}/refusals` }],
      ['listRefusals', 400, { as: session, path: `/licenses/${licenseId}/refusals`, query: '?days=31' }],
      ['listRefusals', 404, { as: session, path: '/licenses/nobody/refusals' }],
      ['getUsage', 404, ofNobody],
      ['listIdentities', 200, { as }],
      ['listIdentities', 404, ofNobody],
      ['listIdentities', 400, { as, query: ofLicense }],
      ['createKey', 400, { as: session, body: { licenseId, name: '' } }],
      ['createKey', 400, { as: session, body: '{' }],
      ['createKey', 404, { as: session, body: { licenseId: 'nobody', name: 'x' } }],
      ['createKey', 403, { as: session, body: { licenseId: ended, name: 'x' } }],
      ['listKeys', 200, bySession],
      ['listKeys', 401, { as }],
      ['getAccount', 200, bySession],
      ['getAccount', 401, { as }],
      ['updateAccount', 200, { as: session, body: { creditMails: true } }],
      ['updateAccount', 400, { as: session, body: { creditMails: 1 } }],
      ['updateKey', 200, { as: session, path: `/keys/${key.keyId}`, body: { name: 'k' } }],
      ['updateKey', 404, { as: session, path: '/keys/nothing', body: { name: 'k' } }],
      ['revokeKey', 200, { as: session, path: `/keys/${key.keyId}` }],
      ['revokeKey', 404, { as: session, path: '/keys/nothing' }],
      ['listKeys', 200, bySession],
      ['createUpload', 201, { as }],
      ['createUpload', 201, { as, body: { contentType: 'image/png' } }],
      ['createUpload', 201, { as: session, body: { licenseId } }],
      ['createUpload', 404, { as: session, body: { licenseId: 'nobody' } }],
      ['createUpload', 403, { as: session, body: { licenseId: ended } }],
      ['createUpload', 400, { as, body: { licenseId } }],
      ['createPlaygroundGeneration', 200, { as: session, body: generation({ licenseId }) }],
      [
        'createPlaygroundGeneration',
        200,
        { as: session, body: generation({ licenseId }), query: '?dryRun=true' },
      ],
      ['createPlaygroundGeneration', 400, { as: session, body: generation() }],
      ['createPlaygroundGeneration', 404, { as: session, body: generation({ licenseId: 'nobody' }) }],
      ['createPlaygroundGeneration', 401, { as, body: generation({ licenseId }) }],
      ['getHealth', 200],
      ['getHealth', 400, { query: '?deep=1' }],
    ];
    for (const each of calls) await call(...each);
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
