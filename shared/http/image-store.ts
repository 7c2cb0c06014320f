import { objectStore } from '../adapters/object-store.ts';
import { previewRole } from '../adapters/preview-role.ts';
import { loggableError } from '../runtime/log.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { linkCredentialsStore } from '../store/link-credentials-store.ts';
import { previewCredentials } from '../workflow/preview-credentials.ts';

/** Where images live, for those who answer with links to them. */
export function imageStore({ env, table, clock, log }: Runtime) {
  const { bucketName, previewRoleArn, stsUrl } = env;
  if (previewRoleArn === null) return objectStore(bucketName, { clock });
  const credentials = previewCredentials({
    role: previewRole(previewRoleArn, stsUrl),
    stored: linkCredentialsStore(table()),
    onFault: (error) => log.error('previews are signed apart', { causes: loggableError(error) }),
  });
  return objectStore(bucketName, { clock, previewCredentials: credentials });
}
