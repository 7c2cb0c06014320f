import * as z from 'zod/mini';
import { createdKey, keyList, revokedKey } from '../contracts/api-key-answers.ts';
import { createKeyBody } from '../contracts/api-key.ts';
import {
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

/** JSON Schema, draft 2020-12, which is what OpenAPI 3.1 takes. */
export type Schema = Record<string, any>;

/** POST /generate with the license that pays for it, as the playground's function takes them apart. */
const playgroundGenerationBody = z.strictObject({ ...createGenerationBody.shape, licenseId: z.string() });

/** By the name that each goes by in the document. Only requests are closed: an answer may have more members one day. */
const named = {
  GenerationRequest: createGenerationBody,
  PlaygroundGenerationRequest: playgroundGenerationBody,
  CreateKeyRequest: createKeyBody,
  UploadByKeyRequest: createUploadBody,
  UploadBySessionRequest: createAccountUploadBody,
  Generation: generationAnswer,
  DryRun: dryRunAnswer,
  GenerationEvents: generationEvents,
  StoredGeneration: storedGeneration,
  StoredGenerationList: generationList,
  IdentityList: identityList,
  LicenseList: licenseList,
  Usage: usageAnswer,
  CreatedKey: createdKey,
  KeyList: keyList,
  RevokedKey: revokedKey,
  Upload: uploadAnswer,
  Health: healthAnswer,
  Error: errorBody,
};

export type SchemaName = keyof typeof named;

/** Where a schema of the document is. */
export function schemaRef(name: SchemaName): Schema {
  return { $ref: refOf(name) };
}

function refOf(name: string): string {
  return `#/components/schemas/${name}`;
}

/** The zod schemas of bodies and answers as JSON Schemas that refer to each other. */
export function contractSchemas(): Record<SchemaName, Schema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    uri: refOf,
    // What a caller writes: members with a default may be left out.
    io: 'input',
    override: ({ jsonSchema }) => {
      dropSafeIntegers(jsonSchema);
      nameMembers(jsonSchema);
    },
  });
  for (const schema of Object.values(schemas) as Schema[]) {
    delete schema.$schema;
    delete schema.$id;
  }
  for (const [name, rules] of Object.entries(memberRules)) addRules(schemas[name] as Schema, rules);
  return schemas as Record<SchemaName, Schema>;
}

/** Zod says of every integer that a double holds it. Where nothing else is said, that is no rule of this API. */
function dropSafeIntegers(schema: Schema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

/** Zod tells a record of known names by a rule for names. Said by properties, tools that make types understand it too. */
function nameMembers(schema: Schema): void {
  const names: string[] | undefined = schema.propertyNames?.enum;
  if (names === undefined) return;
  schema.properties = Object.fromEntries(names.map((name) => [name, schema.additionalProperties]));
  delete schema.propertyNames;
  delete schema.additionalProperties;
}

function addRules(schema: Schema, { properties, ...rules }: Schema): void {
  for (const [member, added] of Object.entries(properties ?? {})) {
    Object.assign(schema.properties[member], added);
  }
  Object.assign(schema, rules);
}
