import { startQuickContainer } from '../fuzz/quick-container.ts';
import type { Table } from '../../shared/table/table.ts';
import { tableOf } from './grants.ts';
import { removeFolder, startService, temporaryFolder, type RunningService } from './service.ts';

/** Notes what must be closed in the end. */
export type Keep = <Part extends { close(): unknown }>(part: Part) => Part;

/**
 * Opens what tests stand on. Its parts are closed together, the last one first, also when a later one can't be opened.
 * @param open makes the parts, and hands each one that must be closed to `keep`
 */
export async function openFixture<T extends object>(
  open: (keep: Keep) => Promise<T>,
): Promise<T & { close(): Promise<void> }> {
  const parts: { close(): unknown }[] = [];
  const close = async () => {
    for (const part of parts.splice(0).toReversed()) await part.close();
  };
  const keep: Keep = (part) => {
    parts.push(part);
    return part;
  };
  try {
    return Object.assign(await open(keep), { close });
  } catch (error) {
    await close();
    throw error;
  }
}

/** A folder that goes when its fixture is closed. */
export function keepFolder(keep: Keep): string {
  const folder = temporaryFolder();
  keep({ close: () => removeFolder(folder) });
  return folder;
}

export interface ServiceOptions {
  /** Of `npm start`. */
  args?: string[];
  env?: Record<string, string>;
  /** Generates with a model container that delivers at once, and no picture. */
  quickContainer?: boolean;
}

/** A service with the options of `npm start`, and its table. */
export interface ServiceFixture extends RunningService {
  table: Table;
}

/** A running service, with whatever it needs beside it. */
export async function keepService(
  keep: Keep,
  { args = [], env = {}, quickContainer = false }: ServiceOptions = {},
): Promise<ServiceFixture> {
  const dataDir = keepFolder(keep);
  const container = quickContainer ? keep(await startQuickContainer()) : null;
  const containerArgs = container === null ? [] : ['--container', container.url];
  const service = await startService({ dataDir, env, args: [...args, ...containerArgs] });
  keep({ close: () => service.end() });
  return { ...service, table: tableOf(dataDir) };
}
