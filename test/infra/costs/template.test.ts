import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { factorsOf, logBytes } from '../../../bin/costs/model.ts';
import { defaultWorkload, hoursPerMonth } from '../../../bin/costs/workload.ts';
import { checksPictures, readConfiguration, type Configuration } from '../../../lib/configuration.ts';
import { errorCodes, isFault, type ErrorCode } from '../../../shared/base/errors.ts';
import { metricTable, type Metric } from '../../../shared/base/metrics.ts';
import { configurations, type ConfigurationName } from '../../support/configurations.ts';
import { templatePathsOf } from '../../support/stack-templates.ts';

const names = Object.keys(configurations) as ConfigurationName[];
const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);

test.each(names)(
  'a deployment has as much of what costs something as bin/costs/model.ts says: %s',
  (name) => {
    const resources = templatePathsOf(name).flatMap((path) =>
      Object.values<any>(JSON.parse(readFileSync(path, 'utf8')).Resources),
    );
    const all = (type: string) => resources.filter(({ Type }) => Type === type).map((one) => one.Properties);
    const memoryOf = (fn: string) =>
      all('AWS::Lambda::Function').find(({ Description }) => String(Description).endsWith(`: ${fn}`))
        .MemorySize;
    const configuration = readConfiguration(configurations[name], name);
    const factors = factorsOf(configuration, { ...defaultWorkload, imageBytes: 1 });
    const polls = all('AWS::Lambda::EventSourceMapping').length * 15 * 60 * hoursPerMonth;
    const acls = all('AWS::WAFv2::WebACL');
    expect(factors).toMatchObject({
      MB: memoryOf('create-generation'),
      'web ACLs': acls.length,
      rules: sum(acls.map(({ Rules }) => Rules.length)),
      metrics: metricsOf(configuration),
      'metrics in alarms': sum(all('AWS::CloudWatch::Alarm').map(metricsOfAlarm)),
      'request metrics':
        11 * sum(all('AWS::S3::Bucket').map((one) => one.MetricsConfigurations?.length ?? 0)),
      dashboard: all('AWS::CloudWatch::Dashboard').length,
      key: all('AWS::KMS::Key').length,
      'copies at any time': sum(all('AWS::Backup::BackupPlan').map(copiesOf)),
      'runs by schedule': sum(all('AWS::Scheduler::Schedule').map(runsPerMonth)),
      'polls of empty queues': polls,
    });
    expect(memoryOf('run-generation')).toBe(factors.MB);
    const [stage] = all('AWS::ApiGateway::Stage');
    expect(accessLogLine(stage.AccessLogSetting.Format)).toHaveLength(logBytes.access);
  },
);

/**
 * With every possible value of their second dimension: a billing event may end in five ways (functions/billing-events.ts), and the
 * check of a prompt in three.
 */
function metricsOf({ mail, billing, moderation, inference }: Configuration): number {
  const outcomes = (billing === null ? 0 : 5) + (moderation.prompt.kind === 'none' ? 0 : 3);
  const { noticesSent, noticeFailures, refusedPictures, ...others } = metricTable;
  const { billingEvents: _, promptChecks: __, ...always } = others;
  const faults = (Object.keys(errorCodes) as ErrorCode[]).filter((code) => isFault(code, null));
  const ofMails = mail === null ? [] : [noticesSent, noticeFailures];
  const ofPictures = checksPictures(inference) ? [refusedPictures] : [];
  const metrics: Metric[] = [...Object.values(always), ...ofMails, ...ofPictures];
  const valuesOf = ({ name, by }: Metric) =>
    name === metricTable.errors.name ? faults.length : by ? Object.keys(errorCodes).length : 1;
  return outcomes + sum(metrics.map(valuesOf));
}

/** An alarm on an expression counts each metric in it, but not the expression. */
function metricsOfAlarm({ Metrics: metrics }: any): number {
  return metrics === undefined ? 1 : metrics.filter((metric: any) => metric.MetricStat).length || 1;
}

function copiesOf({ BackupPlan: plan }: any): number {
  const days = { 'cron(0 3 * * ? *)': 1, 'cron(0 4 1 * ? *)': hoursPerMonth / 24 } as Record<string, number>;
  const rules = plan.BackupPlanRule as {
    ScheduleExpression: string;
    Lifecycle: { DeleteAfterDays: number };
  }[];
  return sum(rules.map((rule) => Math.ceil(rule.Lifecycle.DeleteAfterDays / days[rule.ScheduleExpression]!)));
}

function runsPerMonth({ ScheduleExpression: schedule }: any): number {
  const [, minutes] = /^rate\((\d+) minutes?\)$/.exec(schedule)!;
  return (hoursPerMonth * 60) / Number(minutes);
}

const accessLogSamples: Record<string, string> = {
  requestId: '8f5a0c5e-2f0e-4a53-9d6f-0f2f4c1d7b11',
  requestTimeEpoch: '1795274408786',
  'identity.sourceIp': '203.0.113.217',
  httpMethod: 'POST',
  resourcePath: '/api/v1/generate',
  status: '200',
  'error.responseType': '-',
  'waf.status': '200',
  responseLatency: '12345',
  'integration.latency': '12340',
  'integration.status': '200',
  responseLength: '1204',
};

/** A line of the access log with values of usual lengths. */
function accessLogLine(format: string): string {
  return `${format.replace(/\$context\.([a-zA-Z.]+)/g, (_, field: string) => accessLogSamples[field]!)}\n`;
}
