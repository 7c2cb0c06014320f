import type { UploadAnswer } from '../../../shared/images/answer-contract.ts';
import { described, send } from '../http.ts';
import { must, mustHaveMembers } from '../mismatch.ts';
import type { Step } from '../step.ts';
import { totalsOf } from './generation.ts';

/**
 * Tries every step of a reference image but the model: form, bucket, and the function that checks it. A file
 * that is not a picture must be refused, and costs nothing.
 */
export const looksAtReferences: Step = {
  name: 'an uploaded file is looked at before anything is charged',
  skip: ({ world }) => (world.identity.productPhotos ? null : 'the identity takes no reference images'),
  async run(context) {
    const { place, world, issued } = context;
    const before = await totalsOf(context);
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
    const { committed } = await totalsOf(context);
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
