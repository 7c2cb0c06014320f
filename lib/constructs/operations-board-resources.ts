import { Duration } from 'aws-cdk-lib/core';
import { GraphWidget, MathExpression, Stats, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { leaseIndex, ownerIndex } from '../../shared/store/table-keys.ts';
import {
  blockedRequests,
  modelInstances,
  modelNamespaces,
  searchModel,
  serviceMetrics,
} from './monitoring-metrics.ts';
import { allFunctions, routeGroups, type ModelSource, type MonitoringSources } from './monitoring-sources.ts';
import type { ServiceFunction } from './service-function.ts';

const period = Duration.minutes(5);
const hour = Duration.hours(1);

/** The model endpoint's instances: how busy, how many, how often they fail. */
export function fleet(model: ModelSource): IWidget[] {
  const { requests, instances } = modelNamespaces;
  const of = (namespace: string, names: string[], statistic: string) =>
    names.map((name) => searchModel(namespace, name, statistic, model.endpointName));
  const widgets = [
    new GraphWidget({
      title: 'GPU use, percent of one GPU',
      left: of(instances, ['GPUUtilization', 'GPUMemoryUtilization'], Stats.AVERAGE),
    }),
    new GraphWidget({
      title: 'Requests at once',
      left: of(requests, ['ConcurrentRequestsPerModel'], Stats.MAXIMUM),
    }),
    new GraphWidget({
      title: 'Model requests and errors',
      left: of(requests, ['Invocations', 'InvocationModelErrors'], Stats.SUM),
    }),
  ];
  if (model.variantName === null) return widgets;
  const count = modelInstances({ ...model, variantName: model.variantName }, { period });
  return [...widgets, new GraphWidget({ title: 'Instances that answered', left: [count] })];
}

/** What is stored and read, and who is kept out. */
export function storage({ table, distribution, webAcl }: MonitoringSources): IWidget[] {
  // CloudFront reports in one region for all the world.
  const global = {
    dimensionsMap: { DistributionId: distribution.distributionId, Region: 'Global' },
    region: 'us-east-1',
    period,
  };
  return [
    new GraphWidget({
      title: 'Table: capacity consumed',
      left: capacity(table, period),
    }),
    new GraphWidget({
      title: 'Table: throttles',
      left: ['ReadThrottleEvents', 'WriteThrottleEvents'].map((name) =>
        table.metric(name, { statistic: Stats.SUM, label: name, period }),
      ),
    }),
    new GraphWidget({
      title: 'Dashboard: requests, percent of them 5xx',
      left: [distribution.metricRequests({ ...global, label: 'requests' })],
      right: [distribution.metric5xxErrorRate({ ...global, label: '5xx' })],
      rightYAxis: { label: '%', showUnits: false, min: 0 },
    }),
    new GraphWidget({
      title: 'Firewall: refused',
      left: [blockedRequests(webAcl, { label: 'refused', period })],
    }),
  ];
}

/** The quantities that AWS bills. */
export function costs(sources: MonitoringSources): IWidget[] {
  const { api, table, model, serviceName } = sources;
  const { variantName } = model;
  const generating = routeGroups(sources).find(({ name }) => name === 'generating')!;
  const waiting = generating.functions.map(({ fn }) => fn);
  const others = allFunctions(sources).filter((fn) => !waiting.includes(fn));
  return [
    new GraphWidget({
      title: 'Lambda: GB-seconds',
      left: [gigabyteSeconds('generations', waiting), gigabyteSeconds('everything else', others)],
    }),
    new GraphWidget({
      title: 'API requests, table units',
      left: [
        api.deploymentStage.metricCount({ label: 'API requests', period: hour }),
        ...capacity(table, hour),
      ],
    }),
    new GraphWidget({
      title: 'Image bytes stored',
      left: [serviceMetrics(serviceName).of('imageBytes', { label: 'bytes', period: hour })],
    }),
    ...(variantName === null
      ? []
      : [
          new GraphWidget({
            title: 'Model: instance-hours, of hours with requests',
            left: [modelInstances({ ...model, variantName }, { period: hour })],
          }),
        ]),
  ];
}

/** Of the table and its indexes together, reads and writes. */
function capacity(table: Table, over: Duration): MathExpression[] {
  const places = [{}, ...[ownerIndex, leaseIndex].map(({ name }) => ({ GlobalSecondaryIndexName: name }))];
  return (['Read', 'Write'] as const).map((kind) => {
    const usingMetrics = Object.fromEntries(
      places.map((place, i) => [
        `${kind.toLowerCase()}${i}`,
        table.metric(`Consumed${kind}CapacityUnits`, {
          dimensionsMap: { TableName: table.tableName, ...place },
          statistic: Stats.SUM,
          period: over,
        }),
      ]),
    );
    return new MathExpression({
      expression: `SUM([${Object.keys(usingMetrics).join(', ')}])`,
      usingMetrics,
      label: `${kind.toLowerCase()} units`,
      period: over,
    });
  });
}

/** Durations are milliseconds; a function pays for all the memory it may use. */
function gigabyteSeconds(label: string, functions: readonly ServiceFunction[]): MathExpression {
  const id = (i: number) => `${label.replace(/\W/g, '_')}${i}`;
  const terms = functions.map((fn, i) => {
    const { memorySize = 128 } = fn.node.defaultChild as CfnFunction;
    return `${id(i)} * ${memorySize / 1024 / 1000}`;
  });
  return new MathExpression({
    expression: `SUM([${terms.join(', ')}])`,
    usingMetrics: Object.fromEntries(
      functions.map((fn, i) => [id(i), fn.metricDuration({ statistic: Stats.SUM, period: hour })]),
    ),
    label,
    period: hour,
  });
}
