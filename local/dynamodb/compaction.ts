import type { Level, Write } from './dynalite.ts';

/** Deletions of the same moment are compacted together. */
const afterMs = 1000;

export interface Compaction {
  afterWrites(writes: Write[]): void;
  /** Before the database is closed: what was deleted goes first. */
  close(): Promise<void>;
}

/**
 * LevelDB appends, and keeps what was deleted in its files until it rewrites them, which a small database may never do.
 * Here it rewrites them a moment after an item was deleted: a deleted prompt is not on the disk any more.
 */
export function openCompaction(level: Level): Compaction {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  function compact(): void {
    clearTimeout(timer);
    timer = undefined;
    // Nothing but those bytes depends on it.
    running = running.then(() => rewrite(level)).catch(() => {});
  }

  return {
    afterWrites(writes) {
      // A database in memory has no files.
      if (level.compactRange === undefined || timer !== undefined) return;
      if (writes.some(({ type, key }) => type === 'del' && key.startsWith('item-'))) {
        timer = setTimeout(compact, afterMs).unref();
      }
    },
    async close() {
      if (timer !== undefined) compact();
      await running;
    },
  };
}

/** No key of the database is outside of them. */
const [first, last] = ['!', '~'];

/**
 * The first time writes LevelDB's log into a file as it is, with what was deleted. The second finds something newer beside all of
 * it, so it has to merge the two, and leaves that out.
 */
async function rewrite(level: Level): Promise<void> {
  await level.compactRange?.(first, last);
  await level.batch([
    { type: 'del', key: first },
    { type: 'del', key: last },
  ]);
  await level.compactRange?.(first, last);
}
