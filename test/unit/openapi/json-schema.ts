import * as z from 'zod/mini';
import type { Schema } from '../../../shared/openapi/schema.ts';

/** Keywords that say nothing of what is valid. */
const annotations = new Set(['description', 'default']);

type Rule = (expected: any, value: any, of: Place) => boolean;

interface Place {
  schema: Schema;
  document: Schema;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isNumber = (value: unknown) => typeof value === 'number';
const isString = (value: unknown) => typeof value === 'string';
const length = (text: string) => Array.from(text).length;

const types: Record<string, (value: unknown) => boolean> = {
  object: isObject,
  array: Array.isArray,
  string: isString,
  number: isNumber,
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
};

const formats: Record<string, (text: string) => boolean> = {
  'date-time': (text) => z.iso.datetime({ offset: true }).safeParse(text).success,
  date: (text) => z.iso.date().safeParse(text).success,
  uri: (text) => /^https?:/.test(text) && URL.canParse(text),
};

/** The keywords that the document uses (JSON Schema, draft 2020-12). Each accepts values of other types. */
const rules: Record<string, Rule> = {
  $ref: (ref, value, { document }) => fits(resolve(ref, document), value, document),
  type: (names, value) => [names].flat().some((name) => types[name]!(value)),
  enum: (values, value) => values.includes(value),
  const: (expected, value) => value === expected,
  anyOf: (schemas, value, { document }) => schemas.some((each: Schema) => fits(each, value, document)),
  oneOf: (schemas, value, { document }) =>
    schemas.filter((each: Schema) => fits(each, value, document)).length === 1,
  not: (schema, value, { document }) => !fits(schema, value, document),
  required: (names, value) => !isObject(value) || names.every((name: string) => Object.hasOwn(value, name)),
  properties: (members, value, { document }) =>
    !isObject(value) ||
    Object.entries(members).every(
      ([name, schema]) => !Object.hasOwn(value, name) || fits(schema as Schema, value[name], document),
    ),
  additionalProperties: (schema, value, { schema: { properties = {} }, document }) =>
    !isObject(value) ||
    Object.keys(value)
      .filter((name) => !Object.hasOwn(properties, name))
      .every((name) => schema !== false && fits(schema, value[name], document)),
  propertyNames: (schema, value, { document }) =>
    !isObject(value) || Object.keys(value).every((name) => fits(schema, name, document)),
  items: (schema, value, { document }) =>
    !Array.isArray(value) || value.every((item) => fits(schema, item, document)),
  minItems: (min, value) => !Array.isArray(value) || value.length >= min,
  maxItems: (max, value) => !Array.isArray(value) || value.length <= max,
  minLength: (min, value) => !isString(value) || length(value) >= min,
  maxLength: (max, value) => !isString(value) || length(value) <= max,
  format: (name, value) => !isString(value) || (formats[name]?.(value as string) ?? name === 'uri-reference'),
  // Those of today: a test that meets another one wants it documented.
  'x-extensible-enum': (values, value) => value === null || values.includes(value),
  pattern: (pattern, value) => !isString(value) || new RegExp(pattern, 'u').test(value),
  minimum: (min, value) => !isNumber(value) || value >= min,
  maximum: (max, value) => !isNumber(value) || value <= max,
  multipleOf: (unit, value) => !isNumber(value) || value % unit === 0,
};

/** Whether a value fits a schema of the document. @throws for a keyword that it does not know. */
export function fits(schema: Schema, value: unknown, document: Schema): boolean {
  return Object.entries(schema).every(([keyword, expected]) => {
    if (annotations.has(keyword)) return true;
    const rule = rules[keyword];
    if (rule === undefined) throw new Error(`the keyword ${keyword} is not known here`);
    return rule(expected, value, { schema, document });
  });
}

/** What a `$ref` names. @throws when there is nothing. */
export function resolve(ref: string, document: Schema): Schema {
  let found: any = document;
  for (const part of ref.replace(/^#\//, '').split('/')) {
    found = found?.[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  if (found === undefined) throw new Error(`${ref} names nothing`);
  return found;
}

/** The same document, but its objects have no members that it does not name. */
export function closed(document: Schema): Schema {
  return JSON.parse(JSON.stringify(document), (_key, value) =>
    value?.type === 'object' && value.properties ? { ...value, additionalProperties: false } : value,
  );
}

/** Every object of a document with its path. */
export function* walk(node: unknown, path: string[] = []): Generator<{ path: string[]; node: any }> {
  if (typeof node !== 'object' || node === null) return;
  yield { path, node };
  for (const [name, child] of Object.entries(node)) yield* walk(child, [...path, name]);
}
