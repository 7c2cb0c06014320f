import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, QueryCommand, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { License } from '../domain/license.ts';
import { readAll, type Item, type Table } from './table.ts';
import { itemKeys, ownerIndex, sortPrefixes } from './table-keys.ts';

/** What may change in an access record's life; its id, owner and age may not. */
export type LicenseChange = Partial<Omit<License, 'licenseId' | 'ownerId' | 'createdAtMs'>>;

export type LicenseStore = ReturnType<typeof licenseStore>;

export function licenseStore(table: Table) {
  const { documents, name } = table;
  return {
    async insert(license: License): Promise<void> {
      await documents.send(
        new PutCommand({
          TableName: name,
          Item: toItem(license),
          ConditionExpression: 'attribute_not_exists(PK)',
        }),
      );
    },

    /** Strong: a change holds from the next request on. */
    async get(licenseId: string): Promise<License | null> {
      const { Item: item } = await documents.send(
        new GetCommand({ TableName: name, Key: itemKeys.license(licenseId), ConsistentRead: true }),
      );
      return item ? fromItem(item) : null;
    },

    /** Writes only the members given. @returns the record as it is now, null when there is none. */
    async update(licenseId: string, change: LicenseChange): Promise<License | null> {
      const members = Object.entries(change);
      try {
        const { Attributes: item } = await documents.send(
          new UpdateCommand({
            TableName: name,
            Key: itemKeys.license(licenseId),
            UpdateExpression: `SET ${members.map((_, i) => `#m${i} = :m${i}`).join(', ')}`,
            ConditionExpression: 'attribute_exists(PK)',
            ExpressionAttributeNames: Object.fromEntries(members.map(([member], i) => [`#m${i}`, member])),
            ExpressionAttributeValues: Object.fromEntries(members.map(([, value], i) => [`:m${i}`, value])),
            ReturnValues: 'ALL_NEW',
          }),
        );
        return fromItem(item!);
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return null;
        throw error;
      }
    },

    /** An account's records, oldest first. */
    async listByOwner(ownerId: string): Promise<License[]> {
      const query = (start: Item | undefined) =>
        documents.send(
          new QueryCommand({
            TableName: name,
            IndexName: ownerIndex.name,
            KeyConditionExpression: `${ownerIndex.partition} = :owner AND begins_with(${ownerIndex.sort}, :kind)`,
            ExpressionAttributeValues: { ':owner': ownerIndex.of(ownerId), ':kind': sortPrefixes.license },
            ExclusiveStartKey: start,
          }),
        );
      return readAll(query, fromItem);
    },

    /** Every record, by reading the whole table: for the operator's CLI, never for a request. */
    async listAll(): Promise<License[]> {
      const scan = (start: Item | undefined) =>
        documents.send(
          new ScanCommand({
            TableName: name,
            FilterExpression: 'SK = :license',
            ExpressionAttributeValues: { ':license': 'LICENSE' },
            ExclusiveStartKey: start,
          }),
        );
      return (await readAll(scan, fromItem)).sort((a, b) => a.createdAtMs - b.createdAtMs);
    },
  };
}

function toItem(license: License): Item {
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
