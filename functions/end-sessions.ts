import { accountStore } from '../shared/accounts/store.ts';
import { sessionsEnd } from '../shared/accounts/contract.ts';
import { lazy } from '../shared/base/lazy.ts';
import { openRuntime } from '../shared/http/runtime.ts';

const runtime = lazy(openRuntime);

/** Ends an account's sessions where Cognito has ended or disabled it, as CloudTrail says. Lambda tries this again when it fails. */
export async function handler(event: unknown): Promise<void> {
  const { table, log } = runtime();
  const parsed = sessionsEnd.safeParse(event);
  // Another try would find the same.
  if (!parsed.success) return log.error('not an end of sessions', {});
  const { eventName, eventTime, additionalEventData } = parsed.data.detail;
  const { sub: ownerId } = additionalEventData;
  await accountStore(table()).endSessions(ownerId, Date.parse(eventTime));
  log.info('sessions ended', { ownerId, by: eventName });
}
