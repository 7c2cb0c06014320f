import { describe, expect, test } from '@jest/globals';
import { openApiDocument } from '../../../shared/openapi/document.ts';
import { forGenerators } from '../../../shared/openapi/for-generators.ts';
import type { Schema } from '../../../shared/openapi/schema.ts';
import { walk } from './json-schema.ts';

interface Place {
  node: Schema;
  path: string[];
  /** Whether it is a schema of what is sent, or of what is answered. */
  of: 'request' | 'answer' | null;
}

/** Every object of a document but examples. */
function* placesOf(document: Schema): Generator<Place> {
  const refsIn = (node: unknown) =>
    [...JSON.stringify(node).matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name!);
  const sent = new Set(refsIn(document.paths));
  for (const name of sent) for (const ref of refsIn(document.components.schemas[name])) sent.add(ref);
  for (const { node, path } of walk(document)) {
    if (path.some((part) => /^examples?$/.test(part))) continue;
    const isSchema = path[0] === 'components' && path[1] === 'schemas' && path.length > 2;
    yield { node, path, of: !isSchema ? null : sent.has(path[2]!) ? 'request' : 'answer' };
  }
}

/** What breaks each rule. */
const rules: [name: string, breaks: (place: Place) => unknown][] = [
  [
    'an integer says how many bits it needs, unless its limit is below 32',
    ({ node: { type, maximum = Infinity, format } }) =>
      [type].flat().includes('integer') && maximum > 2 ** 31 - 1 && !/^int(32|64)$/.test(format),
  ],
  ['a boolean is no constant', ({ node }) => node.type === 'boolean' && 'const' in node],
  ['a reference stands alone', ({ node }) => '$ref' in node && Object.keys(node).length > 1],
  [
    'all components have names of their own, whatever the case',
    ({ node, path }) => {
      if (path.join() !== 'components') return false;
      const names = Object.values(node).flatMap((section) =>
        Object.keys(section).map((name) => name.toLowerCase()),
      );
      return new Set(names).size < names.length;
    },
  ],
  [
    'no choice stands beside members',
    ({ node }) =>
      typeof node.type === 'string' &&
      'properties' in node &&
      ('oneOf' in node || 'anyOf' in node || 'not' in node),
  ],
  ['no pattern stands beside a format', ({ node }) => typeof node.pattern === 'string' && 'format' in node],
  ['no pattern escapes a slash', ({ node }) => /^(?:[^\\]|\\[^/])*\\\//.test(node.pattern)],
  ['an id is opaque text', ({ node }) => node.format === 'uuid'],
  [
    'an answer may grow, and a request is closed',
    ({ node, of }) =>
      node.type === 'object' && 'properties' in node && node.additionalProperties !== (of === 'answer'),
  ],
  [
    'an answer closes no list of values and no form of text',
    ({ node, of }) =>
      of === 'answer' &&
      typeof node.type !== 'object' &&
      ['enum', 'const', 'pattern'].some((name) => name in node),
  ],
  ["a request's default is said in words", ({ node, of }) => of === 'request' && 'default' in node],
  [
    "a request's list of values has a name",
    ({ node, path, of }) => of === 'request' && 'enum' in node && path.length > 3,
  ],
];

/** A document that breaks every rule, several of them in more than one way. */
const broken: Schema = {
  paths: {
    '/things': {
      post: {
        schema: { $ref: '#/components/schemas/ThingRequest' },
        parameters: [{ $ref: '#/components/parameters/thing' }],
      },
    },
  },
  components: {
    parameters: { thing: { schema: { type: 'string', pattern: '^a\\/\\\\/b$' } } },
    headers: { THING: { schema: { type: 'integer', minimum: 1 } } },
    responses: { Thing: { schema: { $ref: '#/components/schemas/Thing', description: 'x' } } },
    schemas: {
      ThingRequest: {
        type: 'object',
        properties: {
          size: { type: ['string', 'null'], enum: ['s', 'm', null], default: 'm', description: 'How large.' },
          note: { type: 'string', default: '' },
          width: { type: 'integer', default: 64 },
          until: { type: 'string', format: 'date', pattern: '-' },
        },
        additionalProperties: false,
        not: { required: ['note', 'until'] },
      },
      Thing: {
        type: 'object',
        properties: {
          id: { type: 'string', format: 'uuid' },
          state: { type: ['string', 'null'], enum: ['new', 'old', null], description: 'x' },
          kind: { type: 'string', const: 'thing' },
          isThing: { type: 'boolean', const: true },
          bytes: { type: ['integer', 'null'], maximum: 2 ** 31 },
          part: { type: 'object', properties: { link: { type: 'string', pattern: '^https:\\/\\/' } } },
        },
        anyOf: [{ required: ['id'] }, { required: ['kind'] }],
      },
    },
  },
};

describe('a document for tools that generate clients', () => {
  test.each(rules)('%s', (_name, breaks) => {
    const found = (document: Schema) =>
      [...placesOf(document)].filter(breaks).map(({ path }) => path.join('/'));
    expect(found(broken)).not.toEqual([]);
    expect(found(forGenerators(broken))).toEqual([]);
    expect(found(openApiDocument())).toEqual([]);
  });

  test('says in words and in other ways what it leaves out', () => {
    const { schemas, parameters } = forGenerators(broken).components;
    const size = {
      description: 'How large. `m` by default.',
      anyOf: [{ $ref: '#/components/schemas/Size' }, { type: 'null' }],
    };
    expect(schemas.ThingRequest.properties).toMatchObject({
      size,
      note: { description: 'Empty by default.' },
      width: { format: 'int32' },
    });
    expect(schemas.Size).toEqual({ type: 'string', enum: ['s', 'm'] });
    const { state, kind, bytes } = schemas.Thing.properties;
    expect(state).toEqual({
      type: ['string', 'null'],
      'x-extensible-enum': ['new', 'old'],
      description: 'x Values today: `new`, `old`.',
    });
    expect([kind['x-extensible-enum'], bytes.format]).toEqual([['thing'], 'int64']);
    expect(parameters.thingParameter.schema.pattern).toBe('^a/\\\\/b$');
  });
});
