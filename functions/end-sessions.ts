import { accountStore } from '../shared/accounts/store.ts';
import { sessionsEnd } from '../shared/accounts/contract.ts';
import { lazy } from '../shared/base/lazy.ts';
import { openRuntime } from '../shared/http/runtime.ts';

const runtime = lazy(openRuntime);

/** Ends an account's sessions where Cognito has ended or disabled it, as CloudTrail says. What fails, or names no account, waits in the dead-letter queue. */
export async function handler(event: unknown): Promise<void> {
  const { table, log } = runtime();
  const { eventName, eventTime, additionalEventData } = sessionsEnd.parse(event).detail;
  const { sub: ownerId } = additionalEventData;
  await accountStore(table()).endSessions(ownerId, Date.parse(eventTime));
  log.info('sessions ended', { ownerId, by: eventName });
}
