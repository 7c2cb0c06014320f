import * as z from 'zod/mini';
import { instant, optional, text } from './fields.ts';

const idRule = 'must be the id of one of your licenses';

/** The body of POST /keys. The domain checks that `expiresAt` lies in the future. */
export const createKeyBody = z.strictObject(
  {
    licenseId: z.string(idRule).check(z.minLength(1, idRule)),
    name: text(1, 64),
    expiresAt: optional(instant),
  },
  'must be a JSON object',
);

/** As callers send it. */
export type CreateKeyBody = z.input<typeof createKeyBody>;
