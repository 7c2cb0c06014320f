import { readFile, writeFile } from 'node:fs/promises';
import openapiTypes, { astToString, type OpenAPI3 } from 'openapi-typescript';

/** The parts of the API's document that this module reads. It has an example of each error code, by the code. */
interface Document {
  paths: Record<string, Record<string, { responses: Record<string, { $ref: string }> }>>;
  components: {
    schemas: Record<string, object>;
    responses: Record<string, Response>;
    examples: object;
  };
}
interface Response {
  content?: { 'application/json': { schema: { $ref?: string } } };
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
  copy.components.schemas.ErrorCode = {
    type: 'string',
    enum: Object.keys((JSON.parse(document) as Document).components.examples).sort(),
    description: 'Every code that an error may have.',
  };
  dropRefusals(copy);
  const nodes = await openapiTypes(copy as unknown as OpenAPI3);
  return withoutNever(astToString(nodes));
}

/** Removes the members that say what there is not, such as `put?: never` of a path without PUT. */
function withoutNever(types: string): string {
  return types.replace(/^ *\w+\?: never;\n/gm, '');
}

/** Leaves out examples, headers, and that answers may grow: a misspelt member would have a type. Lists are those of today's values. */
function typeable(name: string, value: any): unknown {
  if (['example', 'examples', 'headers'].includes(name)) return undefined;
  if (name === 'additionalProperties' && value === true) return undefined;
  const known = value?.['x-extensible-enum'];
  if (known === undefined) return value;
  return { ...value, enum: [...known, ...(value.type.includes('null') ? [null] : [])] };
}

function dropRefusals({ paths, components: { responses } }: Document): void {
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
    for (const status of Object.keys(operation.responses)) {
      if (Number(status) >= 300) delete operation.responses[status];
    }
  }
  for (const [name, { content }] of Object.entries(responses)) {
    const ref = content?.['application/json'].schema.$ref;
    if (content === undefined || ref === '#/components/schemas/Error') delete responses[name];
  }
}

if (import.meta.main) await writeTypes();
