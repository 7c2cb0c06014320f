import { accountDirectory } from '../shared/accounts/directory.ts';
import { mailer } from '../shared/accounts/mailer.ts';
import { lazy } from '../shared/base/lazy.ts';
import { loggableError } from '../shared/base/log.ts';
import { embeddedMetrics, recordingMeter } from '../shared/base/meter.ts';
import { openRuntime } from '../shared/http/runtime.ts';
import { apiKeyStore } from '../shared/keys/store.ts';
import { accountStore } from '../shared/accounts/store.ts';
import { licenseStore } from '../shared/licenses/store.ts';
import { notificationStore } from '../shared/licenses/notification-store.ts';
import { periodStore } from '../shared/licenses/period-store.ts';
import { sendNotifications } from '../shared/licenses/send-notifications.ts';

const runtime = lazy(openRuntime);

/** Each minute: notifies owners by e-mail that 80 or 100% of their credits are used. */
export async function handler(): Promise<void> {
  const { env, table, clock, log } = runtime();
  const { from, ...links } = env.mail;
  const result = await sendNotifications({
    notifications: notificationStore(table()),
    licenses: licenseStore(table()),
    periods: periodStore(table()),
    apiKeys: apiKeyStore(table()),
    accounts: accountStore(table()),
    directory: accountDirectory(env.userPoolId, env.cognitoUrl),
    mailer: mailer(from, env.sesUrl),
    links,
    clock,
    logFault: (licenseId, what, error) => log.error(what, { licenseId, causes: loggableError(error) }),
  });
  const meter = recordingMeter();
  meter.add('noticesSent', result.sent);
  meter.add('noticeFailures', result.failed + result.lost);
  log.info('notices', { ...result, ...embeddedMetrics(meter, env.serviceName).metrics });
}
