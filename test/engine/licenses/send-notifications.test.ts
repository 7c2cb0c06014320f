import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { MailRefused, type Mail } from '../../../shared/accounts/mailer.ts';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { CreditNotification } from '../../../shared/licenses/notifications.ts';
import { creditPeriod } from '../../../shared/licenses/credit-period.ts';
import { newId } from '../../../shared/base/ids.ts';
import type { License } from '../../../shared/licenses/license.ts';
import { accountStore, type AccountStore } from '../../../shared/accounts/store.ts';
import { apiKeyStore } from '../../../shared/keys/store.ts';
import { licenseStore } from '../../../shared/licenses/store.ts';
import { notificationStore } from '../../../shared/licenses/notification-store.ts';
import { periodStore } from '../../../shared/licenses/period-store.ts';
import { itemKeys } from '../../../shared/table/keys.ts';
import { sendNotifications, type NotificationDeps } from '../../../shared/licenses/send-notifications.ts';
import { sampleLicense } from '../../support/unit-samples.ts';
import { chargesIn } from '../generations/charges.ts';
import { useTable } from '../generations/use-engines.ts';

const fixture = useTable();
const links = { dashboardUrl: 'https://d.test/', billingPortalUrl: null, supportContact: null };
const minuteMs = 60_000;
const start = Date.UTC(2026, 4, 17, 12);
const nothing = { sent: 0, dropped: 0, failed: 0, lost: 0 };

let nowMs = start;
let deps: NotificationDeps;
let accounts: AccountStore;
let sent: Mail[] = [];
const ada = {
  email: 'ada@example.com' as string | null,
  emailVerified: true,
  enabled: true,
  status: 'CONFIRMED',
  createdAtMs: 0,
};
let account: typeof ada & { sub?: string };
let failures: Error[] = [];
let faults: string[] = [];

beforeAll(() => {
  accounts = accountStore(fixture.table);
  deps = {
    notifications: notificationStore(fixture.table),
    licenses: licenseStore(fixture.table),
    periods: periodStore(fixture.table),
    apiKeys: apiKeyStore(fixture.table),
    accounts,
    directory: { bySub: async (sub) => (account.sub === 'gone' ? null : { ...account, sub }) },
    mailer: {
      send: async (mail) => {
        const failure = failures.shift();
        if (failure) throw failure;
        sent.push(mail);
      },
    },
    links,
    clock: { now: () => nowMs, timeout: () => new AbortController().signal },
    logFault: (_licenseId, what) => void faults.push(what),
  };
});
beforeEach(async () => {
  // What an earlier test left is sent or dropped.
  failures = [];
  nowMs += 24 * 60 * minuteMs;
  await sendNotifications(deps);
  nowMs = start;
  [sent, faults] = [[], []];
  account = ada;
});

/** A notification of 80% of a license that has used as much. */
async function waiting(changes: Partial<License> = {}, periodStartMs: number | null = null) {
  const licenseId = newId('license');
  const license = { ...sampleLicense, licenseId, ownerId: newId('license'), creditsLimit: 100, ...changes };
  await licenseStore(fixture.table).insert(license);
  const { startMs } = creditPeriod(license, start);
  await periodStore(fixture.table).importUsage(licenseId, startMs, 80);
  const notification = { licenseId, periodStartMs: periodStartMs ?? startMs, percent: 80 } as const;
  await put(notification);
  return { license, notification };
}

const put = (notification: CreditNotification) =>
  fixture.table.documents.send(
    new PutCommand({
      TableName: fixture.table.name,
      Item: { ...itemKeys.notification(notification), ...notification },
    }),
  );

describe('a notification', () => {
  test('is sent once, also by two runs at once, to the owner, with what is used', async () => {
    const { license } = await waiting({ givenName: 'Atelier' });
    const runs = await Promise.all([sendNotifications(deps), sendNotifications(deps)]);
    expect(runs.map((run) => run.sent).sort()).toEqual([0, 1]);
    expect(await sendNotifications(deps)).toEqual(nothing);
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({ to: 'ada@example.com', unsubscribeUrl: 'https://d.test/account' });
    expect(sent[0]!.subject).toBe('80% of the credits of Atelier are used');
    expect(sent[0]!.text).toContain('80 of the 100 credits');
    expect((await accounts.get(license.ownerId)).creditMails).toBe(true);
  });

  test('names the keys that used most, and not those that used nothing', async () => {
    const { license } = await waiting({ creditsLimit: 90 });
    const charges = chargesIn(fixture.table);
    await charges.charge(license.licenseId, 90, 2);
    expect(await sendNotifications(deps)).toEqual({ ...nothing, sent: 1 });
    expect(sent[0]!.text).toContain('Most were used by removed key (2).');
  });

  test('of a run that died after it was taken is sent after its lease', async () => {
    const { notification } = await waiting();
    await deps.notifications.claim(notification, nowMs, nowMs + 2 * minuteMs);
    expect(await sendNotifications(deps)).toEqual(nothing);
    nowMs += 2 * minuteMs;
    expect(await sendNotifications(deps)).toEqual({ ...nothing, sent: 1 });
  });

  test('that was sent but not removed is sent again: twice, never not at all', async () => {
    const { notification } = await waiting();
    const remove = deps.notifications.remove;
    deps.notifications = { ...deps.notifications, remove: async () => Promise.reject(new Error('died')) };
    await sendNotifications(deps);
    deps.notifications = { ...deps.notifications, remove };
    nowMs += 60 * minuteMs;
    expect(await sendNotifications(deps)).toEqual({ ...nothing, sent: 1 });
    expect(sent).toHaveLength(2);
    expect(await deps.notifications.claim(notification, nowMs, nowMs)).toBeNull();
  });

  test('whose mail is throttled waits, ever longer, and is sent in the end', async () => {
    await waiting();
    failures = Array.from({ length: 12 }, () => new Error('SES answered with status 429'));
    for (let i = 0; i < 12; i++) {
      expect(await sendNotifications(deps)).toEqual({ ...nothing, failed: 1 });
      // Of an hour at most, which is reached after six.
      nowMs += i < 6 ? 0 : 59 * minuteMs;
      expect(await sendNotifications(deps)).toEqual(nothing);
      nowMs += i < 6 ? 60 * minuteMs : minuteMs;
    }
    expect(await sendNotifications(deps)).toEqual({ ...nothing, sent: 1 });
    expect(faults).toEqual(Array(12).fill('a notification was not sent'));
  });

  test('whose mail is refused ten times is given up', async () => {
    await waiting();
    failures = Array.from({ length: 10 }, () => new MailRefused('SES answered with status 400'));
    const failed = Array.from({ length: 9 }, () => ({ ...nothing, failed: 1 }));
    for (const result of [...failed, { ...nothing, lost: 1 }, nothing]) {
      expect(await sendNotifications(deps)).toEqual(result);
      nowMs += 60 * minuteMs;
    }
  });
});

