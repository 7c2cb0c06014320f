import * as z from 'zod/mini';
import type { Schema } from './schema.ts';

/** A contract as a JSON Schema that refers to no other. */
export function standalone(contract: z.ZodMiniType): Schema {
  const schema: Schema = z.toJSONSchema(contract, { io: 'input', override });
  delete schema.$schema;
  return schema;
}

/** What Zod's JSON Schemas are changed by, each where it was made. */
export function override({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: z.core.$ZodType;
  jsonSchema: Schema;
}): void {
  addDefault(zodSchema, jsonSchema);
  dropSafeIntegers(jsonSchema);
  nameMembers(jsonSchema);
}

/** Zod leaves out defaults of members that it transforms, as it does those that may be null. */
function addDefault(zodSchema: z.core.$ZodType, schema: Schema): void {
  const value = z.globalRegistry.get(zodSchema)?.default;
  if (value !== undefined) schema.default = value;
}

/** Zod limits every integer to what a double holds. That is no rule of this API, so it is removed. */
function dropSafeIntegers(schema: Schema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

/** Zod describes a record of known names by `propertyNames`. Tools that make types only understand `properties`. */
function nameMembers(schema: Schema): void {
  const names: string[] | undefined = schema.propertyNames?.enum;
  if (names === undefined) return;
  schema.properties = Object.fromEntries(names.map((name) => [name, schema.additionalProperties]));
  delete schema.propertyNames;
  delete schema.additionalProperties;
}

/** Writes a choice between a type and null as two types of one schema, which is shorter and says the same. */
export function joinNulls(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  Object.values(schema).forEach(joinNulls);
  const { anyOf } = schema as Schema;
  const [one, other] = Array.isArray(anyOf) && anyOf.length === 2 ? (anyOf as [Schema, Schema]) : [];
  if (typeof one?.type !== 'string' || other?.type !== 'null') return;
  delete (schema as Schema).anyOf;
  Object.assign(schema, one, { type: [one.type, 'null'] }, one.enum ? { enum: [...one.enum, null] } : {});
}

export function addRules({ properties }: Schema, rules: Record<string, Schema>): void {
  for (const [member, added] of Object.entries(rules)) Object.assign(properties[member], added);
}
