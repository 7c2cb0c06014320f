import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { itemKeys, ttlAttribute } from '../table/keys.ts';
import { getItem, queryAll, type Table } from '../table/table.ts';
import type { AskedPrompt, PromptCheckDeps } from './prompt-check.ts';

/*
 * The prompts that were refused, where the operator has them kept. They are no members of the refused requests, which their license's
 * owner may list and which are kept for another time.
 */

const dayMs = 24 * 60 * 60 * 1000;

export interface KeptPrompt extends Pick<AskedPrompt, 'prompt' | 'negativePrompt'> {
  categories: string[];
  endMs: number;
}

/** Keeps prompts for so many days. It updates, because that is all that functions may do in this partition. */
export function refusedPromptKeeper(table: Table, days: number): NonNullable<PromptCheckDeps['keep']> {
  return async ({ prompt, negativePrompt, requestId }, categories, licenseId, atMs, signal) => {
    const endMs = atMs + days * dayMs;
    const command = new UpdateItemCommand({
      TableName: table.name,
      Key: marshall(itemKeys.refusedPrompt(licenseId, requestId)),
      UpdateExpression: 'SET prompt = :p, negativePrompt = :n, categories = :c, endMs = :e, #ttl = :t',
      ExpressionAttributeNames: { '#ttl': ttlAttribute },
      ExpressionAttributeValues: marshall({
        ':p': prompt,
        ':n': negativePrompt,
        ':c': categories,
        ':e': endMs,
        ':t': Math.ceil(endMs / 1000),
      }),
    });
    await table.client.send(command, { abortSignal: signal });
  };
}

/** Null once its days are over, also while DynamoDB still has it. */
export async function readRefusedPrompt(
  table: Table,
  licenseId: string,
  requestId: string,
  nowMs: number,
): Promise<KeptPrompt | null> {
  const item = await getItem(table, itemKeys.refusedPrompt(licenseId, requestId));
  if (item === null || item.endMs <= nowMs) return null;
  const { prompt, negativePrompt, categories, endMs } = item;
  return { prompt, negativePrompt, categories, endMs };
}

/** Deletes all of a license. */
export async function eraseRefusedPrompts(table: Table, licenseId: string): Promise<void> {
  const { PK, SK } = itemKeys.refusedPrompt(licenseId, '');
  const query = {
    KeyConditionExpression: 'PK = :license AND begins_with(SK, :prompts)',
    ExpressionAttributeValues: { ':license': PK, ':prompts': SK },
    ConsistentRead: true,
  };
  for (const Key of await queryAll(table, query, (item) => ({ PK: item.PK, SK: item.SK }))) {
    await table.documents.send(new DeleteCommand({ TableName: table.name, Key }));
  }
}
