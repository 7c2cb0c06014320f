/** JSON Schema, draft 2020-12, which is what OpenAPI 3.1 takes; also any other object of the document. */
export type Schema = Record<string, any>;
