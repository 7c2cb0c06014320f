import * as z from 'zod/mini';
import { instant, integer, optional, text } from '../base/fields.ts';

const idRule = 'must be the id of one of your licenses';

/** Credits that a key may use in its license's period. A key that may use none is a revoked one, so there is no 0. */
export const maxMonthlyCredits = 1_000_000_000;
const monthlyCredits = integer(1, maxMonthlyCredits);

/** What a key may read and delete: whatever its license made, or only what it made itself. */
export const keyAccesses = ['license', 'own'] as const;
export type KeyAccess = (typeof keyAccesses)[number];
const access = z.enum(keyAccesses, `must be one of ${keyAccesses.join(', ')}`);

/** As many as a license may have in flight at most. The domain checks a key's own number against its license's. */
export const maxKeyInFlight = 10_000;
const maxInFlight = integer(1, maxKeyInFlight);

/** The body of POST /keys. The domain checks that `expiresAt` lies in the future. */
export const createKeyBody = z.strictObject(
  {
    licenseId: z.string(idRule).check(z.minLength(1, idRule)),
    name: text(1, 64),
    expiresAt: optional(instant),
    monthlyCredits: optional(monthlyCredits),
    access: optional(access),
    maxInFlight: optional(maxInFlight),
  },
  'must be a JSON object',
);

/** As callers send it. */
export type CreateKeyBody = z.input<typeof createKeyBody>;

/** The body of PATCH /keys/{keyId}. Here `null` is a value: a key without such a limit. The function checks that it changes something. */
export const changeKeyBody = z.strictObject(
  {
    name: optional(text(1, 64)),
    monthlyCredits: z.optional(z.nullable(monthlyCredits)),
    access: optional(access),
    maxInFlight: z.optional(z.nullable(maxInFlight)),
  },
  'must be a JSON object',
);

export type ChangeKeyBody = z.input<typeof changeKeyBody>;
