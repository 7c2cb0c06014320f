import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { errorCodes, type ErrorCode } from '../../../shared/errors.ts';
import { openApiDocument } from '../../../shared/openapi/document.ts';
import { basePath, routes, type Route } from '../../../shared/routes.ts';
import { closed, fits, resolve, walk } from './json-schema.ts';

const document = openApiDocument();
const strict = closed(document);
const table: [string, Route][] = Object.entries(routes);
const operationOf = ({ path, method }: Route) => document.paths[path]?.[method.toLowerCase()];
const responsesOf = (route: Route): [string, any][] => Object.entries(operationOf(route).responses);
const derefer = (node: any) => (node.$ref === undefined ? node : resolve(node.$ref, document));

/** The codes that a route's refusals of a status may have. */
const codesAt = (response: any): ErrorCode[] =>
  response.content['application/json'].schema.properties?.code?.enum ?? [];
const codesOf = (route: Route) => responsesOf(route).flatMap(([, response]) => codesAt(response));

test('is OpenAPI 3.1 that survives JSON, the same each time', () => {
  expect(document.openapi).toBe('3.1.0');
  expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
  expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  expect(openApiDocument()).toEqual(document);
});

test('its server is the folder that it is read from, wherever that is', () => {
  const [{ url }] = document.servers;
  for (const origin of ['http://127.0.0.1:4600', 'https://abc.example.com/prod']) {
    expect(new URL(url, `${origin}${basePath}/openapi.json`).href).toBe(`${origin}${basePath}`);
  }
});

test('has only fields that OpenAPI 3.1 knows', () => {
  const known: [RegExp, string[]][] = [
    [/^$/, ['openapi', 'info', 'servers', 'tags', 'paths', 'components']],
    [/^components$/, ['securitySchemes', 'parameters', 'headers', 'examples', 'schemas']],
    [/^paths,[^,]+$/, ['get', 'post', 'delete']],
    [
      /^paths,[^,]+,\w+$/,
      [
        'operationId',
        'tags',
        'summary',
        'description',
        'security',
        'parameters',
        'requestBody',
        'responses',
        'x-rate-limit',
        'x-throttle',
      ],
    ],
    [/,requestBody$/, ['required', 'content']],
    [/,responses,\d+$/, ['description', 'headers', 'content']],
    [/^components,parameters,\w+$/, ['name', 'in', 'required', 'description', 'schema', 'example']],
    [/^components,headers,\w+$/, ['description', 'required', 'schema', 'example']],
  ];
  for (const { path, node } of walk(document)) {
    for (const [where, fields] of known.filter(([pattern]) => pattern.test(path.join(',')))) {
      expect([where, Object.keys(node).filter((name) => !fields.includes(name))]).toEqual([where, []]);
    }
  }
});

test('every reference names something, and every component is named', () => {
  const refs = [...walk(document)].flatMap(({ node }) => (typeof node.$ref === 'string' ? [node.$ref] : []));
  for (const ref of refs) expect(() => resolve(ref, document)).not.toThrow();
  for (const kind of ['parameters', 'headers', 'examples', 'schemas']) {
    for (const name of Object.keys(document.components[kind])) {
      const at = `#/components/${kind}/${name}`;
      expect(refs.some((ref) => ref === at || ref.startsWith(`${at}/`)) || at).toBe(true);
    }
  }
});

test('has every route of the table, by its own name, and no other', () => {
  const found = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as object).map(([method, { operationId }]) => [
      operationId,
      method.toUpperCase(),
      path,
    ]),
  );
  expect(found.sort()).toEqual(table.map(([name, { method, path }]) => [name, method, path]).sort());
});

