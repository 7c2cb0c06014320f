import * as z from 'zod/mini';
import { count, described, link, timestamp } from '../base/answer-fields.ts';

/** The answer of POST /uploads, status 201: how to send one file, and what to call it in `referenceImages`. */
export const uploadAnswer = z.object({
  uploadId: described(z.string(), 'Send it in `referenceImages`, once the file was sent.'),
  url: described(
    link,
    'Where to POST a form (multipart/form-data) of all `fields`, and then the file in a field named `file`.',
  ),
  fields: described(z.record(z.string(), z.string()), 'The fields of the form, as they are.'),
  maxBytes: described(count, 'The largest file that is taken.'),
  expiresAt: described(timestamp, 'Until then the file can be sent, and used.'),
});

export type UploadAnswer = z.infer<typeof uploadAnswer>;
