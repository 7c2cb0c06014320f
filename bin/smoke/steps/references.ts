import type { UploadAnswer } from '../../../shared/contracts/upload.ts';
import { described, send } from '../http.ts';
import { must, mustHaveMembers } from '../mismatch.ts';
import type { Step } from '../step.ts';
import { booksOf } from './generation.ts';

/**
 * Goes all the way that a reference image goes, but for the model: a form, the bucket, the function that looks at it. A file
 * that is no picture tells that it was looked at, and costs nothing.
 */
export const looksAtReferences: Step = {
  name: 'an uploaded file is looked at before anything is charged',
  skip: ({ world }) => (world.identity.productPhotos ? null : 'the identity takes no reference images'),
  async run(context) {
    const { place, world, issued } = context;
    const before = await booksOf(context);
    const opened = await send(`${place.baseUrl}/uploads`, { method: 'POST', bearer: issued.rawKey });
    must(opened.status === 201, `POST /uploads answered ${described(opened)}`);
    mustHaveMembers(opened.json, ['uploadId', 'url', 'fields', 'maxBytes', 'expiresAt']);
    const { uploadId, url, fields } = opened.json as UploadAnswer;
    const status = await sendForm(url, fields, 'this is no picture');
    must(status === 204, `the upload's form answered ${status}`);
    const answer = await send(`${place.baseUrl}/generate`, {
      bearer: issued.rawKey,
      body: { identityId: world.identity.identityId, prompt: 'x', referenceImages: [{ uploadId }] },
    });
    const { code, error } = answer.json ?? {};
    const refused =
      code === 'INVALID_PARAMETERS' && String(error).startsWith('referenceImages[0].uploadId: must be a PNG');
    must(refused, `POST /generate answered ${described(answer)}`);
    const { committed } = await booksOf(context);
    must(committed === before.committed, 'credits are held for it');
  },
};

async function sendForm(url: string, fields: Record<string, string>, file: string): Promise<number> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('file', new Blob([file]));
  const { status } = await send(url, { method: 'POST', form });
  return status;
}
