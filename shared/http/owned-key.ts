import { isRemovedKey } from '../keys/api-key.ts';
import { isKeyId } from '../base/ids.ts';
import { ServiceError } from '../base/errors.ts';
import type { ApiKey, ApiKeyStore } from '../keys/store.ts';

/**
 * A key of the account's own, whatever its status, as long as GET /keys lists it.
 * @throws KEY_NOT_FOUND, in the same words for a key that is another's, removed or was never made.
 */
export async function ownedKey(
  apiKeys: Pick<ApiKeyStore, 'get'>,
  ownerId: string,
  keyId: string,
  nowMs: number,
): Promise<ApiKey> {
  const key = isKeyId(keyId) ? await apiKeys.get(keyId) : null;
  if (key === null || key.ownerId !== ownerId || isRemovedKey(key, nowMs)) throw keyNotFound();
  return key;
}

export function keyNotFound(): ServiceError {
  return new ServiceError('KEY_NOT_FOUND', 'None of your API keys has this ID.');
}
