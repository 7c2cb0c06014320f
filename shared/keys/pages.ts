import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { endedKeyMs } from './api-key.ts';
import { isKeyId } from '../base/ids.ts';
import { fromItem, type ApiKey } from './item.ts';
import type { Item, Table } from '../table/table.ts';
import { itemKeys, ownerIndex, sortPrefixes } from '../table/keys.ts';

export interface KeyPageQuery {
  limit: number;
  /** The place after which the page begins: the `next` of another; null for the newest. */
  before: string | null;
  nowMs: number;
}

export interface KeyPage {
  keys: ApiKey[];
  /** Where the next page begins; null on the last one. */
  next: string | null;
}

/** Removed keys that wait for their removal are read and left out. A page ends after about this many of them. */
const maxLeftOut = 1000;

/** A page of an account's keys, newest first, without those that ended so long ago that they are removed. */
export function keyPages(table: Table) {
  const query = (ownerId: string, { limit, nowMs }: KeyPageQuery, start: Item | undefined) =>
    table.documents.send(
      new QueryCommand({
        TableName: table.name,
        IndexName: ownerIndex.name,
        KeyConditionExpression: `${ownerIndex.partition} = :owner AND begins_with(${ownerIndex.sort}, :kind)`,
        FilterExpression:
          '(attribute_not_exists(revokedAtMs) OR revokedAtMs > :kept) AND ' +
          '(attribute_not_exists(expiresAtMs) OR expiresAtMs > :kept)',
        ExpressionAttributeValues: {
          ':owner': ownerIndex.of(ownerId),
          ':kind': sortPrefixes.apiKey,
          ':kept': nowMs - endedKeyMs,
        },
        ScanIndexForward: false,
        Limit: limit + 1,
        ExclusiveStartKey: start,
      }),
    );

  return async (ownerId: string, page: KeyPageQuery): Promise<KeyPage> => {
    const { limit, before } = page;
    const found: ApiKey[] = [];
    let examined = 0;
    let start = before === null ? undefined : indexKeyOf(ownerId, before);
    do {
      const answer = await query(ownerId, page, start);
      found.push(...(answer.Items ?? []).map(fromItem));
      examined += answer.ScannedCount ?? limit;
      start = answer.LastEvaluatedKey;
    } while (start !== undefined && found.length <= limit && examined < limit + maxLeftOut);
    const keys = found.slice(0, limit);
    if (found.length > limit) return { keys, next: placeOf(keys.at(-1)!) };
    return { keys, next: start === undefined ? null : placeIn(start) };
  };
}

/** Where a key is in its account's list: the end of its sort key in the index. */
function placeOf({ createdAtMs, keyId }: ApiKey): string {
  return ownerIndex.sortOf('', createdAtMs, keyId);
}

function placeIn(indexKey: Item): string {
  return indexKey[ownerIndex.sort].slice(sortPrefixes.apiKey.length);
}

/** Whether a text can be a place in a list of keys. Nothing else is ever looked up. */
export function isKeyPlace(text: string): boolean {
  const [, keyId = ''] = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z#(.*)$/.exec(text) ?? [];
  return isKeyId(keyId);
}

/** The index's key of a place, which need not be a key's any more. */
function indexKeyOf(ownerId: string, place: string): Item {
  return {
    [ownerIndex.partition]: ownerIndex.of(ownerId),
    [ownerIndex.sort]: `${sortPrefixes.apiKey}${place}`,
    ...itemKeys.apiKey(place.slice(place.indexOf('#') + 1)),
  };
}
