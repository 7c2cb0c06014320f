import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { documentText } from '../../../bin/openapi.ts';
import { errorCodes, type ErrorCode } from '../../../shared/base/errors.ts';
import { documentedRoutes, openApiDocument } from '../../../shared/openapi/document.ts';
import { operations } from '../../../shared/openapi/operations.ts';
import { responsesOf } from '../../../shared/openapi/responses.ts';
import type { Schema } from '../../../shared/openapi/schema.ts';
import type { Route } from '../../../shared/routes/route.ts';
import { closed, fits, resolve, walk } from './json-schema.ts';

const document = openApiDocument();
const { schemas } = document.components;
const table = documentedRoutes;
const dereferenced = (node: any) => (node.$ref === undefined ? node : resolve(node.$ref, document));
const operationOf = ({ path, method }: Route) => document.paths[path]?.[method.toLowerCase()];
/** A route's responses by status: the success, then the refusals. */
function answersOf(route: Route): [[number, any], ...[number, any][]] {
  const answers = Object.entries(operationOf(route).responses);
  return answers.map(([status, response]) => [Number(status), dereferenced(response)]) as any;
}
/** The error codes that a response may have; none for a success. */
const codesAt = ({ content }: any): ErrorCode[] =>
  (Object.keys(content?.['application/json'].examples ?? {}) as any[]).filter((name) => name in errorCodes);
const codesOf = (route: Route) => answersOf(route).flatMap(([, response]) => codesAt(response));

test('its contact is whom the deployment names', () => {
  const [name, email, url] = ['Whoever runs the service', 'help@example.com', 'http://example.com/@help'];
  const contacts = [null, email, url].map((contact) => openApiDocument(contact).info.contact);
  expect(contacts).toEqual([{ name }, { name, email }, { name, url }]);
});

test('how long requests are kept is said without a number, since the operator chooses it', () => {
  const { description } = openApiDocument().paths['/generate/{requestId}'].get;
  expect(description).toMatch(/How long requests are kept[^.\d]*\./);
});

test('the checked-in document is what the code says', async () => {
  // Should this fail: npm run openapi -- --write
  expect(readFileSync('docs/openapi.json', 'utf8')).toBe(await documentText());
});

test("Redocly's rules, but those that ask for what this API is not, find nothing, warnings too", async () => {
  const config = await createConfig({
    extends: ['all'],
    rules: {
      // Tags, and the operations in them, stand in the order in which somebody new needs them.
      'tags-alphabetical': 'off',
      'path-http-verbs-order': 'off',
      // The specification names the paths and the shape of errors.
      'path-segment-plural': 'off',
      'operation-4xx-problem-details-rfc7807': 'off',
      // Generations can be answered as event streams.
      'response-mime-type': { severity: 'error', allowedValues: ['application/json', 'text/event-stream'] },
      // Bodies and answers have whole examples; one for each member would repeat them.
      'scalar-property-missing-example': 'off',
      // `dryRun` is the usual name.
      'boolean-parameter-prefixes': 'off',
      // Enums, patterns and formats rule; an empty prompt is allowed.
      'required-string-property-missing-min-length': 'off',
    },
  } as object);
  const source = JSON.stringify(document);
  expect(await lintFromString({ source, absoluteRef: '/openapi.json', config })).toEqual([]);
});

test('has every route that does not describe itself, by its own name, and no other', () => {
  const found = Object.entries<object>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => [operationId, method.toUpperCase(), path]),
  );
  expect(found.sort()).toEqual(table.map(([name, { method, path }]) => [name, method, path]).sort());
});

const named: Record<string, Schema> = {};

