import { accountDirectory } from '../shared/adapters/account-directory.ts';
import { mailer } from '../shared/adapters/mailer.ts';
import { lazy } from '../shared/runtime/lazy.ts';
import { loggableError } from '../shared/runtime/log.ts';
import { embeddedMetrics, recordingMeter } from '../shared/runtime/meter.ts';
import { openRuntime } from '../shared/runtime/runtime.ts';
import { accountStore } from '../shared/store/account-store.ts';
import { licenseStore } from '../shared/store/license-store.ts';
import { noticeStore } from '../shared/store/notice-store.ts';
import { periodStore } from '../shared/store/period-store.ts';
import { sendNotices } from '../shared/workflow/send-notices.ts';

const runtime = lazy(openRuntime);

/** Each minute: tells owners by e-mail that 80 or 100% of their credits are used. */
export async function handler(): Promise<void> {
  const { env, table, clock, log } = runtime();
  const { from, ...links } = env.mail;
  const result = await sendNotices({
    notices: noticeStore(table()),
    licenses: licenseStore(table()),
    periods: periodStore(table()),
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
