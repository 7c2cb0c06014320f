import { Duration } from 'aws-cdk-lib/core';
import { MathExpression, Stats, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { leaseIndex, ownerIndex } from '../../../shared/table/keys.ts';
import { instanceHours } from './board-model.ts';
import { apiMetrics, blockedRequests, graph, serviceMetrics } from './metrics.ts';
import { allFunctions, isOwn, routeGroups, type MonitoringSources } from './sources.ts';
import type { ServiceFunction } from '../service-function.ts';

const period = Duration.minutes(5);
const hour = Duration.hours(1);

export function storageGraphs({ table, distribution, webAcl }: MonitoringSources): IWidget[] {
  // CloudFront reports to one region, wherever the stack is.
  const global = {
    dimensionsMap: { DistributionId: distribution.distributionId, Region: 'Global' },
    region: 'us-east-1',
    period,
  };
  return [
    graph('Table: capacity consumed', capacity(table, period)),
    graph(
      'Table: throttles',
      ['ReadThrottleEvents', 'WriteThrottleEvents'].map((name) =>
        table.metric(name, { statistic: Stats.SUM, label: name, period }),
      ),
    ),
    graph(
      'Dashboard: requests, percent of them 5xx',
      [distribution.metricRequests({ ...global, label: 'requests' })],
      {
        right: [distribution.metric5xxErrorRate({ ...global, label: '5xx' })],
        rightYAxis: { label: '%', showUnits: false, min: 0 },
      },
    ),
    graph('Firewall: refused', [blockedRequests(webAcl, { label: 'refused', period })]),
  ];
}

/** The quantities that AWS bills. */
export function costGraphs(sources: MonitoringSources): IWidget[] {
  const { table, model, serviceName } = sources;
  const generating = routeGroups(sources).find(({ name }) => name === 'generating')!;
  const waiting = [...generating.functions.map(({ fn }) => fn), sources.worker.run];
  const others = allFunctions(sources).filter((fn) => !waiting.includes(fn));
  return [
    graph('Lambda: GB-seconds', [
      gigabyteSeconds('generations', waiting),
      gigabyteSeconds('everything else', others),
    ]),
    graph('API requests, table units', [
      apiMetrics(sources).requests({ label: 'API requests', period: hour }),
      ...capacity(table, hour),
    ]),
    graph('Image bytes stored', [
      serviceMetrics(serviceName).of('imageBytes', { label: 'bytes', period: hour }),
    ]),
    ...(isOwn(model) ? [instanceHours(model)] : []),
  ];
}

/** Reads and writes of the table and its indexes together. */
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

/** AWS bills a function's duration times its configured memory. Durations are in milliseconds. */
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
