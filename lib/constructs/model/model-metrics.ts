import { MathExpression, Metric, Stats, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { variantName } from './model-container.ts';

/** SageMaker reports requests, the use of instances, and the use of copies of an inference component in three namespaces. */
export const modelNamespaces = {
  requests: 'AWS/SageMaker',
  instances: '/aws/sagemaker/Endpoints',
  copies: '/aws/sagemaker/InferenceComponents',
} as const;

/** An endpoint of this repository's. */
export interface OwnModel {
  readonly endpointName: string;
  /** The inference component of an endpoint that scales to zero; null for another one. */
  readonly componentName: string | null;
}

/** A metric of the copies of an inference component. */
export function componentMetric(
  kind: 'requests' | 'copies',
  metricName: string,
  componentName: string,
  options: MetricOptions,
): Metric {
  return new Metric({
    namespace: modelNamespaces[kind],
    metricName,
    dimensionsMap: { InferenceComponentName: componentName },
    ...options,
  });
}

/** A metric of an endpoint. Requests to an inference component are counted by its name. */
export function modelMetric(
  kind: 'requests' | 'instances',
  metricName: string,
  { endpointName, componentName }: OwnModel,
  options: MetricOptions,
): Metric {
  if (kind === 'requests' && componentName !== null) {
    return componentMetric(kind, metricName, componentName, options);
  }
  return new Metric({
    namespace: modelNamespaces[kind],
    metricName,
    dimensionsMap: { EndpointName: endpointName, VariantName: variantName },
    ...options,
  });
}

/**
 * The number of instances that answered requests. SageMaker reports no such count, but requests
 * (`Invocations`) and requests divided by instances (`InvocationsPerInstance`) or by copies, of which each has an instance.
 */
export function modelInstances(model: OwnModel, options: MetricOptions): MathExpression {
  const sum = { statistic: Stats.SUM, ...options };
  const divided = model.componentName === null ? 'InvocationsPerInstance' : 'InvocationsPerCopy';
  return new MathExpression({
    expression: 'requests / perInstance',
    usingMetrics: {
      requests: modelMetric('requests', 'Invocations', model, sum),
      perInstance: modelMetric('requests', divided, model, sum),
    },
    label: 'instances',
    ...(options.period ? { period: options.period } : {}),
  });
}

/** Requests that found no copy of a model that is scaled to zero. Each asks for a cold start. */
export function callsAtZero(componentName: string, options: MetricOptions): Metric {
  return componentMetric('requests', 'NoCapacityInvocationFailures', componentName, {
    statistic: Stats.SUM,
    label: 'calls while asleep',
    ...options,
  });
}
