import { objectStore } from '../images/object-store.ts';
import { previewRole } from '../images/preview-role.ts';
import { loggableError } from '../base/log.ts';
import type { Runtime } from './runtime.ts';
import { linkCredentialsStore } from '../images/link-credentials-store.ts';
import { previewCredentials } from '../images/preview-credentials.ts';

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
