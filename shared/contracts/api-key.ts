import * as z from 'zod/mini';
import { integer, optional, text } from './fields.ts';

const idRule = 'must be the id of one of your licenses';
const expiryRule = 'must be an ISO 8601 time with its zone, as in 2027-01-31T18:00:00Z';

/** Later years have more than four digits, and ISO 8601 writes those in another form. */
const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const expiry = z.iso
  .datetime({ offset: true, error: expiryRule })
  .check(z.refine((value) => Date.parse(value) <= lastMs, expiryRule));

/** Credits that a key may use in its license's period. A key that may use none is a revoked one, so there is no 0. */
export const maxMonthlyCredits = 1_000_000_000;
const monthlyCredits = integer(1, maxMonthlyCredits);

/** The body of POST /keys. The domain checks that `expiresAt` lies in the future. */
export const createKeyBody = z.strictObject(
  {
    licenseId: z.string(idRule).check(z.minLength(1, idRule)),
    name: text(1, 64),
    expiresAt: optional(expiry),
    monthlyCredits: optional(monthlyCredits),
  },
  'must be a JSON object',
);

/** As callers send it. */
export type CreateKeyBody = z.input<typeof createKeyBody>;

/** The body of PATCH /keys/{keyId}. Here `null` is a value: a key without a budget. The function checks that it changes something. */
export const changeKeyBody = z.strictObject(
  { name: optional(text(1, 64)), monthlyCredits: z.optional(z.nullable(monthlyCredits)) },
  'must be a JSON object',
);

export type ChangeKeyBody = z.input<typeof changeKeyBody>;
