import { quarterOf } from '../../shared/images/previews.ts';
import { linkCredentialsStore } from '../../shared/images/link-credentials-store.ts';
import type { Table } from '../../shared/table/table.ts';

/**
 * Stores what signs links to previews in this hour, as the first function to sign one does. So all functions do the same in
 * each quarter of an hour, and none asks AWS's token service.
 */
export async function storeLinkCredentials(
  table: Table,
  { accessKeyId, secretAccessKey }: { accessKeyId: string; secretAccessKey: string },
): Promise<void> {
  const credentials = { accessKeyId, secretAccessKey, sessionToken: 'token' };
  const stored = linkCredentialsStore(table);
  for (let i = 0; i < 4; i++) await stored.insert(quarterOf(Date.now()) + i * 900_000, credentials);
}
