import { apiKeyStore } from '../../shared/keys/store.ts';
import { auditStore } from '../../shared/accounts/audit-store.ts';
import { accountStore } from '../../shared/accounts/store.ts';
import { deletionStore } from '../../shared/generations/deletion-store.ts';
import { generationStore } from '../../shared/generations/store.ts';
import { identityStore } from '../../shared/identities/store.ts';
import { licenseStore } from '../../shared/licenses/store.ts';
import { periodStore } from '../../shared/licenses/period-store.ts';
import { openTable } from '../../shared/table/table.ts';

export type Stores = ReturnType<typeof openStores>;

/** Every store of one table. Imported late, because the AWS SDK takes long to load. */
export function openStores(tableName: string) {
  const table = openTable(tableName);
  return {
    table,
    licenses: licenseStore(table),
    apiKeys: apiKeyStore(table),
    identities: identityStore(table),
    generations: generationStore(table),
    deletions: deletionStore(table),
    periods: periodStore(table),
    audit: auditStore(table),
    accounts: accountStore(table),
    /** Closes the connections, so that the process can end. */
    close: () => table.client.destroy(),
  };
}
