import * as z from 'zod/mini';
import { instant, integer, optional, text } from '../base/fields.ts';

const idRule = 'must be the id of one of your licenses';

/** Credits that a key may use in its license's period. A key that may use none is a revoked one, so there is no 0. */
export const maxMonthlyCredits = 1_000_000_000;
const monthlyCredits = integer(1, maxMonthlyCredits);

/** The body of POST /keys. The domain checks that `expiresAt` lies in the future. */
export const createKeyBody = z.strictObject(
  {
    licenseId: z.string(idRule).check(z.minLength(1, idRule)),
    name: text(1, 64),
    expiresAt: optional(instant),
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