describe.each(table)('%s', (_name, route) => {
  const operation = operationOf(route);

  test('asks for the credentials that the route takes', () => {
    const schemes = operation.security.flatMap((each: object) => Object.keys(each));
    const taken = { key: ['apiKey'], session: ['session'], key_or_session: ['apiKey', 'session'], none: [] };
    expect(schemes).toEqual(taken[route.auth]);
    for (const scheme of schemes) {
      expect(document.components.securitySchemes[scheme]).toMatchObject({ type: 'http', scheme: 'bearer' });
    }
  });

  test('declares each parameter of its path, and each name once', () => {
    const parameters = (operation.parameters ?? []).map(derefer);
    const inPath = parameters.filter((each: any) => each.in === 'path');
    expect(inPath.map(({ name }: any) => `{${name}}`)).toEqual(route.path.match(/\{\w+\}/g) ?? []);
    expect(inPath.every(({ required }: any) => required === true)).toBe(true);
    const names = parameters.map((each: any) => `${each.in} ${each.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  test('takes a body exactly if it creates something', () => {
    expect(operation.requestBody !== undefined).toBe(route.method === 'POST');
  });

  test('has one success and refusals by their statuses, each code once and at its own', () => {
    const successes = responsesOf(route).filter(([status]) => Number(status) < 300);
    expect(successes).toHaveLength(1);
    for (const [status, response] of responsesOf(route)) {
      for (const code of codesAt(response))
        expect([code, String(errorCodes[code].status)]).toEqual([code, status]);
      if (Number(status) >= 400) expect(codesAt(response).length).toBeGreaterThan(0);
    }
    expect(new Set(codesOf(route)).size).toBe(codesOf(route).length);
  });

  test('refuses strangers in the words of what it takes', () => {
    const codes = codesOf(route);
    expect(codes.includes('INVALID_API_KEY')).toBe(['key', 'key_or_session'].includes(route.auth));
    expect(codes.includes('INVALID_SESSION')).toBe(['session', 'key_or_session'].includes(route.auth));
  });

  test('promises X-Request-Id everywhere but where the firewall answers, and Retry-After where one must wait', () => {
    for (const [status, { headers, content }] of responsesOf(route)) {
      const requestId = derefer(headers['X-Request-Id']);
      expect([status, requestId.required ?? false]).toEqual([status, !['413', '429'].includes(status)]);
      const codes: ErrorCode[] = content['application/json'].schema.properties?.code?.enum ?? [];
      const waits = codes.length > 0 && codes.every((code) => errorCodes[code].retryAfterSeconds);
      expect([status, headers['Retry-After'] !== undefined]).toEqual([status, Boolean(waits)]);
    }
  });

  test('tells of its rate limit on everything that is answered after the caller is known', () => {
    for (const [status, response] of responsesOf(route)) {
      const told = ['RateLimit', 'RateLimit-Policy'].every((name) => response.headers[name] !== undefined);
      const codes = codesAt(response);
      const known = codes.length === 0 || codes.some((code) => !/^INVALID_(API_KEY|SESSION)$/.test(code));
      expect([status, told]).toEqual([status, route.limit !== undefined && known]);
    }
  });

  test('tells programs and people its limits', () => {
    const { limit, throttle } = route;
    expect(operation['x-rate-limit']).toEqual(
      limit && {
        name: limit.name,
        requests: limit.quota,
        windowSeconds: limit.windowSeconds,
        per: expect.stringMatching(/API key|account/),
      },
    );
    expect(operation['x-throttle']).toEqual(
      throttle && { requestsPerSecond: throttle.ratePerSecond, burst: throttle.burst },
    );
    if (limit) expect(operation.description).toContain(`${limit.quota} in ${limit.windowSeconds} seconds`);
    if (throttle) expect(operation.description).toContain(`${throttle.ratePerSecond} a second`);
  });

  test('says that no answer may be stored', () => {
    for (const [status, { headers }] of responsesOf(route)) {
      expect([status, derefer(headers['Cache-Control'])]).toMatchObject([status, { required: true }]);
    }
  });

  test('answers as an event stream exactly if the route streams', () => {
    const [[, success]] = responsesOf(route) as [[string, any]];
    expect('text/event-stream' in success.content).toBe(route.streams);
    expect('Idempotent-Replayed' in success.headers).toBe(route.streams);
    if (!route.streams) return;
    const stream = success.content['text/event-stream'];
    const { properties } = derefer(stream.schema.contentSchema);
    expect(Object.keys(stream['x-events'])).toEqual(Object.keys(properties));
    // What the stream shows as an example is a run of such events.
    for (const block of stream.example.trim().split('\n\n')) {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(block)!;
      const schema = derefer(stream['x-events'][name!]);
      expect([name, fits(reread(schema), JSON.parse(data!), strict)]).toEqual([name, true]);
    }
  });

  test('its examples fit what they are examples of', () => {
    const bodies = [operation.requestBody, ...responsesOf(route).map(([, response]) => response)];
    let examples = 0;
    for (const { schema, example, examples: named = {} } of bodies.flatMap(
      (body) => body?.content['application/json'] ?? [],
    )) {
      const values = [
        ...(example === undefined ? [] : [example]),
        ...Object.values(named).map((each) => derefer(each).value),
      ];
      for (const value of values) {
        examples += 1;
        expect([value, fits(reread(schema), value, strict)]).toEqual([value, true]);
      }
    }
    expect(examples).toBeGreaterThan(5);
  });
});

/** A schema of the document as it stands in the closed one. */
function reread(schema: object): any {
  return closed(schema as any);
}

test('examples of parameters and headers fit their schemas', () => {
  const withExamples = [...walk(document.components)].filter(({ node }) => node.schema && node.example);
  expect(withExamples.length).toBeGreaterThan(3);
  for (const { node } of withExamples)
    expect([node.example, fits(node.schema, node.example, document)]).toEqual([node.example, true]);
});

describe('error codes', () => {
  const documented = new Set(table.flatMap(([, route]) => codesOf(route)));

  test.each(Object.keys(errorCodes) as ErrorCode[])('%s has a route that answers it', (code) => {
    expect(documented.has(code)).toBe(true);
  });

  test('each that a route may answer has its section in docs/errors.md', () => {
    const sections = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
    for (const code of documented) expect(sections).toContain(`\n## ${code}\n`);
  });

  test('every error has exactly two members', () => {
    expect(Object.keys(document.components.schemas.Error.properties).sort()).toEqual(['code', 'error']);
    expect(document.components.schemas.Error.additionalProperties).toBe(false);
  });
});

test('only requests and errors are closed: an answer may have more members one day', () => {
  for (const [name, schema] of Object.entries<any>(document.components.schemas)) {
    const isClosed = schema.additionalProperties === false;
    expect([name, isClosed]).toEqual([name, name === 'Error' || name.endsWith('Request')]);
  }
});

test('every member of an answer that is not plain by its name has a sentence', () => {
  const plain =
    /^(id|name|slug|prompt|negativePrompt|type|requestId|licenseId|numOutputs|width|height|step|steps|status|identities|identity|usage|stats|description|createdAt|revokedAt|billingPeriodStart|referenceMode|preserveBranding|keyId|creditsReserved|error|code|accepted|progress|completed|text_to_image|reference|exact_product)$/;
  for (const { path, node } of walk(document.components.schemas)) {
    if (path.at(-2) !== 'properties' || path[0]!.endsWith('Request')) continue;
    if (plain.test(path.at(-1)!)) continue;
    expect([path.join('.'), typeof node.description]).toEqual([path.join('.'), 'string']);
  }
});
