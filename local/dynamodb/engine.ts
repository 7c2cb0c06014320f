import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Context } from './context.ts';
import { dynamoDbListener } from './http.ts';
import { openLevel } from './open-level.ts';
import { perform } from './operations.ts';
import { openTokens } from './tokens.ts';

export type { StartFailure } from './open-level.ts';

export interface DynamoDbOptions {
  /** Where LevelDB keeps the data; null keeps it in memory. */
  folder: string | null;
  /** Default: one that is free. */
  port?: number | undefined;
  /** Milliseconds since 1970, for the ten minutes of a ClientRequestToken. Default: the system's clock. */
  now?: (() => number) | undefined;
}

export interface DynamoDbEngine {
  url: string;
  /** Stops at once, open connections included; what is being written is still completed. */
  close(): Promise<void>;
}

/** The engine without a server, for a program that brings requests in a way of its own. */
export async function openDynamoDb({
  folder,
  now = Date.now,
}: Pick<DynamoDbOptions, 'folder' | 'now'>): Promise<{
  perform(operation: string, body: Record<string, unknown>): Promise<unknown>;
  close(): Promise<void>;
}> {
  const level = await openLevel(folder);
  const context: Context = { level, tokens: openTokens(level, now), exclusive: oneAtATime() };
  return {
    perform: (operation, body) => perform(context, operation, body),
    close: () => context.exclusive(async () => level.close()),
  };
}

/**
 * Starts the DynamoDB engine on 127.0.0.1.
 *
 * @throws StartFailure with the reason `in_use` or `corrupt`, or another Error if the port or the folder
 * cannot be used.
 */
export async function startDynamoDb({
  folder,
  port = 0,
  now = Date.now,
}: DynamoDbOptions): Promise<DynamoDbEngine> {
  const database = await openDynamoDb({ folder, now });
  const server = createServer(dynamoDbListener(database.perform));
  // Longer than clients keep idle connections, so that none is closed just as a request comes in on it.
  server.keepAliveTimeout = 75_000;
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    await database.close();
    throw error;
  }

  let closing: Promise<void> | undefined;
  async function stop(): Promise<void> {
    server.close();
    server.closeAllConnections();
    await database.close();
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => (closing ??= stop()),
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
