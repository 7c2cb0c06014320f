import { expect, test } from '@jest/globals';
import { countTemplate } from '../../../bin/costs/stack-counts.ts';
import { readConfiguration } from '../../../lib/configuration.ts';
import { errorCodes } from '../../../shared/base/errors.ts';

const stage = {
  MethodSettings: [{ MetricsEnabled: true }],
  AccessLogSetting: { Format: '{"status":"$context.status"}' },
};

function count(
  resources: [type: string, properties: object][],
  options: { mail?: object; billing?: object } = {},
) {
  const always: [string, object][] = [
    ['AWS::ApiGateway::Stage', stage],
    ['AWS::Lambda::Function', { MemorySize: 128 }],
    ['AWS::Lambda::Function', { Description: 'Sample: sweep', MemorySize: 256 }],
    ['AWS::Lambda::Function', { Description: 'Sample: create-generation', MemorySize: 512 }],
    ['AWS::Lambda::Function', { Description: 'Sample: run-generation', MemorySize: 384 }],
  ];
  return countTemplate(
    [...always, ...resources].map(([Type, Properties]) => ({ Type, Properties })),
    readConfiguration(options, 'The options'),
  );
}

test('an alarm with an expression counts each of its metrics, but not the expression', () => {
  const stat = { MetricStat: {} };
  const alarms: [string, object][] = [
    ['AWS::CloudWatch::Alarm', { MetricName: 'Errors' }],
    ['AWS::CloudWatch::Alarm', { Metrics: [stat, stat, { Expression: 'm1 / m2' }] }],
  ];
  expect(count(alarms).alarmMetrics).toBe(3);
});

test('the memory is that of the function that generates, and that of the worker', () => {
  expect(count([])).toMatchObject({ memoryMb: 512, workerMemoryMb: 384 });
});

test('backup copies are counted by their retention and their schedule', () => {
  const plan = (ScheduleExpression: string, DeleteAfterDays: number): [string, object] => [
    'AWS::Backup::BackupPlan',
    { BackupPlan: { BackupPlanRule: [{ ScheduleExpression, Lifecycle: { DeleteAfterDays } }] } },
  ];
  expect(count([plan('cron(0 3 * * ? *)', 35)]).backupCopies).toBe(35);
  expect(count([plan('cron(0 4 1 * ? *)', 365)]).backupCopies).toBe(12);
  expect(() => count([plan('cron(0 4 ? * MON *)', 30)])).toThrow('How often');
});

test('runs of a schedule are counted by its rate', () => {
  const schedule = (rate: string): [string, object] => [
    'AWS::Scheduler::Schedule',
    { ScheduleExpression: rate },
  ];
  expect(count([schedule('rate(1 minute)')]).scheduledRuns).toBe(43_800);
  expect(count([schedule('rate(5 minutes)')]).scheduledRuns).toBe(8760);
  expect(() => count([schedule('rate(1 day)')])).toThrow('How often');
});

test('a metric counts once, or once for each value of its second dimension', () => {
  const codes = Object.keys(errorCodes).length;
  expect(count([]).customMetrics).toBe(12 + codes);
});

test('what only e-mails or billing events count is no metric where there are none', () => {
  const { customMetrics } = count([]);
  expect(count([], { mail: { from: 'no-reply@example.com' } }).customMetrics).toBe(customMetrics + 2);
  const billing = {
    eventBusName: 'aws.partner/stripe.com/ed_1',
    prices: { price_1: { tier: 'pro' } },
  };
  expect(count([], { billing }).customMetrics).toBe(customMetrics + 5);
});

test('the rules of all web ACLs are counted', () => {
  expect(count([['AWS::WAFv2::WebACL', { Rules: [{}, {}, {}] }]])).toMatchObject({
    firewallAcls: 1,
    firewallRules: 3,
  });
});
