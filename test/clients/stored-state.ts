import { objectStore } from '../../shared/images/object-store.ts';
import { isFinal, type Generation } from '../../shared/generations/generation.ts';
import type { Item, Table } from '../../shared/table/table.ts';
import { allItems } from '../support/table-scan.ts';
import { pause } from '../support/until.ts';

/** A request that nobody runs any more is ended by the sweep, a lease and a minute later. */
const settledWithinMs = 120_000;
const readsAtOnce = 16;

/** The whole table, once nothing runs any more or that has taken too long. */
export async function settledItems(table: Table): Promise<Item[]> {
  for (const untilMs = Date.now() + settledWithinMs; ; await pause(1000)) {
    const items = await allItems(table);
    const isOpen = ({ PK, status }: Item) => PK.startsWith('GEN#') && !isFinal(status);
    if (!items.some(isOpen) || Date.now() > untilMs) return items;
  }
}

/** Looks up each image in the bucket. @returns how many they are */
export async function checkImages(
  bucketName: string,
  completed: Generation[],
  violate: (sentence: string) => void,
): Promise<number> {
  const objects = objectStore(bucketName);
  const images = completed.flatMap((of) => Array.from({ length: of.numOutputs }, (_, i) => [of, i] as const));
  const left = images.values();
  async function check(): Promise<void> {
    for (const [of, i] of left) {
      const bytes = await objects.outputSize(of, i);
      if (bytes === null || bytes === 0) violate(`${of.requestId} is COMPLETED and lacks image ${i}.`);
    }
  }
  await Promise.all(Array.from({ length: readsAtOnce }, check));
  return images.length;
}
