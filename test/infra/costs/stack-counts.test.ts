import { expect, test } from '@jest/globals';
import { countTemplate } from '../../../bin/costs/stack-counts.ts';
import { errorCodes } from '../../../shared/errors.ts';

const stage = {
  MethodSettings: [{ MetricsEnabled: true }],
  AccessLogSetting: { Format: '{"status":"$context.status"}' },
};

function count(
  resources: [type: string, properties: object][],
  { withBilling = false, stageOf = stage } = {},
) {
  const always: [string, object][] = [
    ['AWS::ApiGateway::Stage', stageOf],
    ['AWS::Lambda::Function', { MemorySize: 128 }],
    ['AWS::Lambda::Function', { Description: 'Sample: sweep', MemorySize: 256 }],
    ['AWS::Lambda::Function', { Description: 'Sample: create-generation', MemorySize: 512 }],
  ];
  return countTemplate(
    [...always, ...resources].map(([Type, Properties]) => ({ Type, Properties })),
    withBilling,
  );
}

test('an alarm on an expression counts each metric in it, and no expression', () => {
  const stat = { MetricStat: {} };
  const alarms: [string, object][] = [
    ['AWS::CloudWatch::Alarm', { MetricName: 'Errors' }],
    ['AWS::CloudWatch::Alarm', { Metrics: [stat, stat, { Expression: 'm1 / m2' }] }],
  ];
  expect(count(alarms).alarmMetrics).toBe(3);
});

test('the memory is that of the functions that generate', () => {
  expect(count([]).memoryMb).toBe(512);
});

test('copies of the table are counted by how long they are kept and how often they are made', () => {
  const plan = (ScheduleExpression: string, DeleteAfterDays: number): [string, object] => [
    'AWS::Backup::BackupPlan',
    { BackupPlan: { BackupPlanRule: [{ ScheduleExpression, Lifecycle: { DeleteAfterDays } }] } },
  ];
  expect(count([plan('cron(0 3 * * ? *)', 35)]).backupCopies).toBe(35);
  expect(count([plan('cron(0 4 1 * ? *)', 365)]).backupCopies).toBe(12);
  expect(() => count([plan('cron(0 4 ? * MON *)', 30)])).toThrow('How often');
});

test('a schedule runs as often as it says', () => {
  const schedule = (rate: string): [string, object] => [
    'AWS::Scheduler::Schedule',
    { ScheduleExpression: rate },
  ];
  expect(count([schedule('rate(1 minute)')]).scheduledRuns).toBe(43_800);
  expect(count([schedule('rate(5 minutes)')]).scheduledRuns).toBe(8760);
  expect(() => count([schedule('rate(1 day)')])).toThrow('How often');
});

test('the metrics are one for each that has no second dimension, and one for each error code', () => {
  const codes = Object.keys(errorCodes).length;
  expect(count([]).customMetrics).toBe(11 + codes);
  expect(count([], { withBilling: true }).customMetrics).toBe(11 + codes + 4);
});

test('rules are those of all web ACLs', () => {
  expect(count([['AWS::WAFv2::WebACL', { Rules: [{}, {}, {}] }]])).toMatchObject({
    firewallAcls: 1,
    firewallRules: 3,
  });
});
