import { expect, test } from '@jest/globals';
import { openApiDocument } from '../../../shared/openapi/document.ts';
import { forGenerators } from '../../../shared/openapi/for-generators.ts';
import type { Schema } from '../../../shared/openapi/schema.ts';
import { walk } from './json-schema.ts';

/** What breaks each rule for documents that tools make clients of. `of`: whether it is of a request or of an answer, if of either. */
const rules: Record<string, (node: Schema, of: string | null, path: string[]) => unknown> = {
  'an integer says how many bits it needs, unless its limit does': ({ type, maximum = Infinity, format }) =>
    [type].flat().includes('integer') && maximum >= 2 ** 31 && !/^int(32|64)$/.test(format),
  'a boolean is no constant': ({ type, const: only }) => type === 'boolean' && only !== undefined,
  'a reference stands alone': (node) => '$ref' in node && Object.keys(node).length > 1,
  'components have names of their own, whatever the case': (node, _of, path) => {
    const names = path.join() === 'components' ? Object.values<object>(node).flatMap(Object.keys) : [];
    return new Set(names.map((name) => name.toLowerCase())).size < names.length;
  },
  'no choice stands beside members': ({ type, properties, oneOf, anyOf, not }) =>
    type === 'object' && properties && (oneOf ?? anyOf ?? not),
  'no pattern stands beside a format': ({ pattern, format }) => typeof pattern === 'string' && format,
  'no pattern escapes a slash': ({ pattern }) => /^(?:[^\\]|\\[^/])*\\\//.test(pattern),
  'an id is opaque text': ({ format }) => format === 'uuid',
  'an answer may grow, and a request may not': ({ type, properties, additionalProperties }, of) =>
    type === 'object' && properties && additionalProperties !== (of === 'answer'),
  'an answer closes no list of values and no form of text': (node, of) =>
    of === 'answer' && typeof node.type !== 'object' && (node.enum ?? node.const ?? node.pattern),
  "a request's default is said in words": (node, of) => of === 'request' && 'default' in node,
  "a request's list of values has a name": (node, of, path) => of === 'request' && node.enum && path[3],
};

/** The places of a document that break a rule. Examples are not its own words. */
function broken(document: Schema, breaks: (typeof rules)[string]): string[] {
  const refsIn = (node: unknown) =>
    [...JSON.stringify(node).matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name!);
  const sent = new Set(refsIn(document.paths));
  for (const name of sent) for (const ref of refsIn(document.components.schemas[name])) sent.add(ref);
  const of = ([, section, name]: string[]) =>
    section !== 'schemas' || name === undefined ? null : sent.has(name) ? 'request' : 'answer';
  return [...walk(document)]
    .filter(({ path }) => !path.some((part) => /^examples?$/.test(part)))
    .filter(({ node, path }) => breaks(node, of(path), path))
    .map(({ path }) => path.join('/'));
}

const object = (properties: Schema, rest: Schema = {}) => ({ type: 'object', properties, ...rest });
const list = { type: ['string', 'null'], enum: ['s', 'm', null], description: 'How large.' };
/** A document that breaks every rule. */
const wrong: Schema = {
  paths: { '/things': { post: { schema: { $ref: '#/components/schemas/ThingRequest' } } } },
  components: {
    parameters: { thing: { schema: { type: 'string', pattern: '^a\\/\\\\/b$' } } },
    headers: { THING: { schema: { type: 'integer', minimum: 1 } } },
    responses: { Thing: { schema: { $ref: '#/components/schemas/Thing', description: 'x' } } },
    schemas: {
      ThingRequest: object(
        {
          size: { ...list, default: 'm' },
          note: { type: 'string', default: '' },
          width: { type: 'integer' },
        },
        { additionalProperties: false, not: { required: ['size', 'note'] } },
      ),
      Thing: object({
        id: { type: 'string', format: 'uuid', pattern: '-' },
        size: list,
        kind: { type: 'string', const: 'thing' },
        isThing: { type: 'boolean', const: true },
        bytes: { type: ['integer', 'null'], maximum: 2 ** 31 },
        part: object(
          { day: { type: 'string', format: 'date', pattern: '-' } },
          { anyOf: [{ required: ['day'] }] },
        ),
      }),
    },
  },
};

test.each(Object.entries(rules))('%s', (_rule, breaks) => {
  const documents = [wrong, forGenerators(wrong), openApiDocument()];
  const found = documents.map((document) => broken(document, breaks));
  expect(found).toEqual([expect.arrayContaining([expect.anything()]), [], []]);
});

test('what is left out is said in words, or in another way', () => {
  const { schemas, parameters } = forGenerators(wrong).components;
  const { ThingRequest, Thing } = schemas;
  const anyOf = [{ $ref: '#/components/schemas/Size' }, { type: 'null' }];
  expect(schemas.Size).toEqual({ type: 'string', enum: ['s', 'm'] });
  expect(ThingRequest.properties.size).toEqual({ description: 'How large. `m` by default.', anyOf });
  expect(ThingRequest.properties.note.description).toBe('Empty by default.');
  const description = 'How large. Values today: `s`, `m`.';
  expect(Thing.properties.size).toEqual({ type: list.type, 'x-extensible-enum': ['s', 'm'], description });
  expect([ThingRequest.properties.width.format, Thing.properties.bytes.format]).toEqual(['int32', 'int64']);
  const twice = structuredClone(wrong);
  twice.components.schemas.AnyRequest = object({ thing: list });
  expect(() => forGenerators(twice)).toThrow('Two schemas are called Thing.');
  expect(parameters.thingParameter.schema.pattern).toBe('^a/\\\\/b$');
});
