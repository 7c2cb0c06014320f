import { leaseIndex } from '../table/keys.ts';
import { listLeases, type Table } from '../table/table.ts';

/** Enough to act on. */
const most = 20;

/** The licenses that subscriptions would have which nobody has owned for an hour, oldest first. `subscriptionStore` lists them. */
export async function listUnbound(table: Table, nowMs: number): Promise<string[]> {
  const keys = await listLeases(table, leaseIndex.unbound, nowMs, most);
  return keys.map(({ PK }) => String(PK).replace('LICENSE#', ''));
}
