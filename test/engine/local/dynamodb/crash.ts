import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { paginateScan } from '@aws-sdk/lib-dynamodb';
import { expect } from '@jest/globals';
import { temporaryFolder } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { startProcess } from '../process.ts';
import { connect, tableDefinition, type Endpoint } from './support.ts';

type Document = Endpoint['document'];
const TableName = 'crash-table';

/** What was sent: how many items each transaction writes, and whether it was answered. */
type Sent = Map<string, { parts: number; isAnswered: boolean }>;

/** Two to five items of its own, a shared counter, and a slot that moves from one owner to another in the indexes. */
function transaction(id: string, parts: number) {
  const own = Array.from({ length: parts }, (_, i) => ({
    Put: { TableName, Item: { pk: `tx#${id}`, sk: `${i}`, owner: `owner-${i % 2}`, rank: i } },
  }));
  const Update = {
    TableName,
    Key: { pk: 'counter', sk: 'counter' },
    UpdateExpression: 'SET #o = :owner, #r = :rank ADD n :one',
    ExpressionAttributeNames: { '#o': 'owner', '#r': 'rank' },
    ExpressionAttributeValues: { ':owner': `owner-${id}`, ':rank': parts, ':one': 1 },
  };
  return [...own, { Update }];
}

/** Sends transactions until the engine is gone. */
async function sendUntilKilled(document: Document, name: string, sent: Sent): Promise<void> {
  for (let i = 0; ; i += 1) {
    const id = `${name}-${i}`;
    const parts = 2 + (i % 4);
    sent.set(id, { parts, isAnswered: false });
    try {
      await document.transactWrite({ TransactItems: transaction(id, parts) });
      sent.set(id, { parts, isAnswered: true });
    } catch {
      return;
    }
  }
}

async function everything(document: Document, IndexName?: string) {
  const items: Record<string, any>[] = [];
  for await (const page of paginateScan({ client: document }, { TableName, IndexName })) {
    items.push(...page.Items!);
  }
  return items.toSorted((a, b) => (a.pk + a.sk < b.pk + b.sk ? -1 : 1));
}

async function checkConsistency(document: Document, sent: Sent): Promise<void> {
  const items = await everything(document);
  const found = Map.groupBy(items, ({ pk }) => String(pk).split('#')[1] ?? '');
  const [counter] = found.get('')!;
  found.delete('');
  for (const [id, parts] of found) expect([id, parts.length]).toEqual([id, sent.get(id)?.parts]);
  const lost = [...sent].filter(([id, { isAnswered }]) => isAnswered && !found.has(id));
  expect([lost, counter!.n]).toEqual([[], found.size]);
  expect(await everything(document, 'owner-rank')).toEqual(items);
}

/** A kill at any moment leaves each transaction whole or absent, and each that was answered is there. */
export async function survivesKills(rounds: number): Promise<void> {
  const folder = temporaryFolder();
  const program = new URL('../../../../local/dynamodb/engine.ts', import.meta.url).href;
  const code = `const { startDynamoDb } = await import(${JSON.stringify(program)});
    console.log((await startDynamoDb({ folder: ${JSON.stringify(folder)} })).url);`;
  let engine = await startProcess(code);
  try {
    const sent: Sent = new Map();
    await connect(engine.url).client.createTable({ ...tableDefinition, TableName });
    for (let round = 0; round < rounds; round += 1) {
      const { document } = connect(engine.url);
      const senders = Array.from({ length: 6 }, (_, i) => sendUntilKilled(document, `${round}-${i}`, sent));
      await until('each sender was answered', () => sent.has(`${round}-0-1`) && sent.has(`${round}-5-1`));
      await delay(Math.random() * 300);
      await engine.kill();
      await Promise.all(senders);
      engine = await startProcess(code);
      await checkConsistency(connect(engine.url).document, sent);
    }
  } finally {
    await engine.kill();
    await rm(folder, { recursive: true });
  }
}
