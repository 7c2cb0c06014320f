import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { License } from '../domain/license.ts';
import { getItem, insertItem, listOwned, readAll, updateItem, type Item, type Table } from './table.ts';
import { itemKeys, ownerIndex, sortPrefixes } from './table-keys.ts';

/** The members of a license that may change. Its id, its owner and its creation may not. */
export type LicenseChange = Partial<Omit<License, 'licenseId' | 'ownerId' | 'createdAtMs'>>;

export type LicenseStore = ReturnType<typeof licenseStore>;

export function licenseStore(table: Table) {
  return {
    insert: (license: License) => insertItem(table, toItem(license)),

    /** A strong read: a change holds from the next request on. */
    async get(licenseId: string): Promise<License | null> {
      const item = await getItem(table, itemKeys.license(licenseId));
      return item && fromItem(item);
    },

    /** Writes only the given members. @returns the license as it is now, null when there is none. */
    async update(licenseId: string, change: LicenseChange): Promise<License | null> {
      const members = Object.entries(change);
      const item = await updateItem(table, itemKeys.license(licenseId), {
        UpdateExpression: `SET ${members.map((_, i) => `#m${i} = :m${i}`).join(', ')}`,
        ExpressionAttributeNames: Object.fromEntries(members.map(([member], i) => [`#m${i}`, member])),
        ExpressionAttributeValues: Object.fromEntries(members.map(([, value], i) => [`:m${i}`, value])),
      });
      return item && fromItem(item);
    },

    /** An account's licenses, oldest first. */
    listByOwner: (ownerId: string) =>
      listOwned(table, ownerId, sortPrefixes.license, 'oldest first', fromItem),

    /** Every license, by reading the whole table: for the operator's CLI, never for a request. */
    async listAll(): Promise<License[]> {
      const scan = (start: Item | undefined) =>
        table.documents.send(
          new ScanCommand({
            TableName: table.name,
            FilterExpression: 'SK = :license',
            ExpressionAttributeValues: { ':license': 'LICENSE' },
            ExclusiveStartKey: start,
          }),
        );
      return (await readAll(scan, fromItem)).sort((a, b) => a.createdAtMs - b.createdAtMs);
    },
  };
}

export function toItem(license: License): Item {
  return {
    ...itemKeys.license(license.licenseId),
    [ownerIndex.partition]: ownerIndex.of(license.ownerId),
    [ownerIndex.sort]: ownerIndex.sortOf(sortPrefixes.license, license.createdAtMs, license.licenseId),
    ...license,
  };
}

function fromItem(item: Item): License {
  return {
    licenseId: item.licenseId,
    ownerId: item.ownerId,
    tier: item.tier,
    creditsLimit: item.creditsLimit,
    foundingCatalog: item.foundingCatalog,
    identityIds: item.identityIds,
    apiAccess: item.apiAccess,
    status: item.status,
    periodAnchorMs: item.periodAnchorMs,
    activeUntilMs: item.activeUntilMs,
    createdAtMs: item.createdAtMs,
  };
}
