import { describe, expect, test } from '@jest/globals';
import { savedQueries } from '../../lib/constructs/monitoring/saved-queries.ts';
import { errorCodes } from '../../shared/base/errors.ts';
import {
  metricNamespace,
  metricTable,
  serviceDimension,
  versionDimension,
  type Metric,
} from '../../shared/base/metrics.ts';
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
import { templateOf } from '../support/stack-templates.ts';

const serviceName = 'image-generation-test';
const everything = monitored('everything');
const atZero = monitored('atZero');
const modelAtZero = 'image-generation-night-model-g6-xlarge-zero';
const names = (alarms: Map<string, unknown>) => [...alarms.keys()];
const alarm = (id: string, { alarms } = everything) => alarms.get(id)!;

const allQueries = Object.values(savedQueries).flatMap((queries) => Object.values(queries));

describe("the service's own metrics", () => {
  const table = Object.values(metricTable) as Metric[];
  const ours = ({ namespace }: DrawnMetric) => namespace === metricNamespace;
  const inAlarms = [...everything.alarms.values()].flatMap(metricsOf).filter(ours);
  const onDashboard = drawnMetrics(everything.widgets).filter(ours);
  const searched = searches(everything.widgets).filter((query) => query.includes(`{${metricNamespace},`));

  test('have the dimensions with which the functions report them, and codes that exist', () => {
    expect(inAlarms.length).toBeGreaterThan(10);
    for (const { name, dimensions } of [...inAlarms, ...onDashboard]) {
      const { by } = table.find((row) => row.name === name)!;
      const second = versionDimension in dimensions ? versionDimension : by;
      expect(Object.keys(dimensions).toSorted()).toEqual(
        [serviceDimension, ...(second ? [second] : [])].toSorted(),
      );
      expect(dimensions[serviceDimension]).toBe(serviceName);
      if (dimensions.code !== undefined) expect(Object.keys(errorCodes)).toContain(dimensions.code);
    }
  });

  test('are all on the dashboard', () => {
    for (const { name, by } of table) {
      const drawn = onDashboard.some((metric) => metric.name === name);
      const dimensions = [metricNamespace, serviceDimension, ...(by ? [by] : [])].join(',');
      const found = searched.some((query) => query.includes(`{${dimensions}} MetricName="${name}"`));
      expect([name, by ? found : drawn || found]).toEqual([name, true]);
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
    for (const [id, each] of [...everything.alarms, ...atZero.alarms]) {
      expect([id, expressionOf(each) !== undefined && starts(each, {})]).toEqual([id, false]);
    }
  });

  test("are within CloudWatch's limits: ten metrics, one expression, no search, a day", () => {
    for (const [id, properties] of [...everything.alarms, ...atZero.alarms]) {
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
    // A call may wait a minute for what runs without it.
    expect(slowMs).toBeLessThan((Math.max(deadlineSeconds, 60) + 30) * 1000);
    expect(alarms.get('function-slow-buffered')!.Threshold).toBe(16_000);
  });

  test('of refused prompts and pictures look at an hour, follow noticePercent and take no deployment back', () => {
    for (const id of ['prompts-refused', 'pictures-refused']) {
      expect(alarm(id, monitored('tuned')).Threshold).toBe(35);
      expect(alarm(id).Threshold).toBe(20);
      expect(alarm(id).AlarmDescription).toContain(' Warning; ');
      expect(alarm(id).Metrics?.map(({ MetricStat }) => MetricStat?.Period ?? 3600)).toEqual([
        3600, 3600, 3600,
      ]);
    }
  });

  test.each<[ConfigurationName, string[]]>([
    ['everything', ['pictures-refused', 'prompts-refused']],
    ['atZero', ['pictures-refused']],
    ['atZeroSmall', []],
    ['existingEndpoint', []],
    ['default', []],
  ])('of refused content are only where it is checked, with the configuration "%s": %j', (name, expected) => {
    const found = names(monitored(name).alarms).filter((id) => id.endsWith('-refused'));
    expect(found.toSorted()).toEqual(expected);
  });

  test('of the throttle start at 80% of the requests of a minute', () => {
    expect(alarm('api-near-throttle', monitored('tuned')).Threshold).toBe(0.8 * 10 * 60);
  });

  test.each<[ConfigurationName, string[]]>([
    ['everything', ['at-maximum', 'disk', 'errors', 'gpu-memory']],
    ['small', ['disk', 'errors', 'gpu-memory']],
    ['atZeroSmall', ['disk', 'errors', 'gpu-memory', 'not-awake']],
    ['existingEndpoint', []],
    ['default', []],
  ])('of the model are with the configuration "%s": %j', (name, expected) => {
    const found = names(monitored(name).alarms).flatMap((id) => /^model-(.+)$/.exec(id)?.[1] ?? []);
    expect(found.toSorted()).toEqual(expected);
  });

  test('of a model that may be scaled to zero count by its component, and one starts when it does not start', () => {
    const component = { InferenceComponentName: { 'Fn::ImportValue': `${modelAtZero}-component` } };
    for (const id of ['model-errors', 'model-at-maximum', 'model-not-awake']) {
      for (const metric of metricsOf(alarm(id, atZero))) {
        expect(metric).toMatchObject({ namespace: 'AWS/SageMaker', dimensions: component });
      }
    }
    const atMaximum = metricsOf(alarm('model-at-maximum', atZero));
    expect(atMaximum.map(({ name }) => name)).toEqual(['Invocations', 'InvocationsPerCopy']);
    const notAwake = alarm('model-not-awake', atZero);
    expect(metricsOf(notAwake).map(({ name }) => name)).toEqual(['NoCapacityInvocationFailures']);
    expect(notAwake.Period ?? notAwake.Metrics?.[0]?.MetricStat?.Period).toBe(300);
    expect(notAwake).toMatchObject({ Threshold: 1, EvaluationPeriods: 4, DatapointsToAlarm: 4 });
    expect(metricsOf(alarm('model-gpu-memory', atZero))[0]!.dimensions).toEqual({
      EndpointName: { 'Fn::ImportValue': `${modelAtZero}-endpoint` },
      VariantName: 'AllTraffic',
    });
  });

  test('of the sweep are deployed after the schedule and the distribution, when the sweep has run', () => {
    const { template } = everything;
    const [, { DependsOn: after = [] }] = [...resourcesOf(template, 'AWS::CloudWatch::Alarm')].find(
      ([, { Properties }]) => plain(Properties.AlarmName).endsWith('-sweep-missing'),
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
});

test('the topic hears of a month that costs 80% and 100% of the budget, or is forecast to cost more', () => {
  const { Budget: budget, NotificationsWithSubscribers: notifications } = propertiesOf(
    everything.template,
    'AWS::Budgets::Budget',
  );
  expect(budget).toMatchObject({ TimeUnit: 'MONTHLY', BudgetLimit: { Amount: 2000, Unit: 'USD' } });
  const { id: topicId } = only(everything.template, 'AWS::SNS::Topic');
  const sent = notifications.map(({ Notification: { NotificationType, Threshold }, Subscribers }: any) => [
    `${NotificationType} ${Threshold}`,
    Subscribers.map(({ Address }: any) => plain(Address)),
  ]);
  expect(sent).toEqual(['ACTUAL 80', 'ACTUAL 100', 'FORECASTED 100'].map((when) => [when, [`<${topicId}>`]]));
});

test('without a word there is a budget by the usual bill, and with null none', () => {
  const { Budget: budget } = propertiesOf(templateOf('default'), 'AWS::Budgets::Budget');
  expect(budget.BudgetLimit).toEqual({ Amount: 200, Unit: 'USD' });
  expect(allProperties(templateOf('small'), 'AWS::Budgets::Budget')).toEqual([]);
});

test('an hour in which 20 GB of images are downloaded is told of, by S3’s own count of what lies below generations/', () => {
  const measured = [...resourcesOf(everything.template, 'AWS::S3::Bucket')].filter(
    ([, { Properties: bucket }]) => bucket.MetricsConfigurations,
  );
  expect(measured).toHaveLength(1);
  const [[id, { Properties: bucket }]] = measured as [(typeof measured)[number]];
  expect(bucket.MetricsConfigurations).toEqual([{ Id: 'outputs', Prefix: 'generations/' }]);
  const downloads = allProperties(everything.template, 'AWS::CloudWatch::Alarm').find(
    ({ MetricName: name }) => name === 'BytesDownloaded',
  );
  expect(downloads).toMatchObject({ Namespace: 'AWS/S3', Statistic: 'Sum', Period: 3600, Threshold: 20e9 });
  expect(downloads.Dimensions.map(({ Value }: any) => plain(Value))).toEqual([`<${id}>`, 'outputs']);
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

  test('shows calls that found the model scaled to zero, and its paid hours, where it may be', () => {
    const drawn = (of: typeof atZero) => drawnMetrics(of.widgets).map(({ name }) => name);
    const own = ['NoCapacityInvocationFailures', 'ConcurrentRequestsPerCopy', 'CPUUtilizationNormalized'];
    expect(drawn(atZero)).toEqual(expect.arrayContaining(own));
    expect(drawn(everything).filter((name) => own.includes(name))).toEqual([]);
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
