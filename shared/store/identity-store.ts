import { PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Identity } from '../domain/identity.ts';
import { batchGet, readAll, type Item, type Table } from './table.ts';
import { itemKeys, sortPrefixes } from './table-keys.ts';

export type IdentityStore = ReturnType<typeof identityStore>;

export function identityStore(table: Table) {
  return {
    /** Makes an identity or replaces it whole. */
    async put(identity: Identity): Promise<void> {
      await table.documents.send(
        new PutCommand({
          TableName: table.name,
          Item: { ...itemKeys.identity(identity.identityId), ...identity },
        }),
      );
    },

    async get(identityId: string): Promise<Identity | null> {
      const [item] = await batchGet(table, [itemKeys.identity(identityId)]);
      return item ? identityFromItem(item) : null;
    },

    /** The whole catalog, by name. It is small: hundreds, not millions. */
    async list(): Promise<Identity[]> {
      const query = (start: Item | undefined) =>
        table.documents.send(
          new QueryCommand({
            TableName: table.name,
            KeyConditionExpression: 'PK = :catalog AND begins_with(SK, :kind)',
            ExpressionAttributeValues: { ':catalog': 'CATALOG', ':kind': sortPrefixes.identity },
            ConsistentRead: true,
            ExclusiveStartKey: start,
          }),
        );
      const identities = await readAll(query, identityFromItem);
      return identities.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    },
  };
}

export function identityFromItem(item: Item): Identity {
  return {
    identityId: item.identityId,
    name: item.name,
    slug: item.slug,
    description: item.description,
    catalog: item.catalog,
    productPhotos: item.productPhotos,
    // Older identities have no digest.
    model: item.model ? { adapterSha256: null, ...item.model } : null,
  };
}
