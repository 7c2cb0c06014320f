import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';

/** SQLite's code for a lock that another connection holds: sqlite.org/rescode.html#busy. */
const busy = 5;

/**
 * Waits until this process holds the exclusive lock of an empty SQLite database at `path`. The operating system
 * releases it when the process ends, even if it is killed. The file itself stays.
 * @returns a function that gives the lock back.
 * @throws the signal's reason.
 */
export async function takeLock(path: string, signal: AbortSignal): Promise<() => void> {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    while (!isTaken(database)) await pause(200, undefined, { signal });
  } catch (error) {
    database.close();
    throw error;
  }
  return () => database.close();
}

function isTaken(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === busy) return false;
    throw error;
  }
}
