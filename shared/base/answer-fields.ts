import * as z from 'zod/mini';

/**
 * The parts of answers. The OpenAPI document, the agents' tools and the tests use these schemas. All other functions import
 * only their types, so that no other bundle carries them.
 */
export const timestamp = z
  .string()
  .check(z.regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/), z.meta({ format: 'date-time' }));

export const requestId = z.string().check(
  z.regex(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
  z.meta({
    format: 'uuid',
    description: 'UUID of the stored request. It does not change, and GET /generate/{requestId} fetches it.',
  }),
);

/** A whole number that is never negative. */
export const count = z.int().check(z.gte(0));

/** The address of something that can be opened as it is. */
export const link = z.string().check(z.regex(/^https?:\/\//), z.meta({ format: 'uri' }));

/** Gives a member the sentence that documents it. */
export function described<Schema extends z.ZodMiniType>(schema: Schema, description: string): Schema {
  return schema.check(z.describe(description)) as Schema;
}
