import type * as z from 'zod/mini';
import { toolRefusal } from './contract.ts';
import { addRules, standalone } from '../openapi/json-schema.ts';
import { memberRules } from '../openapi/member-rules.ts';
import type { Schema } from '../openapi/schema.ts';

/** A tool's arguments as a JSON Schema. A member that may be left out may be null too, and no model needs to know that. */
export function argumentsSchema(contract: z.ZodMiniType): Schema {
  const schema = standalone(contract);
  dropNulls(schema);
  const rules = Object.entries(memberRules.GenerationRequest!);
  addRules(schema, Object.fromEntries(rules.filter(([name]) => name in schema.properties)));
  return schema;
}

/** A tool's structured result as a JSON Schema: its answer or a refusal. Clients of the protocol hold refusals to it, too. */
export function resultSchema(contract: z.ZodMiniType): Schema {
  const answers = [contract, toolRefusal].map(standalone);
  answers.forEach(splitTypes);
  return { type: 'object', anyOf: answers };
}

/** Writes a choice between a type and null, or a list of both, as that type. */
function dropNulls(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  Object.values(schema).forEach(dropNulls);
  const { anyOf, type } = schema as Schema;
  if (Array.isArray(type)) [(schema as Schema).type] = type;
  const [one, other] = Array.isArray(anyOf) && anyOf.length === 2 ? (anyOf as [Schema, Schema]) : [];
  if (other?.type !== 'null') return;
  delete (schema as Schema).anyOf;
  Object.assign(schema, one);
}

/** Writes a list of types as a choice of schemas: hosts whose models know one type a schema can read that. */
function splitTypes(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  Object.values(schema).forEach(splitTypes);
  const { type } = schema as Schema;
  if (!Array.isArray(type)) return;
  delete (schema as Schema).type;
  (schema as Schema).anyOf = type.map((one: string) => ({ type: one }));
}
