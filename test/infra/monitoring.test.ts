import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { savedQueries } from '../../lib/constructs/monitoring-queries.ts';
import { noModelEndpoint } from '../../shared/config.ts';
import { errorCodes } from '../../shared/errors.ts';
import { metricNamespace, metricTable, serviceDimension, type Metric } from '../../shared/metrics.ts';
import { jobs, routes } from '../../shared/routes.ts';
import {
  drawnMetrics,
  expressionOf,
  metricsOf,
  monitored,
  rings,
  searches,
  serviceName,
  type DrawnMetric,
  type Options,
} from './monitored.ts';

const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');
const everything = monitored();
const names = (alarms: Map<string, unknown>) => [...alarms.keys()];
const alarm = (id: string, { alarms } = everything) => alarms.get(id)!;

describe('the runbook', () => {
  const [, alarmsPart = ''] = runbook.split('\n## Alarms\n');
  const sections = [...alarmsPart.split('\n## ')[0]!.matchAll(/^### (.+)$/gm)].map(([, title]) => title);
  const anchors = [...everything.alarms.values()].map(
    ({ AlarmDescription }) => /docs\/runbook\.md#([a-z-]+)$/.exec(AlarmDescription)?.[1],
  );

  test('has one section for every alarm, and no section without an alarm', () => {
    expect(sections.toSorted()).toEqual([...new Set(anchors)].toSorted());
  });

  test('has every saved question to the logs, word by word', () => {
    for (const { lines } of savedQueries) expect(runbook).toContain(`\n${lines.join('\n| ')}\n`);
  });

  test('leads only to sections that it has', () => {
    const headings = [...runbook.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
      title!
        .toLowerCase()
        .replace(/[^a-z0-9 -]/g, '')
        .replaceAll(' ', '-'),
    );
    const links = [...runbook.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
    expect(links.filter((anchor) => !headings.includes(anchor!))).toEqual([]);
  });
});

describe('metrics of our own', () => {
  const table = Object.values(metricTable) as Metric[];
  const ours = ({ namespace }: DrawnMetric) => namespace === metricNamespace;
  const inAlarms = [...everything.alarms.values()].flatMap(metricsOf).filter(ours);
  const onBoard = drawnMetrics(everything.widgets).filter(ours);
  const searched = searches(everything.widgets).filter((query) => query.includes(`{${metricNamespace},`));

  test('are looked at as the functions report them: by the deployment, and by the second dimension where there is one', () => {
    expect(inAlarms.length).toBeGreaterThan(10);
    for (const { name, dimensions } of [...inAlarms, ...onBoard]) {
      const { by } = table.find((row) => row.name === name)!;
      expect(Object.keys(dimensions)).toEqual(
        expect.arrayContaining([serviceDimension, ...(by ? [by] : [])]),
      );
      expect(Object.keys(dimensions)).toHaveLength(by ? 2 : 1);
      expect(dimensions[serviceDimension]).toBe(serviceName);
    }
  });

  test('that are counted by code are counted by codes that exist', () => {
    const codes = inAlarms.flatMap(({ dimensions }) =>
      dimensions.code === undefined ? [] : [dimensions.code],
    );
    expect(codes.length).toBeGreaterThan(0);
    for (const code of codes) expect(Object.keys(errorCodes)).toContain(code);
  });

  test('are all on the board', () => {
    for (const { name, by } of table) {
      const drawn = onBoard.some((metric) => metric.name === name);
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
  test('tell the topic when they begin to ring, and nobody of anything else', () => {
    const topic = Object.keys(everything.template.findResources('AWS::SNS::Topic'));
    expect(topic).toHaveLength(1);
    for (const properties of everything.alarms.values()) {
      expect(properties.AlarmActions).toEqual([{ Ref: topic[0] }]);
      expect(properties.OKActions ?? properties.InsufficientDataActions).toBeUndefined();
    }
  });

  test('have names of their own that begin with the deployment', () => {
    const all = Object.values(everything.template.findResources('AWS::CloudWatch::Alarm'));
    expect(everything.alarms.size).toBe(all.length);
    for (const { Properties } of all) expect(Properties.AlarmName).toMatch(`${serviceName}-`);
  });

  test('stay quiet where nothing happens, but for the sweep, whose silence is the fault', () => {
    const loud = names(everything.alarms).filter((id) => alarm(id).TreatMissingData !== 'notBreaching');
    expect(loud).toEqual(['sweep-missing']);
    expect(alarm('sweep-missing').TreatMissingData).toBe('breaching');
    for (const id of names(everything.alarms).filter((each) => expressionOf(alarm(each)))) {
      expect([id, rings(alarm(id), {})]).toEqual([id, false]);
    }
  });

  test('are within what CloudWatch computes: ten metrics, one expression, no search, a day', () => {
    for (const [id, properties] of everything.alarms) {
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
    for (const kind of ['crashes', 'throttles', 'slow']) {
      expect(watched(`function-${kind}-`, 'FunctionName')).toBe(all.length);
    }
    expect(watched('api-latency', 'FunctionName')).toBe(all.filter(({ streams }) => !streams).length);
  });

  test.each([5, 450])('follow a deadline of %i seconds', (generationDeadlineSeconds) => {
    const { alarms } = monitored({ generationDeadlineSeconds });
    expect(alarms.get('generation-queue')!.Threshold).toBe(generationDeadlineSeconds / 2);
    expect(alarms.get('generation-slow')!.Threshold).toBe(generationDeadlineSeconds / 2);
    const slowMs = alarms.get('function-slow-generating')!.Threshold;
    expect(slowMs).toBeGreaterThan(generationDeadlineSeconds * 1000);
    expect(slowMs).toBeLessThan((generationDeadlineSeconds + 30) * 1000);
    expect(alarms.get('function-slow-buffered')!.Threshold).toBe(16_000);
  });

  test('of the throttle ring at 80% of a minute of it', () => {
    const { alarms } = monitored({ throttle: { ratePerSecond: 10, burst: 20 } });
    expect(alarms.get('api-near-throttle')!.Threshold).toBe(480);
  });

  test('of the model need an endpoint of the stack itself, and one that scales to be at its maximum', () => {
    const of = (model: Options['model']) => names(monitored({ model: model! }).alarms);
    const own = { endpointName: 'painter', variantName: 'AllTraffic', maxInstances: null };
    expect(of(own)).toContain('model-errors');
    expect(of(own)).not.toContain('model-at-maximum');
    expect(of({ ...own, variantName: null }).filter((id) => id.startsWith('model-'))).toEqual([]);
    expect(alarm('model-at-maximum').Threshold).toBeCloseTo(4, 0);
  });

  test('of billing are there where billing is', () => {
    const billing = (alarms: Map<string, unknown>) => names(alarms).filter((id) => id.startsWith('billing-'));
    expect(billing(everything.alarms)).toHaveLength(3);
    expect(billing(monitored({ billing: false }).alarms)).toEqual([]);
  });

  test('of the sweep come after the schedule that starts it', () => {
    const found = Object.values(everything.template.findResources('AWS::CloudWatch::Alarm'));
    const { DependsOn = [] } = found.find(({ Properties }) =>
      Properties.AlarmName.endsWith('-sweep-missing'),
    )!;
    const [schedule] = Object.keys(everything.template.findResources('AWS::Scheduler::Schedule'));
    expect(DependsOn).toContain(schedule);
  });
});

describe('the topic', () => {
  const { template } = everything;

  test('is encrypted with a key that CloudWatch may use, and takes alarms of this account over TLS only', () => {
    template.hasResourceProperties('AWS::SNS::Topic', { KmsMasterKeyId: Match.anyValue() });
    template.hasResourceProperties('AWS::KMS::Key', {
      EnableKeyRotation: true,
      KeyPolicy: Match.objectLike({
        Statement: Match.arrayWith([
          Match.objectLike({
            Principal: { Service: 'cloudwatch.amazonaws.com' },
            Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
          }),
        ]),
      }),
    });
    const statement = (properties: object) => ({
      PolicyDocument: { Statement: Match.arrayWith([Match.objectLike(properties)]) },
    });
    template.hasResourceProperties(
      'AWS::SNS::TopicPolicy',
      statement({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
    );
    template.hasResourceProperties(
      'AWS::SNS::TopicPolicy',
      statement({
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      }),
    );
  });

  test('writes to the address that is named, and to nobody where none is', () => {
    template.resourceCountIs('AWS::SNS::Subscription', 0);
    monitored({ alarmEmail: 'night@example.com' }).template.hasResourceProperties('AWS::SNS::Subscription', {
      Protocol: 'email',
      Endpoint: 'night@example.com',
    });
  });
});

describe('the board', () => {
  test('has the name of the deployment, shows every alarm and is as small as CloudWatch wants', () => {
    everything.template.hasResourceProperties('AWS::CloudWatch::Dashboard', { DashboardName: serviceName });
    const shown = everything.widgets.flatMap(({ properties }) => properties.alarms ?? []);
    expect(shown).toHaveLength(everything.alarms.size);
    for (const { properties } of everything.widgets) {
      expect(properties.metrics?.length ?? 0).toBeLessThanOrEqual(100);
    }
  });

  test('finds metrics of an endpoint whose variants it does not know, and draws none where there is no model', () => {
    const of = (endpointName: string) => {
      const model = { endpointName, variantName: null, maxInstances: null };
      return searches(monitored({ model }).widgets).filter((query) => query.includes('EndpointName'));
    };
    expect(of('theirs').join()).toContain('MetricName="GPUUtilization" EndpointName="theirs"');
    expect(of(noModelEndpoint)).toEqual([]);
  });
});

test("the dashboard's own traffic is looked up where CloudFront reports it", () => {
  const ofCloudFront = everything.widgets
    .flatMap(({ properties }) => properties.metrics ?? [])
    .filter(([namespace]) => namespace === 'AWS/CloudFront');
  expect(ofCloudFront).toHaveLength(2);
  for (const row of ofCloudFront) {
    expect(row).toEqual(expect.arrayContaining(['Region', 'Global']));
    expect(row.at(-1)).toMatchObject({ region: 'us-east-1' });
  }
});

test('saved questions know the logs of every function', () => {
  const groups = Object.values(everything.template.findResources('AWS::Logs::QueryDefinition'));
  expect(groups).toHaveLength(savedQueries.length);
  const counts = groups.map(({ Properties }) => Properties.LogGroupNames.length);
  expect(new Set(counts)).toEqual(new Set([1, Object.keys(routes).length + Object.keys(jobs).length]));
});

test('it leaves most of what one stack may have to the service', () => {
  const resources = Object.keys(everything.template.toJSON().Resources);
  expect(resources.filter((id) => id.startsWith('Monitoring')).length).toBeLessThan(60);
});
