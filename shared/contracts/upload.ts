import * as z from 'zod/mini';

const contentTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;
const contentTypeRule = `must be one of ${contentTypes.join(', ')}`;

/** What a file is stored as whose sender did not say what it is. It is looked at by its content in any case. */
export const anyContentType = 'application/octet-stream';

/** The body of POST /uploads by key; none at all means the same as an empty object. */
export const createUploadBody = z.strictObject(
  { contentType: z.optional(z.enum(contentTypes, contentTypeRule)) },
  'must be a JSON object',
);

/** The same by session, which names one of the account's licenses. */
export const createAccountUploadBody = z.strictObject(
  { ...createUploadBody.shape, licenseId: z.string('must be the id of one of your licenses') },
  'must be a JSON object',
);

export type { UploadAnswer } from './upload-answer.ts';
