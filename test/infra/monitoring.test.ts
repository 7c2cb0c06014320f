import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { savedQueries } from '../../lib/constructs/monitoring/saved-queries.ts';
import { errorCodes } from '../../shared/base/errors.ts';
import { metricNamespace, metricTable, serviceDimension, type Metric } from '../../shared/base/metrics.ts';
import { routes } from '../../shared/routes/routes.ts';
import { jobs } from '../../shared/routes/jobs.ts';
import {
  drawnMetrics,
  expressionOf,
  metricsOf,
  monitored,
  searches,
  starts,
  type DrawnMetric,
} from './monitored.ts';
import { allProperties, only, plain, propertiesOf, resourcesOf } from './resources.ts';
import type { ConfigurationName } from '../support/configurations.ts';

const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');
const serviceName = 'image-generation-test';
const everything = monitored('everything');
const sleeping = monitored('sleeping');
const sleepingModel = 'image-generation-night-model-g6-xlarge-zero';
const names = (alarms: Map<string, unknown>) => [...alarms.keys()];
const alarm = (id: string, { alarms } = everything) => alarms.get(id)!;

const allQueries = Object.values(savedQueries).flatMap((queries) => Object.values(queries));

describe('the runbook', () => {
  const [, alarmsPart = ''] = runbook.split('\n## Alarms\n');
  const sections = [...alarmsPart.split('\n## ')[0]!.matchAll(/^### (.+)$/gm)].map(([, title]) => title);
  const anchors = [...everything.alarms.values(), ...sleeping.alarms.values()].map(
    ({ AlarmDescription }) => /docs\/runbook\.md#([a-z-]+)$/.exec(AlarmDescription)?.[1],
  );

  test('has one section for every alarm, and no section without an alarm', () => {
    expect(sections.toSorted()).toEqual([...new Set(anchors)].toSorted());
  });

  test('shows every saved query, word for word', () => {
    for (const query of allQueries) expect(runbook).toContain(`\n${query}\n`);
  });
});

describe("the service's own metrics", () => {
  const table = Object.values(metricTable) as Metric[];
  const ours = ({ namespace }: DrawnMetric) => namespace === metricNamespace;
  const inAlarms = [...everything.alarms.values()].flatMap(metricsOf).filter(ours);
  const onDashboard = drawnMetrics(everything.widgets).filter(ours);
  const searched = searches(everything.widgets).filter((query) => query.includes(`{${metricNamespace},`));

  test('have the dimensions with which the functions report them', () => {
    expect(inAlarms.length).toBeGreaterThan(10);
    for (const { name, dimensions } of [...inAlarms, ...onDashboard]) {
      const { by } = table.find((row) => row.name === name)!;
      expect(Object.keys(dimensions)).toEqual(
        expect.arrayContaining([serviceDimension, ...(by ? [by] : [])]),
      );
      expect(Object.keys(dimensions)).toHaveLength(by ? 2 : 1);
      expect(dimensions[serviceDimension]).toBe(serviceName);
    }
  });

  test('with an error code have codes that exist', () => {
    const codes = inAlarms.flatMap(({ dimensions }) =>
      dimensions.code === undefined ? [] : [dimensions.code],
    );
    expect(codes.length).toBeGreaterThan(0);
    for (const code of codes) expect(Object.keys(errorCodes)).toContain(code);
  });

  test('are all on the dashboard', () => {
    for (const { name, by } of table) {
      const drawn = onDashboard.some((metric) => metric.name === name);
      const found = searched.some((query) => query.includes(`MetricName="${name}"`));
      expect([name, drawn || found]).toEqual([name, true]);
      if (by)
        expect(searched.join()).toContain(
          `{${metricNamespace},${serviceDimension},${by}} MetricName="${name}"`,
        );
    }
  });
});

describe('alarms', () => {
  test('notify the topic when they start, and of nothing else', () => {
    const { id: topicId } = only(everything.template, 'AWS::SNS::Topic');
    for (const properties of everything.alarms.values()) {
      expect(properties.AlarmActions).toEqual([{ Ref: topicId }]);
      expect(properties.OKActions ?? properties.InsufficientDataActions).toBeUndefined();
    }
  });

  test('do not start where nothing happens, except the alarm of the sweep, which must run', () => {
    const missing = names(everything.alarms).filter((id) => alarm(id).TreatMissingData !== 'notBreaching');
    expect(missing).toEqual(['sweep-missing']);
    expect(alarm('sweep-missing').TreatMissingData).toBe('breaching');
    for (const [id, each] of [...everything.alarms, ...sleeping.alarms]) {
      expect([id, expressionOf(each) !== undefined && starts(each, {})]).toEqual([id, false]);
    }
  });

  test("are within CloudWatch's limits: ten metrics, one expression, no search, a day", () => {
    for (const [id, properties] of [...everything.alarms, ...sleeping.alarms]) {
      const { Metrics = [], EvaluationPeriods, DatapointsToAlarm } = properties;
      const stats = Metrics.flatMap(({ MetricStat }) => (MetricStat ? [MetricStat] : []));
      expect([id, stats.length <= 10]).toEqual([id, true]);
      expect(Metrics.length - stats.length).toBeLessThanOrEqual(1);
      expect(expressionOf(properties) ?? '').not.toMatch(/SEARCH|METRICS/);
      const periods = stats.map(({ Period }) => Period);
      expect(new Set(periods).size).toBeLessThanOrEqual(1);
      expect(EvaluationPeriods * (properties.Period ?? periods[0]!)).toBeLessThanOrEqual(86_400);
      expect(DatapointsToAlarm).toBeLessThanOrEqual(EvaluationPeriods);
    }
  });

  test('of functions and latencies watch every function and route', () => {
    const watched = (prefix: string, dimension: string) =>
      names(everything.alarms)
        .filter((id) => id.startsWith(prefix))
        .flatMap((id) => metricsOf(alarm(id)))
        .filter(({ dimensions }) => dimension in dimensions).length;
    const all = Object.values(routes);
    // The worker and what releases its failures crash like those that they work for.
    expect(watched('function-crashes-', 'FunctionName')).toBe(all.length + 2);
    for (const kind of ['throttles', 'slow']) {
      expect(watched(`function-${kind}-`, 'FunctionName')).toBe(all.length);
    }
    expect(watched('api-latency', 'FunctionName')).toBe(all.filter(({ streams }) => !streams).length);
  });

  test.each([
    ['small', 5],
    ['tuned', 270],
  ] as const)('of the configuration "%s" follow its deadline of %i seconds', (name, deadlineSeconds) => {
    const { alarms } = monitored(name);
    expect(alarms.get('generation-queue')!.Threshold).toBe(deadlineSeconds / 2);
    expect(alarms.get('generation-slow')!.Threshold).toBe(deadlineSeconds / 2);
    const slowMs = alarms.get('function-slow-generating')!.Threshold;
    expect(slowMs).toBeGreaterThan(deadlineSeconds * 1000);
    expect(slowMs).toBeLessThan((deadlineSeconds + 30) * 1000);
    expect(alarms.get('function-slow-buffered')!.Threshold).toBe(16_000);
  });

  test('of the throttle start at 80% of the requests of a minute', () => {
    expect(alarm('api-near-throttle', monitored('tuned')).Threshold).toBe(0.8 * 10 * 60);
  });

  test('of the model exist for an endpoint of the stack, and one for its maximum if it scales', () => {
    const of = (name: ConfigurationName) =>
      names(monitored(name).alarms).filter((id) => id.startsWith('model-'));
    expect(of('small')).toContain('model-errors');
    expect(of('small')).not.toContain('model-at-maximum');
    expect(of('sleepingSmall')).toContain('model-not-awake');
    expect(of('sleepingSmall')).not.toContain('model-at-maximum');
    expect([...of('existingEndpoint'), ...of('default')]).toEqual([]);
    expect(alarm('model-at-maximum').Threshold).toBeCloseTo(2, 0);
  });

  test('of a model that may sleep count by its component, and one rings when it does not wake', () => {
    expect(names(everything.alarms)).not.toContain('model-not-awake');
    const component = { InferenceComponentName: { 'Fn::ImportValue': `${sleepingModel}-component` } };
    for (const id of ['model-errors', 'model-at-maximum', 'model-not-awake']) {
      for (const metric of metricsOf(alarm(id, sleeping))) {
        expect(metric).toMatchObject({ namespace: 'AWS/SageMaker', dimensions: component });
      }
    }
    expect(metricsOf(alarm('model-at-maximum', sleeping)).map(({ name }) => name)).toEqual([
      'Invocations',
      'InvocationsPerCopy',
    ]);
    const notAwake = alarm('model-not-awake', sleeping);
    expect(metricsOf(notAwake).map(({ name }) => name)).toEqual(['NoCapacityInvocationFailures']);
    const periods = [notAwake.Period, notAwake.Metrics?.[0]?.MetricStat?.Period];
    expect(periods.find((period) => period !== undefined)).toBe(300);
    expect(notAwake).toMatchObject({
      Threshold: 1,
      EvaluationPeriods: 4,
      DatapointsToAlarm: 4,
      TreatMissingData: 'notBreaching',
    });
    expect(alarm('model-gpu-memory', sleeping).Dimensions).toEqual([
      { Name: 'EndpointName', Value: { 'Fn::ImportValue': `${sleepingModel}-endpoint` } },
      { Name: 'VariantName', Value: 'AllTraffic' },
    ]);
  });

  test('of the sweep are deployed after the schedule and the distribution, when the sweep has run', () => {
    const { template } = everything;
    const [, { DependsOn: after = [] }] = [...resourcesOf(template, 'AWS::CloudWatch::Alarm')].find(
      ([, { Properties }]) => Properties.AlarmName?.endsWith('-sweep-missing'),
    )!;
    const schedules = [...resourcesOf(template, 'AWS::Scheduler::Schedule')].map(([id]) => id);
    expect(after).toContain(schedules.find((id) => id.startsWith('SweepSchedule')));
    expect(after).toContain(only(template, 'AWS::CloudFront::Distribution').id);
  });
});

// Who may publish and who may use the key is in template-summary.txt.
test('the topic is encrypted with its own key, and writes to the address that is configured', () => {
  const { id: keyId, Properties: key } = only(everything.template, 'AWS::KMS::Key');
  expect(key.EnableKeyRotation).toBe(true);
  const { KmsMasterKeyId: used } = propertiesOf(everything.template, 'AWS::SNS::Topic');
  expect(plain(used)).toBe(`<${keyId}.Arn>`);
  const [subscription] = allProperties(everything.template, 'AWS::SNS::Subscription');
  expect(subscription).toMatchObject({ Protocol: 'email', Endpoint: 'operator@example.com' });
  expect(allProperties(monitored('default').template, 'AWS::SNS::Subscription')).toEqual([]);
});

test('the topic hears of a month that costs 80% and 100% of the budget, or is forecast to cost more', () => {
  const { id: topicId } = only(everything.template, 'AWS::SNS::Topic');
  const { Budget: budget, NotificationsWithSubscribers: notices } = propertiesOf(
    everything.template,
    'AWS::Budgets::Budget',
  );
  expect(budget).toEqual({
    BudgetType: 'COST',
    TimeUnit: 'MONTHLY',
    BudgetLimit: { Amount: 2000, Unit: 'USD' },
  });
  expect(notices.map(({ Notification: of }: any) => `${of.NotificationType} ${of.Threshold}`)).toEqual([
    'ACTUAL 80',
    'ACTUAL 100',
    'FORECASTED 100',
  ]);
  for (const { Subscribers } of notices) {
    expect(Subscribers).toEqual([{ SubscriptionType: 'SNS', Address: { Ref: topicId } }]);
  }
  expect(allProperties(monitored('default').template, 'AWS::Budgets::Budget')).toEqual([]);
});

describe('the dashboard', () => {
  const { template, widgets, alarms } = everything;

  test("has the deployment's name, shows every alarm, and is within CloudWatch's limit of metrics", () => {
    expect(propertiesOf(template, 'AWS::CloudWatch::Dashboard').DashboardName).toBe(serviceName);
    expect(widgets.flatMap(({ properties }) => properties.alarms ?? [])).toHaveLength(alarms.size);
    for (const { properties } of widgets) {
      expect(properties.metrics?.length ?? 0).toBeLessThanOrEqual(100);
    }
  });

  test('finds metrics of an endpoint whose variants it does not know, and shows none without a model', () => {
    const of = (name: ConfigurationName) =>
      searches(monitored(name).widgets).filter((query) => query.includes('EndpointName'));
    expect(of('existingEndpoint').join()).toContain('MetricName="GPUUtilization" EndpointName="Painter-2"');
    expect(of('default')).toEqual([]);
  });

  test('shows calls that found the model asleep, and the hours that it was awake, where it may sleep', () => {
    const drawn = (of: typeof sleeping) => drawnMetrics(of.widgets).map(({ name }) => name);
    for (const name of [
      'NoCapacityInvocationFailures',
      'ConcurrentRequestsPerCopy',
      'CPUUtilizationNormalized',
    ]) {
      expect(drawn(sleeping)).toContain(name);
      expect(drawn(everything)).not.toContain(name);
    }
    expect(searches(sleeping.widgets).join()).not.toContain('ConcurrentRequestsPerModel');
  });

  test('reads the metrics of CloudFront from the region where CloudFront reports them', () => {
    const rows = widgets.flatMap(({ properties }) => properties.metrics ?? []);
    const ofCloudFront = rows.filter(([namespace]) => namespace === 'AWS/CloudFront');
    expect(ofCloudFront).toHaveLength(2);
    for (const row of ofCloudFront) {
      expect(row).toEqual(expect.arrayContaining(['Region', 'Global']));
      expect(row.at(-1)).toMatchObject({ region: 'us-east-1' });
    }
  });
});

test('saved queries have the logs of every function, or the access log', () => {
  const queries = allProperties(everything.template, 'AWS::Logs::QueryDefinition');
  expect(queries).toHaveLength(allQueries.length);
  const counts = queries.map(({ LogGroupNames }) => LogGroupNames.length);
  expect(new Set(counts)).toEqual(new Set([1, Object.keys(routes).length + Object.keys(jobs).length]));
});
