import { Stack } from 'aws-cdk-lib/core';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { environmentVariables as names } from '../../shared/base/config.ts';
import { jobs } from '../../shared/routes/jobs.ts';
import { mailIdentities, type Configuration } from '../configuration.ts';
import { JobSchedule } from './job-schedule.ts';
import { graph, hour, period, serviceMetrics, window } from './monitoring/metrics.ts';
import {
  deadLettersIn,
  failuresOf,
  type AlarmRow,
  type Watched,
  type Widgets,
} from './monitoring/watched.ts';
import type { ServiceFunction } from './service-function.ts';

export interface CreditMailsProps extends Pick<Configuration, 'billingPortalUrl' | 'supportContact'> {
  readonly fn: ServiceFunction;
  readonly mail: NonNullable<Configuration['mail']>;
  /** Every e-mail links to it. */
  readonly dashboardOrigin: string;
}

/** Starts the job that sends the owners of licenses e-mails about used credits, from an address that the operator has verified in SES. */
export class CreditMails extends JobSchedule implements Watched {
  constructor(scope: Construct, id: string, props: CreditMailsProps) {
    const { fn, mail, dashboardOrigin, billingPortalUrl, supportContact } = props;
    const { everyMinutes } = jobs.sendNotices.trigger;
    const does = 'Tells the owners of licenses by e-mail what is used of their credits';
    super(scope, id, { fn, everyMinutes, does });
    fn.setVariable(names.mailFrom, mail.from);
    fn.setVariable(names.dashboardUrl, `${dashboardOrigin}/`);
    fn.setVariable(names.billingPortalUrl, billingPortalUrl ?? '');
    fn.setVariable(names.supportContact, supportContact ?? '');
    const resources = mailIdentities(mail.from).map((resourceName) =>
      Stack.of(this).formatArn({ service: 'ses', resource: 'identity', resourceName }),
    );
    fn.addToRolePolicy(new PolicyStatement({ actions: ['ses:SendEmail'], resources }));
  }

  get alarms(): AlarmRow[] {
    const row = { capability: 'mail', severity: 'warning' } as const;
    return [
      {
        ...row,
        id: 'notices-failing',
        means: 'E-mails about used credits cannot be sent and are tried again.',
        metric: serviceMetrics(this).of('noticeFailures', { period: window }),
        threshold: 3,
      },
      {
        ...row,
        id: 'notices-errors',
        means: 'The function that sends e-mails about used credits fails.',
        ...failuresOf(this.fn),
      },
      {
        ...row,
        id: 'mail-bounces',
        means:
          'Of the e-mails that the account sends, 5% bounce: AWS looks into it, and pauses sending at 10%.',
        metric: reputation('BounceRate'),
        threshold: 0.05,
      },
      {
        ...row,
        id: 'mail-complaints',
        means:
          'One of 1000 who get e-mails of the account complains: AWS looks into it, and pauses sending at 5.',
        metric: reputation('ComplaintRate'),
        threshold: 0.001,
      },
      {
        ...row,
        id: 'notices-dead-letters',
        means: 'Failed runs of the function that sends e-mails are waiting to be looked at.',
        ...deadLettersIn(this.deadLetterQueue),
      },
    ];
  }

  get widgets(): Widgets {
    const metrics = serviceMetrics(this);
    const sent = metrics.of('noticesSent', { label: 'sent', period });
    const failures = metrics.of('noticeFailures', { label: 'not sent', period });
    return { generations: [graph('E-mails', [sent, failures])] };
  }
}

/** Of all that the account sends in the region: AWS, "Creating reputation monitoring alarms". A share, from 0 to 1. */
function reputation(metricName: string): Metric {
  return new Metric({
    namespace: 'AWS/SES',
    metricName: `Reputation.${metricName}`,
    statistic: Stats.MAXIMUM,
    period: hour,
  });
}
