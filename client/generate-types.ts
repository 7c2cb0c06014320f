import openapiTypes, { astToString, type OpenAPI3 } from 'openapi-typescript';

/** The API's document as far as it is read here; answers that are errors name their codes. */
interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Answer> }>>;
  components: { schemas: Record<string, object> };
}
interface Answer {
  content?: { 'application/json'?: { schema: { properties?: { code?: { enum?: string[] } } } } };
}

/**
 * TypeScript's types of the API's paths and schemas, as `src/openapi.ts` holds them, and of every error code that an
 * operation names.
 */
export async function typesOf(document: object): Promise<string> {
  const copy = JSON.parse(JSON.stringify(document, typeable)) as Document;
  copy.components.schemas.ErrorCode = {
    type: 'string',
    enum: errorCodesOf(copy),
    description: 'Every code that an error may have.',
  };
  // What has a default may be left out of a request, so it is optional.
  const nodes = await openapiTypes(copy as unknown as OpenAPI3, { defaultNonNullable: false });
  return astToString(nodes);
}

/**
 * Leaves out examples, and rules about which members go together: beside `properties` they would widen the type. A
 * record of named keys becomes an object of them.
 */
function typeable(name: string, value: any): unknown {
  if (name === 'example' || name === 'examples') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if ('properties' in value) return { ...value, anyOf: undefined, oneOf: undefined };
  const { propertyNames, additionalProperties, ...rest } = value;
  if (propertyNames?.enum === undefined) return value;
  const keys = propertyNames.enum as string[];
  return { ...rest, properties: Object.fromEntries(keys.map((key) => [key, additionalProperties])) };
}

function errorCodesOf({ paths }: Document): string[] {
  const codes = Object.values(paths)
    .flatMap((path) => Object.values(path))
    .flatMap(({ responses }) => Object.values(responses))
    .flatMap(({ content }) => content?.['application/json']?.schema.properties?.code?.enum ?? []);
  return [...new Set(codes)].sort();
}
