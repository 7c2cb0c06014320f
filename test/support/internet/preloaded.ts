import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { InternetAccess } from './small-internet.ts';
import type { Destination } from './socket-spy.ts';

export interface Preload {
  /** For `spawn`, beside the rest of the environment; child processes inherit it. */
  env: { NODE_OPTIONS: string; SMALL_INTERNET: string };
  destinations(): Destination[];
}

/**
 * How to start another process in the small internet.
 * @param log where the process writes its destinations; the file must not exist yet.
 */
export function preload(access: InternetAccess, log: string): Preload {
  const module = pathToFileURL(fileURLToPath(new URL('preload.ts', import.meta.url))).href;
  return {
    env: { NODE_OPTIONS: `--import=${module}`, SMALL_INTERNET: JSON.stringify({ ...access, log }) },
    destinations() {
      const lines = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
      return lines.filter(Boolean).map((line) => JSON.parse(line) as Destination);
    },
  };
}
