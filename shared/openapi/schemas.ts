import * as z from 'zod/mini';
import { activityList } from '../contracts/activity.ts';
import { createdKey, keyList, revokedKey } from '../contracts/api-key-answers.ts';
import { createKeyBody } from '../contracts/api-key.ts';
import {
  acceptedGeneration,
  dryRunAnswer,
  generationAnswer,
  generationEvents,
  generationList,
  storedGeneration,
} from '../contracts/generation-answers.ts';
import { createGenerationBody } from '../contracts/generation.ts';
import { errorBody } from '../contracts/error.ts';
import { healthAnswer } from '../contracts/health.ts';
import { identityList } from '../contracts/identity.ts';
import { licenseList } from '../contracts/license.ts';
import { uploadAnswer } from '../contracts/upload-answer.ts';
import { createAccountUploadBody, createUploadBody } from '../contracts/upload.ts';
import { usageAnswer } from '../contracts/usage.ts';
import { memberRules } from './member-rules.ts';
import type { Schema } from './schema.ts';

/** The body of POST /generate with the license that pays. The playground's function reads the two apart. */
const playgroundGenerationBody = z.strictObject({ ...createGenerationBody.shape, licenseId: z.string() });

/** The contracts by their names in the document. Only requests are closed: an answer may get more members later. */
const named = {
  GenerationRequest: createGenerationBody,
  PlaygroundGenerationRequest: playgroundGenerationBody,
  CreateKeyRequest: createKeyBody,
  UploadByKeyRequest: createUploadBody,
  UploadBySessionRequest: createAccountUploadBody,
  Generation: generationAnswer,
  AcceptedGeneration: acceptedGeneration,
  DryRun: dryRunAnswer,
  GenerationEvents: generationEvents,
  StoredGeneration: storedGeneration,
  StoredGenerationList: generationList,
  IdentityList: identityList,
  LicenseList: licenseList,
  Usage: usageAnswer,
  ActivityList: activityList,
  CreatedKey: createdKey,
  KeyList: keyList,
  RevokedKey: revokedKey,
  Upload: uploadAnswer,
  Health: healthAnswer,
  Error: errorBody,
};

export type SchemaName = keyof typeof named;

/** A reference to a schema of the document. */
export function schemaRef(name: SchemaName): Schema {
  return { $ref: refOf(name) };
}

function refOf(name: string): string {
  return `#/components/schemas/${name}`;
}

/** The contracts of bodies and answers as JSON Schemas that refer to each other. */
export function contractSchemas(): Record<SchemaName, Schema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    uri: refOf,
    // A caller may leave out members that have a default.
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      addDefault(zodSchema, jsonSchema);
      dropSafeIntegers(jsonSchema);
      nameMembers(jsonSchema);
    },
  });
  for (const schema of Object.values(schemas) as Schema[]) {
    delete schema.$schema;
    delete schema.$id;
    joinNulls(schema);
  }
  for (const [name, rules] of Object.entries(memberRules)) addRules(schemas[name] as Schema, rules);
  return schemas as Record<SchemaName, Schema>;
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
function joinNulls(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  Object.values(schema).forEach(joinNulls);
  const { anyOf } = schema as Schema;
  const [one, other] = Array.isArray(anyOf) && anyOf.length === 2 ? (anyOf as [Schema, Schema]) : [];
  if (typeof one?.type !== 'string' || other?.type !== 'null') return;
  delete (schema as Schema).anyOf;
  Object.assign(schema, one, { type: [one.type, 'null'] }, one.enum ? { enum: [...one.enum, null] } : {});
}

function addRules(schema: Schema, { properties, ...rules }: Schema): void {
  for (const [member, added] of Object.entries(properties ?? {})) {
    Object.assign(schema.properties[member], added);
  }
  Object.assign(schema, rules);
}
