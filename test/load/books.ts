import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { objectStore } from '../../shared/adapters/object-store.ts';
import { isFinal, type Generation } from '../../shared/domain/generation.ts';
import { fromItem } from '../../shared/store/generation-item.ts';
import type { Item } from '../../shared/store/table.ts';
import { pause } from '../support/until.ts';
import type { Ledger } from './ledger.ts';
import type { LoadWorld } from './world.ts';

/** A request that nobody runs any more is ended by the sweep, a lease and a minute later. */
const settledWithinMs = 120_000;
const readsAtOnce = 16;

export interface Books {
  generations: number;
  completed: number;
  /** Images that were looked up in the bucket. */
  images: number;
}

/** Waits until nothing runs, then reads the whole table, and tells the ledger what does not add up. */
export async function checkBooks(world: LoadWorld, ledger: Ledger): Promise<Books> {
  const items = await settledItems(world, ledger);
  const generations = items.filter(({ SK }) => SK.startsWith('GEN#')).map(fromItem);
  const byId = new Map(generations.map((generation) => [generation.requestId, generation]));
  checkPeriods(items, generations, ledger);
  checkIdempotency(generations, ledger);
  for (const [requestId, images] of ledger.delivered) {
    const stored = byId.get(requestId);
    if (stored?.status !== 'COMPLETED' || stored.numOutputs !== images) {
      ledger.violate(`${requestId} was answered 200 with ${images} images and is ${stored?.status}.`);
    }
  }
  for (const requestId of world.container.requestIds) {
    if (!byId.has(requestId)) ledger.violate(`${requestId} came to the model and is not stored.`);
  }
  const completed = generations.filter(({ status }) => status === 'COMPLETED');
  const images = await checkImages(world, completed, ledger);
  return { generations: generations.length, completed: completed.length, images };
}

async function settledItems(world: LoadWorld, ledger: Ledger): Promise<Item[]> {
  const untilMs = Date.now() + settledWithinMs;
  for (;;) {
    const items = await allItems(world);
    const open = items.filter(({ SK, status }) => SK.startsWith('GEN#') && !isFinal(status));
    if (open.length === 0) return items;
    if (Date.now() > untilMs) {
      ledger.violate(`${open.length} requests never ended.`);
      return items;
    }
    await pause(1000);
  }
}

async function allItems({ table }: LoadWorld): Promise<Item[]> {
  const items: Item[] = [];
  let ExclusiveStartKey: Item | undefined;
  do {
    const command = new ScanCommand({ TableName: table.name, ConsistentRead: true, ExclusiveStartKey });
    const page = await table.documents.send(command);
    items.push(...(page.Items ?? []));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey !== undefined);
  return items;
}

/** Used is what COMPLETED requests were charged, nothing is held, and nobody has used more than they may. */
function checkPeriods(items: Item[], generations: Generation[], ledger: Ledger): void {
  const charged = new Map<string, number>();
  for (const { licenseId, periodStartMs, status, credits } of generations) {
    const name = `LICENSE#${licenseId} PERIOD#${new Date(periodStartMs).toISOString()}`;
    charged.set(name, (charged.get(name) ?? 0) + (status === 'COMPLETED' ? credits : 0));
  }
  const limits = new Map(
    items.filter(({ SK }) => SK === 'LICENSE').map((item) => [item.PK, item.creditsLimit]),
  );
  const periods = items.filter(({ SK }) => SK.startsWith('PERIOD#'));
  for (const { PK, SK, used = 0, committed = 0, imported = 0 } of periods) {
    const expected = charged.get(`${PK} ${SK}`) ?? 0;
    charged.delete(`${PK} ${SK}`);
    if (used - imported !== expected || used !== committed || used > limits.get(PK)) {
      ledger.violate(
        `${PK}: ${used} used, ${committed} committed, ${expected} charged of ${limits.get(PK)}.`,
      );
    }
  }
  for (const [name, credits] of charged)
    if (credits > 0) ledger.violate(`${name} was charged and has no books.`);
}

function checkIdempotency(generations: Generation[], ledger: Ledger): void {
  const seen = new Set<string>();
  for (const { keyId, onceId, status } of generations) {
    if (onceId === null || status !== 'COMPLETED') continue;
    const name = `${keyId} ${onceId}`;
    if (seen.has(name)) ledger.violate(`${keyId} was charged twice for one idempotency key.`);
    seen.add(name);
  }
}

async function checkImages(world: LoadWorld, completed: Generation[], ledger: Ledger): Promise<number> {
  const objects = objectStore(world.bucketName);
  const images = completed.flatMap((of) => Array.from({ length: of.numOutputs }, (_, i) => [of, i] as const));
  const left = images.values();
  async function check(): Promise<void> {
    for (const [of, i] of left) {
      const bytes = await objects.outputSize(of, i);
      if (bytes === null || bytes === 0) ledger.violate(`${of.requestId} is COMPLETED and lacks image ${i}.`);
    }
  }
  await Promise.all(Array.from({ length: readsAtOnce }, check));
  return images.length;
}
