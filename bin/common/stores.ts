import { apiKeyStore } from '../../shared/store/api-key-store.ts';
import { auditStore } from '../../shared/store/audit-store.ts';
import { deletionStore } from '../../shared/store/deletion-store.ts';
import { generationStore } from '../../shared/store/generation-store.ts';
import { identityStore } from '../../shared/store/identity-store.ts';
import { licenseStore } from '../../shared/store/license-store.ts';
import { periodStore } from '../../shared/store/period-store.ts';
import { openTable } from '../../shared/store/table.ts';

export type Stores = ReturnType<typeof openStores>;

/** Every store of one table. Imported late, because the AWS SDK takes long to load. */
export function openStores(tableName: string) {
  const table = openTable(tableName);
  return {
    licenses: licenseStore(table),
    apiKeys: apiKeyStore(table),
    identities: identityStore(table),
    generations: generationStore(table),
    deletions: deletionStore(table),
    periods: periodStore(table),
    audit: auditStore(table),
    /** Closes the connections, so that the process can end. */
    close: () => table.client.destroy(),
  };
}