describe('nobody is notified', () => {
  const dropped = { ...nothing, dropped: 1 };

  test('who has switched it off', async () => {
    const { license } = await waiting();
    await accounts.set(license.ownerId, { creditMails: false });
    expect(await sendNotifications(deps)).toEqual(dropped);
  });

  test.each([
    ['without an address', { email: null }],
    ['with an address that is not confirmed', { emailVerified: false }],
    ['whose account is disabled', { enabled: false }],
    ['who has no account any more', { sub: 'gone' }],
  ])('%s', async (_, changes) => {
    await waiting();
    account = { ...account, ...changes };
    expect(await sendNotifications(deps)).toEqual(dropped);
  });

  test('of a license that has ended, or of none', async () => {
    await waiting({ status: 'ended' });
    await put({ licenseId: newId('license'), periodStartMs: 0, percent: 80 });
    expect(await sendNotifications(deps)).toEqual({ ...nothing, dropped: 2 });
  });

  test.each([
    ['of a period that is over', {}, Date.UTC(2026, 0, 1)],
    ['once the limit was raised above it', { creditsLimit: 101 }, null],
  ])('%s', async (_, changes, periodStartMs) => {
    await waiting(changes, periodStartMs);
    expect(await sendNotifications(deps)).toEqual(dropped);
  });
});

describe('of 80 and 100% that are reached before anybody was notified', () => {
  const onlyOne = { ...nothing, sent: 1, dropped: 1 };
  const subjects = () => sent.map(({ subject }) => subject);

  /** A license whose charges have left both notifications, each in its own transaction. */
  async function bothWait(): Promise<License> {
    const ids = { licenseId: newId('license'), ownerId: newId('license') };
    const license = { ...sampleLicense, ...ids, creditsLimit: 10 };
    await licenseStore(fixture.table).insert(license);
    for (const credits of [8, 2]) await chargesIn(fixture.table).charge(license.licenseId, 10, credits);
    return license;
  }

  test('the owner is notified of 100% only, and of no threshold again', async () => {
    const { licenseId } = await bothWait();
    expect(await sendNotifications(deps)).toEqual(onlyOne);
    expect(subjects()).toEqual(['All credits of Pro are used']);
    expect(sent[0]!.text).toContain('10 of the 10 credits');
    await chargesIn(fixture.table).charge(licenseId, 100, 75);
    expect(await sendNotifications(deps)).toEqual(nothing);
  });

  test('the owner is notified of 100% only, also where that must wait', async () => {
    await bothWait();
    failures = [new Error('SES answered with status 429')];
    expect(await sendNotifications(deps)).toEqual({ ...nothing, failed: 1, dropped: 1 });
    nowMs += 60 * minuteMs;
    expect(await sendNotifications(deps)).toEqual({ ...nothing, sent: 1 });
    expect(subjects()).toEqual(['All credits of Pro are used']);
  });

  test('a run that dies before it removes the lower one does not send it later', async () => {
    await bothWait();
    const { notifications } = deps;
    const remove: typeof notifications.remove = async (notification) =>
      notification.percent === 80 ? Promise.reject(new Error('died')) : notifications.remove(notification);
    expect(await sendNotifications({ ...deps, notifications: { ...notifications, remove } })).toMatchObject({
      failed: 1,
    });
    nowMs += 60 * minuteMs;
    expect(await sendNotifications(deps)).toEqual({ ...nothing, dropped: 1 });
    expect(subjects()).toEqual(['All credits of Pro are used']);
  });

  test('the owner is notified of 80% with its own numbers once the limit was raised above 100%', async () => {
    const license = await bothWait();
    await licenseStore(fixture.table).update(license.licenseId, { creditsLimit: 12 });
    expect(await sendNotifications(deps)).toEqual(onlyOne);
    expect(subjects()).toEqual(['80% of the credits of Pro are used']);
    expect(sent[0]!.text).toContain('10 of the 12 credits');
  });
});
