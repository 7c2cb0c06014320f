import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import type { ReadyFile } from '../../local/service.ts';
import type { Table } from '../../shared/table/table.ts';
import { startQuickContainer } from '../fuzz/quick-container.ts';
import { tableOf } from './grants.ts';
import {
  callApi,
  removeFolder,
  sharedServiceVariable,
  startService,
  type RunningService,
} from './service.ts';

/** A service with the options of `npm start`, and its table. */
export interface TestService extends RunningService {
  table: Table;
}

export type SharedService = Pick<TestService, 'dataDir' | 'ready' | 'api' | 'table'>;

/**
 * The service that runs beside all http tests, with the default options. Other files use it at the same time: make
 * licenses of your own by `grant`, and look only at what belongs to them.
 */
export function sharedService(): SharedService {
  const dataDir = process.env[sharedServiceVariable];
  if (dataDir === undefined)
    throw new Error('the shared service runs for the tests of the http project only');
  const ready = JSON.parse(readFileSync(join(dataDir, 'ready.json'), 'utf8')) as ReadyFile;
  return { dataDir, ready, api: (call) => callApi(ready.baseUrl, call), table: tableOf(dataDir) };
}

/**
 * Starts a service before the tests of a file and ends it after them: for options of its own, or for a look at the
 * whole log or table.
 * @param options.quickContainer generates with a model container that delivers at once, and no picture
 * @returns an object that is filled by the time that the first test runs
 */
export function useService(
  options: { args?: string[]; env?: Record<string, string>; quickContainer?: boolean } = {},
): TestService {
  const service = {} as TestService;
  let container: Awaited<ReturnType<typeof startQuickContainer>> | undefined;
  beforeAll(async () => {
    const args = [...(options.args ?? [])];
    if (options.quickContainer === true) {
      container = await startQuickContainer();
      args.push('--container', container.url);
    }
    Object.assign(service, await startService({ ...options, args }));
    service.table = tableOf(service.dataDir);
  });
  afterAll(async () => {
    await service.end();
    await container?.close();
    removeFolder(service.dataDir);
  });
  return service;
}
