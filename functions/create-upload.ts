import { uploadForms } from '../shared/images/upload-forms.ts';
import { referenceLimits } from '../shared/images/image-types.ts';
import type { UploadAnswer } from '../shared/images/answer-contract.ts';
import { anyContentType, createAccountUploadBody, createUploadBody } from '../shared/images/contract.ts';
import { isoTime } from '../shared/base/clock.ts';
import { newUploadId, uploadExpiresAtMs } from '../shared/images/upload.ts';
import { created } from '../shared/http/answer.ts';
import type { CallerOf } from '../shared/http/callers.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { usableLicense } from '../shared/http/owned-license.ts';
import { readBody, readQuery, collectErrors, type ApiRequest } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';
import { licenseStore, type LicenseStore } from '../shared/licenses/store.ts';

/** POST /uploads: a form for one file, which then is a reference image of this license and of no other. */
export const handler = endpoint(routes.createUpload, {
  deps: ({ table, env }) => ({ licenses: licenseStore(table()), forms: uploadForms(env.bucketName) }),
  async run({ request, caller, deps, runtime }) {
    const nowMs = runtime.clock.now();
    const { licenseId, contentType } = await readUpload(request, caller, deps.licenses, nowMs);
    request.logFields.licenseId = licenseId;
    const uploadId = newUploadId(nowMs);
    const { url, fields } = await deps.forms.sign({ licenseId, uploadId }, contentType);
    const expiresAt = isoTime(uploadExpiresAtMs(uploadId));
    const answer: UploadAnswer = { uploadId, url, fields, maxBytes: referenceLimits.maxBytes, expiresAt };
    return created(answer);
  },
});

/** The license that the upload is for, and what its file says that it is. */
async function readUpload(
  request: ApiRequest,
  caller: CallerOf<typeof routes.createUpload>,
  licenses: LicenseStore,
  nowMs: number,
): Promise<{ licenseId: string; contentType: string }> {
  if (caller.kind === 'key') {
    const [{ contentType = anyContentType }] = collectErrors(
      () => readBody(request, createUploadBody, { mayBeEmpty: true }),
      () => readQuery(request, []),
    );
    return { licenseId: caller.licenseId, contentType };
  }
  const [{ contentType = anyContentType, ...body }] = collectErrors(
    () => readBody(request, createAccountUploadBody, { mayBeEmpty: true }),
    () => readQuery(request, []),
  );
  const { licenseId } = await usableLicense(licenses, caller.ownerId, body.licenseId, nowMs);
  return { licenseId, contentType };
}
