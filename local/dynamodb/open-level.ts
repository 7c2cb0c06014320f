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
  await level.open().catch((error: Error) => {
    throw explained(error);
  });
  return level;
}

/** LevelDB takes a folder without a CURRENT file for a new one and deletes its data. */
async function refuseHeadless(folder: string): Promise<void> {
  const files = await readdir(folder).catch((): string[] => []);
  const hasData = files.some((file) => file.startsWith('MANIFEST-') || file.endsWith('.ldb'));
  if (hasData && !files.includes('CURRENT')) throw failure('corrupt', 'its CURRENT file is missing');
}

/** The wrapper of LevelDB throws an error of its own; LevelDB's is its cause. */
function explained(error: Error): Error {
  const { code, message = '' } = (error.cause ?? {}) as { code?: string; message?: string };
  if (code === 'LEVEL_LOCKED') return failure('in_use', message, error);
  const isMissingFile = code === 'LEVEL_IO_ERROR' && message.includes('No such file');
  return code === 'LEVEL_CORRUPTION' || isMissingFile ? failure('corrupt', message, error) : error;
}

function failure(reason: StartFailure['reason'], detail: string, cause?: Error): StartFailure {
  const error = new Error(`The DynamoDB data folder can't be opened (${reason}): ${detail}`, { cause });
  return Object.assign(error, { reason });
}
