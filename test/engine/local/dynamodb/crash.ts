import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { paginateScan } from '@aws-sdk/lib-dynamodb';
import { expect } from '@jest/globals';
import { until } from '../../../support/until.ts';
import { connect, spawnEngine, tableDefinition, temporaryFolder, type Endpoint } from './support.ts';

type Document = Endpoint['document'];
const TableName = 'crash-table';
const slots = 5;

/** What the parent knows of the transactions it sent: how many items each writes, and whether it was answered. */
type Sent = Map<string, { parts: number; isAcknowledged: boolean }>;

/** Two to five items of its own, a shared counter, and a slot that moves from one owner to another in the indexes. */
function transaction(id: string, parts: number) {
  const own = Array.from({ length: parts }, (_, i) => ({
    Put: { TableName, Item: { pk: `tx#${id}`, sk: `${i}`, parts, owner: `owner-${i % 2}`, rank: i } },
  }));
  const count = {
    TableName,
    Key: { pk: 'counter', sk: 'counter' },
    UpdateExpression: 'ADD n :one',
    ExpressionAttributeValues: { ':one': 1 },
  };
  const move = {
    TableName,
    Key: { pk: 'slot', sk: `${parts % slots}` },
    UpdateExpression: 'SET #o = :owner, #r = :rank',
    ExpressionAttributeNames: { '#o': 'owner', '#r': 'rank' },
    ExpressionAttributeValues: { ':owner': `owner-${id}`, ':rank': parts },
  };
  return [...own, { Update: count }, { Update: move }];
}

/** Sends transactions, each with a single write that moves within the index, until the engine is gone. */
async function sendUntilKilled(document: Document, name: string, sent: Sent): Promise<void> {
  for (let i = 0; ; i += 1) {
    const id = `${name}-${i}`;
    const parts = 2 + (i % 4);
    sent.set(id, { parts, isAcknowledged: false });
    try {
      await document.transactWrite({ ClientRequestToken: id, TransactItems: transaction(id, parts) });
      sent.set(id, { parts, isAcknowledged: true });
      await document.put({ TableName, Item: { pk: 'single', sk: name, owner: `owner-${i % 3}`, rank: i } });
    } catch {
      return;
    }
  }
}

async function everything(document: Document, IndexName?: string) {
  const items: Record<string, unknown>[] = [];
  for await (const page of paginateScan({ client: document }, { TableName, IndexName })) {
    items.push(...page.Items!);
  }
  return items;
}

const named = (items: Record<string, unknown>[]) =>
  items.map(({ pk, sk, owner, rank }) => [pk, sk, owner, rank].join('|')).toSorted();

async function checkConsistency(document: Document, sent: Sent): Promise<number> {
  const items = await everything(document);
  const partsFound = new Map<string, number>();
  for (const { pk } of items) {
    const id = String(pk).split('#')[1];
    if (id) partsFound.set(id, (partsFound.get(id) ?? 0) + 1);
  }
  for (const [id, parts] of partsFound) expect([id, parts]).toEqual([id, sent.get(id)?.parts]);
  const lost = [...sent].filter(([id, { isAcknowledged }]) => isAcknowledged && !partsFound.has(id));
  expect(lost).toEqual([]);

  const counter = items.find(({ pk }) => pk === 'counter');
  expect(counter?.['n'] ?? 0).toBe(partsFound.size);
  const owned = items.filter(({ owner }) => owner !== undefined);
  expect(named(await everything(document, 'owner-rank'))).toEqual(named(owned));
  const keysOnly = owned.map(({ pk, sk, owner }) => ({ pk, sk, owner }));
  expect(named(await everything(document, 'owner-only'))).toEqual(named(keysOnly));
  return partsFound.size;
}

/** Sends again what was not answered, as a client does that keeps its token. */
async function retry(document: Document, sent: Sent): Promise<void> {
  for (const [id, { parts, isAcknowledged }] of sent) {
    if (isAcknowledged) continue;
    await document.transactWrite({ ClientRequestToken: id, TransactItems: transaction(id, parts) });
    sent.set(id, { parts, isAcknowledged: true });
  }
}

/** A kill at any moment leaves each transaction whole or absent, and a retry does it exactly once. */
export async function survivesKills(rounds: number): Promise<void> {
  const folder = await temporaryFolder();
  let engine = await spawnEngine(folder);
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
      engine = await spawnEngine(folder);
      const { document: after } = connect(engine.url);
      await checkConsistency(after, sent);
      await retry(after, sent);
      expect(await checkConsistency(after, sent)).toBe(sent.size);
    }
  } finally {
    await engine.kill();
    await rm(folder, { recursive: true });
  }
}
