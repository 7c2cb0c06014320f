import { readFile, writeFile } from 'node:fs/promises';
import openapiTypes, { astToString, type OpenAPI3 } from 'openapi-typescript';

/** The parts of the API's document that this module reads. Responses that are refusals name their error codes. */
interface Document {
  paths: Record<string, Record<string, { responses: Record<string, { $ref: string }> }>>;
  components: {
    schemas: Record<string, object>;
    responses: Record<string, Response>;
  };
}
interface Response {
  content?: { 'application/json': { schema: { properties?: { code?: { enum?: string[] } } } } };
}

/**
 * Makes `src/openapi.ts` of `docs/openapi.json`: the types of the API's paths and schemas, and of every error code.
 * Refusals, answers without a body and headers get no types: the client throws each refusal as an ApiError.
 */
export async function writeTypes(): Promise<void> {
  const text = await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
  await writeFile(new URL('src/openapi.ts', import.meta.url), await typesOf(text));
}

async function typesOf(document: string): Promise<string> {
  const copy = JSON.parse(document, typeable) as Document;
  const { schemas, responses } = copy.components;
  schemas.ErrorCode = {
    type: 'string',
    enum: [...new Set(Object.values(responses).flatMap(errorCodesOf))].sort(),
    description: 'Every code that an error may have.',
  };
  dropRefusals(copy);
  // A member with a default may be left out of a request, so it is optional.
  const nodes = await openapiTypes(copy as unknown as OpenAPI3, { defaultNonNullable: false });
  return withoutNever(astToString(nodes));
}

/** Removes the members that say what there is not, such as `put?: never` of a path without PUT. */
function withoutNever(types: string): string {
  return types.replace(/^ *\w+\?: never;\n/gm, '');
}

/** Leaves out examples, headers, and rules about which members go together: beside `properties` they would widen the type. */
function typeable(name: string, value: any): unknown {
  if (['example', 'examples', 'headers'].includes(name)) return undefined;
  if (value?.properties === undefined) return value;
  return { ...value, anyOf: undefined, oneOf: undefined };
}

function dropRefusals({ paths, components: { responses } }: Document): void {
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
    for (const status of Object.keys(operation.responses)) {
      if (Number(status) >= 300) delete operation.responses[status];
    }
  }
  for (const [name, response] of Object.entries(responses)) {
    if (response.content === undefined || errorCodesOf(response).length > 0) delete responses[name];
  }
}

function errorCodesOf({ content }: Response): string[] {
  return content?.['application/json'].schema.properties?.code?.enum ?? [];
}

if (import.meta.main) await writeTypes();
