import { uploadForms } from '../shared/adapters/upload-forms.ts';
import { referenceLimits } from '../shared/contracts/reference-images.ts';
import {
  anyContentType,
  createAccountUploadBody,
  createUploadBody,
  type UploadAnswer,
} from '../shared/contracts/upload.ts';
import { newUploadId, uploadExpiresAtMs } from '../shared/domain/upload.ts';
import { created } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { usableLicense } from '../shared/http/owned-license.ts';
import { readBody, readQuery } from '../shared/http/request.ts';
import { routes } from '../shared/routes.ts';
import { licenseStore } from '../shared/store/license-store.ts';

/** POST /uploads: a form for one file, which then is a reference image of this access record and of nobody else. */
export const handler = endpoint(routes.createUpload, {
  deps: ({ table, env }) => ({ licenses: licenseStore(table()), forms: uploadForms(env.bucketName) }),
  async run({ request, caller, deps, runtime }) {
    readQuery(request, []);
    const nowMs = runtime.clock.now();
    const { license, contentType = anyContentType } =
      caller.kind === 'key'
        ? { license: caller.license, ...readBody(request, createUploadBody, { mayBeEmpty: true }) }
        : await readAccountBody();
    const { licenseId } = license;
    request.facts.licenseId = licenseId;
    const uploadId = newUploadId(nowMs);
    const { url, fields } = await deps.forms.sign({ licenseId, uploadId }, contentType);
    const expiresAt = new Date(uploadExpiresAtMs(uploadId)).toISOString();
    const answer: UploadAnswer = { uploadId, url, fields, maxBytes: referenceLimits.maxBytes, expiresAt };
    return created(answer);

    async function readAccountBody() {
      const body = readBody(request, createAccountUploadBody, { mayBeEmpty: true });
      return { ...body, license: await usableLicense(deps.licenses, caller.ownerId, body.licenseId, nowMs) };
    }
  },
});
