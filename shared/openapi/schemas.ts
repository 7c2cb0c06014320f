import * as z from 'zod/mini';
import { accountSettings } from '../accounts/answer-contract.ts';
import { changeAccountBody } from '../accounts/contract.ts';
import { activityList } from '../licenses/activity-contract.ts';
import { createdKey, keyAllowance, keyAnswer, keyList, revokedKey } from '../keys/answer-contract.ts';
import { changeKeyBody, createKeyBody } from '../keys/contract.ts';
import {
  acceptedGeneration,
  deletedGeneration,
  dryRunAnswer,
  generationAnswer,
  generationEvents,
  generationList,
  storedGeneration,
} from '../generations/answer-contract.ts';
import { createGenerationBody } from '../generations/contract.ts';
import { errorBody } from '../base/error-contract.ts';
import { healthAnswer } from '../model/health-contract.ts';
import { identityDetail, identityList } from '../identities/contract.ts';
import { licenseList } from '../licenses/contract.ts';
import { refusalList, refusedRequestList } from '../limits/contract.ts';
import { uploadAnswer } from '../images/answer-contract.ts';
import { createAccountUploadBody } from '../images/contract.ts';
import { usageAnswer } from '../licenses/usage-contract.ts';
import { addRules, joinNulls, override } from './json-schema.ts';
import { memberRules } from './member-rules.ts';
import type { Schema } from './schema.ts';

/** The body of POST /generate with the license that pays. The playground's function reads the two apart. */
const playgroundGenerationBody = z.strictObject({ ...createGenerationBody.shape, licenseId: z.string() });

/** The body of POST /uploads by either credential: one of them decides whether it names a license. */
const uploadBody = z.strictObject({
  ...createAccountUploadBody.shape,
  licenseId: z.optional(createAccountUploadBody.shape.licenseId),
});

/** The contracts by their names in the document. Only requests are closed: an answer may get more members later. */
const named = {
  GenerationRequest: createGenerationBody,
  PlaygroundGenerationRequest: playgroundGenerationBody,
  CreateKeyRequest: createKeyBody,
  ChangeKeyRequest: changeKeyBody,
  UploadRequest: uploadBody,
  Generation: generationAnswer,
  AcceptedGeneration: acceptedGeneration,
  DryRun: dryRunAnswer,
  GenerationEvents: generationEvents,
  StoredGeneration: storedGeneration,
  StoredGenerationList: generationList,
  DeletedGeneration: deletedGeneration,
  IdentityList: identityList,
  IdentityDetail: identityDetail,
  LicenseList: licenseList,
  Usage: usageAnswer,
  ActivityList: activityList,
  RefusalList: refusalList,
  RefusedRequestList: refusedRequestList,
  Account: accountSettings,
  ChangeAccountRequest: changeAccountBody,
  CreatedKey: createdKey,
  Key: keyAnswer,
  KeyList: keyList,
  KeyAllowance: keyAllowance,
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
    override,
  });
  for (const schema of Object.values(schemas) as Schema[]) {
    delete schema.$schema;
    delete schema.$id;
    joinNulls(schema);
  }
  for (const [name, rules] of Object.entries(memberRules)) addRules(schemas[name] as Schema, rules);
  return schemas as Record<SchemaName, Schema>;
}
