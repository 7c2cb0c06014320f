import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib/core';
import type { Configuration } from '../../lib/configuration.ts';
import { addService } from '../../lib/service-app.ts';
import { errorCodes } from '../../shared/base/errors.ts';
import { metricTable, type Metric, type MetricName } from '../../shared/base/metrics.ts';
import { accessLogBytes } from './counted.ts';
import { daysPerMonth, hoursPerMonth } from './workload.ts';

/** Counts of what costs something each month, from the templates. */
export interface StackCounts {
  /** Of the functions that generate. */
  memoryMb: number;
  /** Of the one that runs what nobody waits for on the line. */
  workerMemoryMb: number;
  firewallAcls: number;
  firewallRules: number;
  /** The service's own metrics, counted with every possible value of their second dimension. */
  customMetrics: number;
  /** An alarm on an expression counts each metric in it. */
  alarmMetrics: number;
  dashboards: number;
  keys: number;
  /** Copies of the table that are kept at any time. */
  backupCopies: number;
  scheduledRuns: number;
  polledQueues: number;
  accessLogBytes: number;
}

type Resource = { Type: string; Properties: any };

/** Synthesizes with placeholders for the functions' code, the dashboard and the model's image, which cost nothing here. */
export function countStack(configuration: Configuration): StackCounts {
  const folder = mkdtempSync(join(tmpdir(), 'image-generation-costs-'));
  try {
    const dashboardFolder = join(folder, 'dashboard');
    for (const name of ['assets', 'packages']) mkdirSync(join(dashboardFolder, name), { recursive: true });
    writeFileSync(join(dashboardFolder, 'index.html'), '');
    const app = new App({
      outdir: join(folder, 'out'),
      context: { 'aws:cdk:bundling-stacks': [] },
      // It takes seconds, and a synthesis for a deployment does it.
      builtinCloudFormationValidation: false,
    });
    addService(app, { configuration: withSampleImage(configuration), dashboardFolder, checked: false });
    const resources = app
      .synth()
      .stacks.flatMap(({ template }) => Object.values<Resource>(template.Resources));
    return countTemplate(resources, configuration);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function withSampleImage(configuration: Configuration): Configuration {
  const { inference } = configuration;
  if (inference.kind !== 'endpoint') return configuration;
  const image = { uri: '111122223333.dkr.ecr.us-east-1.amazonaws.com/model:1' };
  return { ...configuration, inference: { ...inference, image } };
}

export function countTemplate(
  resources: Resource[],
  options: Pick<Configuration, 'billing' | 'mail'>,
): StackCounts {
  const all = (type: string) =>
    resources.filter((resource) => resource.Type === type).map(({ Properties }) => Properties);
  const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);
  const [stage] = all('AWS::ApiGateway::Stage');
  const memoryOf = (name: string): number =>
    all('AWS::Lambda::Function').find(({ Description }) => String(Description).endsWith(`: ${name}`))
      .MemorySize;
  const webAcls = all('AWS::WAFv2::WebACL');
  return {
    memoryMb: memoryOf('create-generation'),
    workerMemoryMb: memoryOf('run-generation'),
    firewallAcls: webAcls.length,
    firewallRules: sum(webAcls.map(({ Rules }) => Rules.length)),
    customMetrics: customMetrics(options),
    alarmMetrics: sum(all('AWS::CloudWatch::Alarm').map(metricsOfAlarm)),
    dashboards: all('AWS::CloudWatch::Dashboard').length,
    keys: all('AWS::KMS::Key').length,
    backupCopies: sum(all('AWS::Backup::BackupPlan').map(copiesOf)),
    scheduledRuns: sum(all('AWS::Scheduler::Schedule').map(runsPerMonth)),
    polledQueues: all('AWS::Lambda::EventSourceMapping').length,
    accessLogBytes: accessLogBytes(stage.AccessLogSetting.Format),
  };
}

/** How a billing event may end: see functions/billing-events.ts. */
const billingOutcomes = 5;

/** Only the function that sends e-mails counts these. */
const ofMails: readonly MetricName[] = ['noticesSent', 'noticeFailures'];

function customMetrics({ billing, mail }: Pick<Configuration, 'billing' | 'mail'>): number {
  const series = { code: Object.keys(errorCodes).length, outcome: billing === null ? 0 : billingOutcomes };
  const unused = mail === null ? ofMails.map((name) => metricTable[name].name) : [];
  const metrics: Metric[] = Object.values(metricTable).filter(
    ({ name }) => !(unused as string[]).includes(name),
  );
  return metrics.reduce((total, { by }) => total + (by === undefined ? 1 : series[by]), 0);
}

function metricsOfAlarm({ Metrics: metrics }: any): number {
  return metrics === undefined ? 1 : Math.max(1, metrics.filter((metric: any) => metric.MetricStat).length);
}

function copiesOf({ BackupPlan: plan }: any): number {
  const copies = plan.BackupPlanRule.map(
    ({ ScheduleExpression: schedule, Lifecycle: { DeleteAfterDays } }: any) =>
      Math.ceil(DeleteAfterDays / daysBetween(schedule)),
  );
  return copies.reduce((total: number, count: number) => total + count, 0);
}

/** Runs a month of `cron(minute hour day month weekday year)`; daily and monthly ones only. */
function daysBetween(schedule: string): number {
  const [, , , day] = /^cron\((\S+) (\S+) (\S+) \* \? \*\)$/.exec(schedule) ?? [];
  if (day === '*') return 1;
  if (day !== undefined && /^\d+$/.test(day)) return daysPerMonth;
  throw new Error(`How often is ${schedule}?`);
}

function runsPerMonth({ ScheduleExpression: schedule }: any): number {
  const [, minutes] = /^rate\((\d+) minutes?\)$/.exec(schedule) ?? [];
  if (minutes === undefined) throw new Error(`How often is ${schedule}?`);
  return (hoursPerMonth * 60) / Number(minutes);
}