describe.each(table)('%s', (operationId, route) => {
  const operation = operationOf(route);

  test('takes the credentials, the body and the path parameters of its route', () => {
    const schemes = { key: ['apiKey'], session: ['session'], key_or_session: ['apiKey'], none: [] };
    expect(operation.security.flatMap(Object.keys)).toEqual(schemes[route.auth]);
    expect(/access token is taken/.test(operation.description)).toBe(route.auth === 'key_or_session');
    const hasBody = ['POST', 'PATCH'].includes(route.method) && operationId !== 'cancelGeneration';
    expect(operation.requestBody !== undefined).toBe(hasBody);
    const inPath = (operation.parameters ?? []).map(dereferenced).filter((each: any) => each.in === 'path');
    expect(inPath.map(({ required }: any) => required)).toEqual(
      (route.path.match(/\{\w+\}/g) ?? []).map(() => true),
    );
  });

  test('refers to each of its responses by a name that no other response has', () => {
    for (const { status, name, response } of responsesOf(operationId, route, operations[operationId])) {
      expect(operation.responses[status]).toEqual({ $ref: `#/components/responses/${name}Answer` });
      expect([name, response]).toEqual([name, (named[name] ??= response)]);
    }
  });

  test('has one success, with an example, and refusals by their statuses: each code once', () => {
    const [[success, { content }], ...others] = answersOf(route);
    const refusals = others.filter(([status]) => status >= 400);
    // Requests that generate may be accepted instead, to be generated later. Who has the document gets no second copy.
    const hasAnother = route.streams || operationId === 'getOpenApi';
    expect(others.length - refusals.length).toBe(hasAnother ? 1 : 0);
    const creates = route.method === 'POST' && operationId !== 'cancelGeneration';
    expect(success).toBe(creates && !route.streams ? 201 : 200);
    const { example, examples } = content['application/json'];
    expect((example ?? examples) === undefined).toBe(operationId === 'getOpenApi');
    for (const [status, response] of refusals) {
      // The firewall answers these two without an id.
      const { required = false } = dereferenced(response.headers['X-Request-Id']);
      expect([status, required]).toEqual([status, ![413, 429].includes(status)]);
      expect(codesAt(response).length).toBeGreaterThan(0);
      expect(codesAt(response).map((code) => errorCodes[code].status)).toEqual(
        codesAt(response).map(() => status),
      );
    }
    const codes = codesOf(route);
    expect(new Set(codes).size).toBe(codes.length);
    expect(codes.includes('INVALID_API_KEY')).toBe(['key', 'key_or_session'].includes(route.auth));
    expect(codes.includes('INVALID_SESSION')).toBe(['session', 'key_or_session'].includes(route.auth));
  });

  test('names its limits to programs and to people', () => {
    const { throttle } = route;
    const limit = route.limit ?? route.creationLimit;
    const per = { key: 'API key', session: 'account', key_or_session: 'API key or account', none: 'address' };
    expect(operation['x-rate-limit']).toEqual(
      limit && {
        name: limit.name,
        requests: limit.quota,
        windowSeconds: limit.windowSeconds,
        per: per[route.auth],
      },
    );
    const shared = typeof throttle === 'object' ? throttle : undefined;
    expect(operation['x-throttle']).toEqual(
      shared && { requestsPerSecond: shared.ratePerSecond, burst: shared.burst },
    );
    const words = [
      route.limit && `${route.limit.quota} in ${route.limit.windowSeconds} seconds`,
      route.creationLimit && '100 new ones in 24 hours',
      shared && `${shared.ratePerSecond} a second`,
    ];
    for (const said of words) expect(operation.description).toContain(said ?? '');
  });

  test('answers as an event stream exactly if the route streams, with an example of right events', () => {
    const [[, { content }]] = answersOf(route);
    const stream = content['text/event-stream'];
    expect(stream !== undefined).toBe(route.streams);
    if (!route.streams) return;
    const { properties } = dereferenced(stream.schema.contentSchema);
    expect(Object.keys(stream['x-events'])).toEqual(Object.keys(properties));
    for (const block of stream.example.trim().split('\n\n')) {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(block)!;
      const schema = closed(dereferenced(stream['x-events'][name!]));
      expect([name, fits(schema, JSON.parse(data!), closed(document))]).toEqual([name, true]);
    }
  });
});

test('every error code has a route that answers it, but one that is for a path of another protocol', () => {
  const documented = new Set([...table.flatMap(([, route]) => codesOf(route)), 'METHOD_NOT_ALLOWED']);
  expect([...documented].sort()).toEqual(Object.keys(errorCodes).sort());
});

test('every member of an answer whose name does not explain it has a sentence', () => {
  const plain =
    /^(id|name|slug|prompt|negativePrompt|type|requestId|licenseId|numOutputs|width|height|step|steps|status|identities|identity|usage|stats|description|createdAt|revokedAt|billingPeriodStart|referenceMode|preserveBranding|keyId|creditsReserved|error|code|accepted|progress|completed|text_to_image|reference|exact_product)$/;
  for (const { path, node } of walk(schemas)) {
    if (path.at(-2) !== 'properties' || path[0]!.endsWith('Request') || plain.test(path.at(-1)!)) continue;
    expect([path.join('.'), typeof node.description]).toEqual([path.join('.'), 'string']);
  }
});
