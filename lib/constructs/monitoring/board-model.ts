import { Duration } from 'aws-cdk-lib/core';
import { MathExpression, Stats, type IMetric, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import {
  callsWhileAsleep,
  componentMetric,
  graph,
  modelInstances,
  modelMetric,
  modelNamespaces,
  searchModel,
} from './metrics.ts';
import { isOwn, type ModelSource, type OwnModel } from './sources.ts';

const period = Duration.minutes(5);
const hour = Duration.hours(1);

/** The instances of the model endpoint: load, number, errors, and calls while it slept. */
export function modelGraphs(model: ModelSource): IWidget[] {
  const { endpointName, componentName } = model;
  const use = ['GPUUtilization', 'GPUMemoryUtilization'];
  const atOnce = componentName === null ? 'ConcurrentRequestsPerModel' : 'ConcurrentRequestsPerCopy';
  return [
    graph(
      'GPU use, percent of one GPU',
      use.map((name) => searchModel(modelNamespaces.instances, name, Stats.AVERAGE, endpointName)),
    ),
    graph('Requests at once', requestMetrics(model, [atOnce], Stats.MAXIMUM)),
    graph(
      'Model requests and errors',
      requestMetrics(model, ['Invocations', 'InvocationModelErrors'], Stats.SUM),
    ),
    ...(isOwn(model) ? [graph('Instances that answered', [modelInstances(model, { period })])] : []),
    ...(componentName === null
      ? []
      : [graph('Calls that found the model asleep', [callsWhileAsleep(componentName, { period })])]),
  ];
}

function requestMetrics(
  { endpointName, componentName }: ModelSource,
  names: readonly string[],
  statistic: string,
): IMetric[] {
  return names.map((name) =>
    componentName === null
      ? searchModel(modelNamespaces.requests, name, statistic, endpointName)
      : componentMetric('requests', name, componentName, { statistic, period, label: name }),
  );
}

/** What an instance costs. One that sleeps by turns reports its use once a minute while it runs a copy. */
export function instanceHours(model: OwnModel): IWidget {
  if (model.componentName === null) {
    return graph('Model: instance-hours, of hours with requests', [modelInstances(model, { period: hour })]);
  }
  const minutes = modelMetric('instances', 'CPUUtilizationNormalized', model, {
    statistic: Stats.SAMPLE_COUNT,
    period: hour,
  });
  return graph('Model: instance-hours awake', [
    new MathExpression({
      expression: 'minutes / 60',
      usingMetrics: { minutes },
      label: 'instance-hours',
      period: hour,
    }),
  ]);
}
