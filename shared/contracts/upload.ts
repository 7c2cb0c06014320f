import * as z from 'zod/mini';

const contentTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;
const contentTypeRule = `must be one of ${contentTypes.join(', ')}`;

/** The stored type of a file whose sender named none. The service looks at the bytes in any case, never at the type. */
export const anyContentType = 'application/octet-stream';

/** The body of POST /uploads by key. No body means the same as an empty object. */
export const createUploadBody = z.strictObject(
  { contentType: z.optional(z.enum(contentTypes, contentTypeRule)) },
  'must be a JSON object',
);

/** The same by session, which names one of the account's licenses. */
export const createAccountUploadBody = z.strictObject(
  { ...createUploadBody.shape, licenseId: z.string('must be the id of one of your licenses') },
  'must be a JSON object',
);
