import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReadyFile } from '../../local/service.ts';
import { keepService, type ServiceFixture, type ServiceOptions } from './fixture.ts';
import { tableOf } from './grants.ts';
import { callApi, sharedServiceVariable } from './service.ts';
import { useFixture } from './use-fixture.ts';

export type SharedService = Pick<ServiceFixture, 'dataDir' | 'ready' | 'api' | 'table'>;

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

/** A service for the tests of one file: for options of its own, or for a look at the whole log or table. */
export function useService(options: ServiceOptions = {}): ServiceFixture {
  return useFixture((keep) => keepService(keep, options));
}
