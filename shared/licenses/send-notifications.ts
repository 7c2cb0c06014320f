import type { AccountDirectory } from '../accounts/directory.ts';
import { MailRefused, type Mailer } from '../accounts/mailer.ts';
import type { Clock } from '../base/clock.ts';
import { accountPage, creditMail } from './notification-mail.ts';
import { isOvertaken, reachedAt, type CreditNotification } from './notifications.ts';
import { creditPeriod } from './credit-period.ts';
import { licenseNames } from './names.ts';
import { tiers } from './tiers.ts';
import type { AccountStore } from '../accounts/store.ts';
import type { LicenseStore } from './store.ts';
import type { NotificationStore } from './notification-store.ts';
import type { PeriodStore } from './period-store.ts';
import { keysThatUsedMost, usageByKey, type NamesInUse } from './usage.ts';
import { isKeyId } from '../base/ids.ts';

export interface NotificationDeps {
  notifications: NotificationStore;
  licenses: Pick<LicenseStore, 'get' | 'listByOwner'>;
  periods: Pick<PeriodStore, 'get' | 'extraLeft'>;
  apiKeys: { getMany(keyIds: string[]): Promise<NamesInUse['keys']> };
  accounts: Pick<AccountStore, 'get'>;
  directory: Pick<AccountDirectory, 'bySub'>;
  mailer: Mailer;
  /** What every mail links to. */
  links: { dashboardUrl: string; billingPortalUrl: string | null; supportContact: string | null };
  clock: Clock;
  /** Logs a cause without an address. */
  logFault(licenseId: string, what: string, error: unknown): void;
}

export interface NotificationResult {
  sent: number;
  /** Nobody is to be notified any more. */
  dropped: number;
  /** They are tried again. */
  failed: number;
  /** Refused so often that they are given up. */
  lost: number;
}

/** Longer than sending one may take. */
const leaseMs = 2 * 60_000;
/** A refused mail is tried for about five hours, in which the operator may mend what is wrong. */
const maxTries = 10;
const longestPauseMs = 60 * 60_000;

/**
 * Sends every notification that waits. It may send one twice, when it dies between SES's answer and the removal, and never
 * sends none. Two runs at once are harmless.
 */
export async function sendNotifications(deps: NotificationDeps): Promise<NotificationResult> {
  const result = { sent: 0, dropped: 0, failed: 0, lost: 0 };
  for (const notification of await deps.notifications.listWaiting(deps.clock.now())) {
    const nowMs = deps.clock.now();
    const tries = await deps.notifications.claim(notification, nowMs, nowMs + leaseMs);
    if (tries === null) continue;
    result[await handle(notification, tries, deps)] += 1;
  }
  return result;
}

async function handle(
  notification: CreditNotification,
  tries: number,
  deps: NotificationDeps,
): Promise<keyof NotificationResult> {
  const { notifications, clock, logFault } = deps;
  try {
    const outcome = (await sendNotification(notification, deps)) ? 'sent' : 'dropped';
    await notifications.remove(notification);
    return outcome;
  } catch (error) {
    logFault(notification.licenseId, 'a notification was not sent', error);
    if (error instanceof MailRefused && tries >= maxTries) {
      await notifications.remove(notification);
      return 'lost';
    }
    // If this fails, the lease holds it back.
    const pauseMs = Math.min(longestPauseMs, 2 ** tries * 60_000);
    await notifications.postpone(notification, clock.now() + pauseMs).catch(() => {});
    return 'failed';
  }
}

/** @returns false when nobody is to be notified: see decision 0046. */
async function sendNotification(notification: CreditNotification, deps: NotificationDeps): Promise<boolean> {
  const license = await deps.licenses.get(notification.licenseId);
  if (license === null || license.status === 'ended') return false;
  const { startMs, endMs, creditsLimit } = creditPeriod(license, deps.clock.now());
  if (startMs !== notification.periodStartMs) return false;
  // Both are of one instant: a charge that reaches the next part writes them together.
  const { used, notified, byKey } = await deps.periods.get(notification.licenseId, startMs);
  // The limit may have been raised meanwhile.
  if (used < reachedAt(notification.percent, creditsLimit)) return false;
  if (isOvertaken(notification, used, creditsLimit, notified)) return false;
  if (!(await deps.accounts.get(license.ownerId)).creditMails) return false;
  const names = licenseNames(await deps.licenses.listByOwner(license.ownerId));
  const owner = await deps.directory.bySub(license.ownerId);
  if (owner === null || owner.email === null || !owner.emailVerified || !owner.enabled) return false;
  const { percent, licenseId } = notification;
  const licenseName = names.get(licenseId) ?? tiers[license.tier].label;
  const most = keysThatUsedMost({ byKey });
  const named = usageByKey(byKey, await deps.apiKeys.getMany(most.filter(isKeyId)));
  const keys = most.map((keyId) => named[keyId]!);
  const extra = await deps.periods.extraLeft(license, deps.clock.now());
  const credits = { used, creditsLimit, extraRemaining: extra?.remaining ?? 0, keys };
  const mail = { percent, ...credits, resetsAtMs: endMs, licenseName, licenseId, ...deps.links };
  const unsubscribeUrl = accountPage(deps.links.dashboardUrl);
  await deps.mailer.send({ to: owner.email, ...creditMail(mail), unsubscribeUrl });
  return true;
}
