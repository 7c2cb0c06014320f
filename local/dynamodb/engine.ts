import { createServer } from 'node:http';
import { listen, type RunningServer } from '../http/server.ts';
import { openCompaction } from './compaction.ts';
import { dynamoDbListener, type Perform } from './http.ts';
import { openLevel } from './open-level.ts';
import { perform } from './operations.ts';
import type { Context } from './store.ts';

export interface DynamoDbOptions {
  /** Where LevelDB keeps the data; null keeps it in memory. */
  folder: string | null;
  /** Milliseconds since 1970, for the ten minutes of a ClientRequestToken. Default: the system's clock. */
  now?: (() => number) | undefined;
}

/** The engine without a server, for a program with a transport of its own. */
export async function openDynamoDb({
  folder,
  now = Date.now,
}: DynamoDbOptions): Promise<{ perform: Perform; close(): Promise<void> }> {
  const level = await openLevel(folder);
  const compaction = openCompaction(level);
  const context: Context = {
    level,
    now,
    tokens: new Map(),
    exclusive: oneAtATime(),
    async commit(writes) {
      await level.batch(writes);
      compaction.afterWrites(writes);
    },
  };
  return {
    perform: (operation, body) => perform(context, operation, body),
    close: () =>
      context.exclusive(async () => {
        await compaction.close();
        await level.close();
      }),
  };
}

/**
 * Starts the DynamoDB engine on a free port of this machine.
 * @throws StartFailure with the reason `in_use` or `corrupt`, or another Error if the folder can't be used.
 */
export async function startDynamoDb(options: DynamoDbOptions): Promise<RunningServer> {
  const database = await openDynamoDb(options);
  const server = createServer(dynamoDbListener(database.perform));
  // Longer than clients keep idle connections, so that none is closed just as a request comes in on it.
  server.keepAliveTimeout = 75_000;
  const running = await listen(server);
  let closing: Promise<unknown> | undefined;
  return {
    url: running.url,
    async close() {
      // What is being written is still completed.
      closing ??= Promise.all([running.close(), database.close()]);
      await closing;
    },
  };
}

function oneAtATime(): Context['exclusive'] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}
