import * as z from 'zod/mini';
import { optional } from '../base/fields.ts';

const idRule = 'must be the id of one of your licenses';
const contentTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;
const contentTypeRule = `must be one of ${contentTypes.join(', ')}`;

/** The stored type of a file whose sender named none. The service looks at the bytes in any case, never at the type. */
export const anyContentType = 'application/octet-stream';

/** The body of POST /uploads by key. No body means the same as an empty object. */
export const createUploadBody = z.strictObject(
  { contentType: optional(z.enum(contentTypes, contentTypeRule)) },
  'must be a JSON object',
);

/** The same by session, which names one of the account's licenses. */
export const createAccountUploadBody = z.strictObject(
  { ...createUploadBody.shape, licenseId: z.string(idRule).check(z.minLength(1, idRule)) },
  'must be a JSON object',
);
