import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReadyFile } from '../../local/service.ts';
import { callTool } from '../support/agent.ts';
import type { ServiceFixture } from '../support/fixture.ts';
import { grant, tableOf, type Granted } from '../support/grants.ts';
import { expectCharged, periodTotals } from '../support/period-totals.ts';
import { generate, small, stored } from '../support/requests.ts';
import { callApi, sharedServiceVariable, type ApiAnswer, type ApiCall } from '../support/service.ts';
import { sessionOf } from '../support/sessions.ts';

type Service = Pick<ServiceFixture, 'dataDir' | 'ready' | 'api' | 'table'>;

function sharedService(): Service {
  const dataDir = process.env[sharedServiceVariable]!;
  const ready = JSON.parse(readFileSync(join(dataDir, 'ready.json'), 'utf8')) as ReadyFile;
  return { dataDir, ready, api: (call) => callApi(ready.baseUrl, call), table: tableOf(dataDir) };
}

/**
 * The service that runs beside all http tests, with the default options. Other files use it at the same time: make
 * accounts of your own, and look only at what belongs to them.
 */
export const service = sharedService();
export const { table } = service;
/** The ids of the demo data's identities by their slugs. */
export const identities = service.ready.identities as Record<string, string>;

type Send = (path: string, rest?: Omit<ApiCall, 'path' | 'key'>) => Promise<ApiAnswer>;

/** A signed-in account with a license and a key of it. */
export interface Account extends Granted {
  session: string;
  byKey: Send;
  bySession: Send;
  /** POST /generate of the smallest picture by aurora, with what a test wants different. */
  generate(body?: object, headers?: Record<string, string>): Promise<ApiAnswer>;
  /** The same in the playground. */
  play(body?: object, headers?: Record<string, string>): Promise<ApiAnswer>;
  /** A stored request, as the key sees it. */
  stored(requestId: string): Promise<any>;
  /** Calls an agent's tool. */
  tool(name: string, sent?: object): Promise<any>;
  periodTotals(): Promise<{ used: number; committed: number }>;
  /** Nothing is held, and so much is charged. */
  expectCharged(credits: number): Promise<void>;
}

/** An account of a test's own, so that no test meets another's rate limit or credits. */
export async function newAccount(
  options: Parameters<typeof grant>[1] = {},
  of: Service = service,
): Promise<Account> {
  const granted = await grant(of.table, options);
  const { key, license } = granted;
  const session = await sessionOf(of.dataDir, { sub: license.ownerId });
  const identityId = of.ready.identities.aurora;
  const bySession: Send = (path, rest) => of.api({ path, key: session, ...rest });
  return {
    ...granted,
    session,
    byKey: (path, rest) => of.api({ path, key, ...rest }),
    bySession,
    generate: (body, headers) => generate(of, key, { identityId, ...body }, headers),
    play: (changes, headers = {}) => {
      const body = { ...small, identityId, licenseId: license.licenseId, ...changes };
      return bySession('/playground/generate', { body, headers });
    },
    stored: (requestId) => stored(of, key, requestId),
    tool: (name, sent) => callTool(of, key, name, sent),
    periodTotals: () => periodTotals(of.table, license),
    expectCharged: (credits) => expectCharged(of.table, license, credits),
  };
}
