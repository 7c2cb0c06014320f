import { readdir } from 'node:fs/promises';
import { db } from './dynalite.ts';
import type { Level } from './dynalite.ts';

/** Why the data in a folder cannot be used. */
export type StartFailure = Error & { reason: 'in_use' | 'corrupt' };

/**
 * Opens the database in a folder, or an empty one in memory for null. LevelDB writes each batch to its log
 * with one call of the operating system before it answers, so what was committed survives the end of this
 * process, however it ends.
 *
 * @throws StartFailure `in_use` if another process has the folder open, `corrupt` if its files cannot be
 * read.
 */
export async function openLevel(folder: string | null): Promise<Level> {
  if (folder !== null) await refuseHeadless(folder);
  const { db: level } = db.create(folder === null ? {} : { path: folder });
  try {
    await level.open();
  } catch (error) {
    throw explained(folder, error);
  }
  return level;
}

/** LevelDB takes a folder without a CURRENT file for a new one and deletes its data. */
async function refuseHeadless(folder: string): Promise<void> {
  const files = await readdir(folder).catch((): string[] => []);
  const hasData = files.some((file) => file.startsWith('MANIFEST-') || file.endsWith('.ldb'));
  if (hasData && !files.includes('CURRENT')) throw corrupt(folder, 'its CURRENT file is missing');
}

/** The wrapper of LevelDB throws an error of its own; LevelDB's is its cause. */
function explained(folder: string | null, error: unknown): Error {
  const { message, cause } = error as Error & { cause?: Error & { code?: string } };
  const detail = cause?.message ?? message;
  if (cause?.code === 'LEVEL_LOCKED') {
    const words = `The DynamoDB data folder ${folder} is in use by another process.`;
    return Object.assign(new Error(words, { cause }), { reason: 'in_use' as const });
  }
  const isMissingFile = cause?.code === 'LEVEL_IO_ERROR' && detail.includes('No such file');
  if (cause?.code === 'LEVEL_CORRUPTION' || isMissingFile) return corrupt(folder, detail, cause);
  return new Error(`The DynamoDB data folder ${folder} cannot be opened: ${detail}`, { cause });
}

function corrupt(folder: string | null, detail: string, cause?: Error): StartFailure {
  const words = `The DynamoDB data folder ${folder} is corrupt (${detail}).`;
  return Object.assign(new Error(words, { cause }), { reason: 'corrupt' as const });
}
