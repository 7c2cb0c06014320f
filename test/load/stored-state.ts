import { objectStore } from '../../shared/adapters/object-store.ts';
import { isFinal, type Generation } from '../../shared/domain/generation.ts';
import { fromItem } from '../../shared/store/generation-item.ts';
import type { Item } from '../../shared/store/table.ts';
import { wrongAtRest } from '../support/stored-state.ts';
import { allItems } from '../support/table-scan.ts';
import { pause } from '../support/until.ts';
import type { Ledger } from './ledger.ts';
import type { LoadWorld } from './world.ts';

/** A request that nobody runs any more is ended by the sweep, a lease and a minute later. */
const settledWithinMs = 120_000;
const readsAtOnce = 16;

export interface StoredState {
  generations: number;
  completed: number;
  /** Images that were looked up in the bucket. */
  images: number;
}

/** Waits until nothing runs, then reads the whole table, and tells the ledger what does not add up. */
export async function checkStoredState(world: LoadWorld, ledger: Ledger): Promise<StoredState> {
  const items = await settledItems(world);
  wrongAtRest(items).forEach(ledger.violate);
  const generations = items.filter(({ PK }) => PK.startsWith('GEN#')).map(fromItem);
  const byId = new Map(generations.map((generation) => [generation.requestId, generation]));
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

/** The whole table, once nothing runs any more or that has taken too long. */
export async function settledItems({ table }: Pick<LoadWorld, 'table'>): Promise<Item[]> {
  for (const untilMs = Date.now() + settledWithinMs; ; await pause(1000)) {
    const items = await allItems(table);
    const isOpen = ({ PK, status }: Item) => PK.startsWith('GEN#') && !isFinal(status);
    if (!items.some(isOpen) || Date.now() > untilMs) return items;
  }
}

/** Looks up each image in the bucket. @returns how many they are */
export async function checkImages(
  world: Pick<LoadWorld, 'bucketName'>,
  completed: Generation[],
  ledger: Pick<Ledger, 'violate'>,
): Promise<number> {
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
