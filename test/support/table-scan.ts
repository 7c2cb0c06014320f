import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Item, Table } from '../../shared/table/table.ts';

export type TableItem = Record<string, unknown>;

export async function allItems(table: Table): Promise<Item[]> {
  const items: Item[] = [];
  let start: Item | undefined;
  do {
    const command = new ScanCommand({
      TableName: table.name,
      ConsistentRead: true,
      ExclusiveStartKey: start,
    });
    const page = await table.documents.send(command);
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start);
  return items;
}

/** Every item of the table that has one of these texts anywhere in it, in the order of their keys. */
export async function itemsWith(table: Table, texts: string[]): Promise<TableItem[]> {
  const keyOf = ({ PK, SK }: TableItem) => `${String(PK)} ${String(SK)}`;
  return (await allItems(table))
    .filter((item) => texts.some((text) => JSON.stringify(item).includes(text)))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}
