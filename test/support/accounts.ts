import { grant, type Granted } from './grants.ts';
import type { ApiAnswer, ApiCall } from './service.ts';
import { sessionOf } from './sessions.ts';
import type { SharedService } from './use-service.ts';

/** A signed-in account with a license and a key of it. */
export interface Account extends Granted {
  session: string;
  /** Sends a request with the session. */
  bySession(path: string, rest?: Omit<ApiCall, 'path' | 'key'>): Promise<ApiAnswer>;
}

/** An account of a test's own, so that no test meets another's rate limit or credits. */
export async function newAccount(
  service: Pick<SharedService, 'api' | 'dataDir' | 'table'>,
  options: Parameters<typeof grant>[1] = {},
): Promise<Account> {
  const granted = await grant(service.table, options);
  const session = await sessionOf(service.dataDir, { sub: granted.license.ownerId });
  return { ...granted, session, bySession: (path, rest) => service.api({ path, key: session, ...rest }) };
}
