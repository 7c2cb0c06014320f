import { DeleteItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { GenerationRef } from './queue-contract.ts';
import type { Deletion } from './deletion.ts';
import type { Generation } from './generation.ts';
import { fromItem as generationFromItem } from './item.ts';
import { batchGet, getItem, listLeases, writeIf, writeItem, type Item, type Table } from '../table/table.ts';
import { itemKeys, leaseIndex, licenseIdOfDeletion } from '../table/keys.ts';
import { transact } from '../table/transact.ts';

/** What is stored under a request's id: the request, or that it was deleted; never both. */
export type StoredRequest = { generation: Generation } | { deletion: Deletion };

/** Two keys for each license, and BatchGetItem takes 100. */
const licensesPerRead = 50;

export type DeletionStore = ReturnType<typeof deletionStore>;

/**
 * Requests that were deleted, until nothing can bring their images back. Each has a lease, as a request that runs has: if
 * its handler dies, the sweep goes on.
 */
export function deletionStore(table: Table) {
  return {
    /** A strong read of a request, wherever among these licenses it is stored. */
    async find(licenseIds: string[], requestId: string): Promise<StoredRequest | null> {
      for (let i = 0; i < licenseIds.length; i += licensesPerRead) {
        const some = licenseIds.slice(i, i + licensesPerRead);
        const items = await batchGet(table, [
          ...some.map((licenseId) => itemKeys.generation(licenseId, requestId)),
          ...some.map((licenseId) => itemKeys.deletion(licenseId, requestId)),
        ]);
        const at = items.findIndex((item) => item !== undefined);
        if (at === -1) continue;
        const item = items[at]!;
        return at < some.length ? { generation: generationFromItem(item) } : { deletion: fromItem(item) };
      }
      return null;
    },

    async get({ licenseId, requestId }: GenerationRef): Promise<Deletion | null> {
      const item = await getItem(table, itemKeys.deletion(licenseId, requestId));
      return item && fromItem(item);
    },

    /**
     * Puts a deletion in the place of a request that has ended, in one transaction. From then on nobody finds the request.
     * @param leaseUntilMs from when on the sweep may go on with it.
     * @returns false when the request is not there any more: another deletion has begun.
     */
    async begin(deletion: Deletion, leaseUntilMs: number): Promise<boolean> {
      const { licenseId, requestId } = deletion;
      const refusal = () => 'not there';
      const refused = await transact(table, [
        {
          key: itemKeys.generation(licenseId, requestId),
          isDeleted: true,
          condition: '#status IN (:completed, :failed, :timeout)',
          names: { '#status': 'status' },
          values: { ':completed': 'COMPLETED', ':failed': 'FAILED', ':timeout': 'TIMEOUT' },
          refusal,
        },
        {
          key: itemKeys.deletion(licenseId, requestId),
          put: toItem(deletion, leaseUntilMs),
          condition: 'attribute_not_exists(PK)',
          refusal,
        },
      ]);
      return refused === null;
    },

    /** Notes that all images were deleted, and when the sweep is to look once more. */
    async noteErased({ licenseId, requestId, imagesUntilMs }: Deletion): Promise<void> {
      const command = new UpdateItemCommand({
        TableName: table.name,
        Key: marshall(itemKeys.deletion(licenseId, requestId)),
        UpdateExpression: `SET isErased = :yes, ${leaseIndex.sort} = :until`,
        // Another hand may have come to its end.
        ConditionExpression: 'attribute_exists(PK)',
        ExpressionAttributeValues: marshall({ ':yes': true, ':until': imagesUntilMs }),
      });
      // Another hand may be at it, and meet this one.
      await writeIf(() => table.client.send(command));
    },

    /** Nothing of the request is left after this. */
    async remove({ licenseId, requestId }: GenerationRef): Promise<void> {
      const Key = marshall(itemKeys.deletion(licenseId, requestId));
      await writeItem(() => table.client.send(new DeleteItemCommand({ TableName: table.name, Key })));
    },

    /** Deletions whose lease ended before an instant, oldest first. The index may be a moment late. */
    async listDue(beforeMs: number, limit: number): Promise<GenerationRef[]> {
      const keys = await listLeases(table, leaseIndex.deletions, beforeMs, limit);
      return keys.map((key) => ({ licenseId: licenseIdOfDeletion(key), requestId: key.SK }));
    },
  };
}

function toItem({ licenseId, requestId, ...rest }: Deletion, leaseUntilMs: number): Item {
  return {
    ...itemKeys.deletion(licenseId, requestId),
    ...rest,
    [leaseIndex.partition]: leaseIndex.deletions,
    [leaseIndex.sort]: leaseUntilMs,
  };
}

function fromItem(item: Item): Deletion {
  return {
    licenseId: licenseIdOfDeletion(item),
    requestId: item.SK,
    keyId: item.keyId,
    numOutputs: item.numOutputs,
    outputFormat: item.outputFormat,
    referenceImages: item.referenceImages,
    imagesUntilMs: item.imagesUntilMs,
    isErased: item.isErased,
  };
}
