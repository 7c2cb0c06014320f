import { Token, type Stack } from 'aws-cdk-lib/core';
import { MathExpression, Stats, type IMetric, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { environmentVariables, noModelEndpoint } from '../../shared/base/config.ts';
import type { Grants } from '../../shared/routes/grants.ts';
import type { Inference } from '../configuration.ts';
import type { ModelStack } from '../model-stack.ts';
import {
  callsAtZero,
  componentMetric,
  modelInstances,
  modelMetric,
  modelNamespaces,
} from './model/model-metrics.ts';
import { graph, hour, period, search, share, window } from './monitoring/metrics.ts';
import type { AlarmRow, Costs, Watched, Widgets } from './monitoring/watched.ts';
import type { ServiceFunction } from './service-function.ts';

export interface ModelAccessProps {
  readonly inference: Inference;
  /** The model's own stack; null without one. An endpoint of another stack has graphs but no alarms. */
  readonly model: ModelStack | null;
}

const row = { capability: 'model', severity: 'warning' } as const;

/** The SageMaker endpoint that functions call. */
export class ModelAccess implements Watched {
  private readonly stack: Stack;
  private readonly inference: Inference;
  /** `(none)` without a model. */
  readonly endpointName: string;
  /** The inference component that requests name, where the endpoint scales to zero; null where it does not. */
  readonly componentName: string | null;

  constructor(stack: Stack, { inference, model }: ModelAccessProps) {
    this.stack = stack;
    this.inference = inference;
    const other = inference.kind === 'existing' ? inference.endpointName : noModelEndpoint;
    this.endpointName = model?.importedEndpointName ?? other;
    this.componentName = model?.importedComponentName ?? null;
  }

  /** Gives a function the model's names, and what its row says of the model: the permission to stream from it, or to see how it is. */
  grant(fn: ServiceFunction, { model, modelStatus }: Pick<Grants, 'model' | 'modelStatus'>): void {
    if (!model && !modelStatus) return;
    fn.setVariable(environmentVariables.modelEndpointName, this.endpointName);
    if (this.endpointName === noModelEndpoint) return;
    if (this.componentName === null) return this.allowStreams(fn, []);
    fn.setVariable(environmentVariables.modelComponentName, this.componentName);
    const component = this.arnOf('inference-component', this.componentName);
    if (!modelStatus) return this.allowStreams(fn, [component]);
    // A call would cause a cold start. So whoever may see how it is does not call it.
    const actions = ['sagemaker:DescribeInferenceComponent'];
    fn.addToRolePolicy(new PolicyStatement({ actions, resources: [component] }));
  }

  /**
   * The same measure, but 0 in periods in which a request found the model scaled to zero: that is no fault.
   * @param whole the name of one of its metrics that has data whenever the measure may be more than 0
   */
  unlessAtZero(measure: MathExpression, whole: string): MathExpression {
    if (this.componentName === null) return measure;
    const { expression, usingMetrics, period: ofMeasure } = measure;
    return new MathExpression({
      // FILL would have nothing to fill where the metric has no data at all; a function over a list skips it.
      expression: `IF(SUM([asleep, ${whole}]) > ${whole}, 0, ${expression})`,
      usingMetrics: { ...usingMetrics, asleep: callsAtZero(this.componentName, { period: ofMeasure }) },
      period: ofMeasure,
    });
  }

  get alarms(): AlarmRow[] {
    if (this.inference.kind !== 'endpoint') return [];
    const { minInstances, maxInstances } = this.inference;
    const sum = { statistic: Stats.SUM, period: window };
    const failed = modelMetric('requests', 'InvocationModelErrors', this, sum);
    const requests = modelMetric('requests', 'Invocations', this, sum);
    return [
      {
        ...row,
        id: 'model-errors',
        severity: 'critical',
        means: 'The model endpoint answers with errors.',
        metric: this.unlessAtZero(share({ failed }, requests, { atLeast: 3, period: window }), 'whole'),
        threshold: 5,
      },
      this.full('model-gpu-memory', "An instance's GPU memory is nearly full.", 'GPUMemoryUtilization', 97),
      this.full('model-disk', "An instance's disk is nearly full.", 'DiskUtilization', 85),
      // An endpoint that scales to zero runs one instance at least once it is started.
      ...(Math.max(1, minInstances) === maxInstances ? [] : [this.atMaximum(maxInstances)]),
      ...(this.componentName === null ? [] : [coldTooLong(this.componentName)]),
    ];
  }

  get widgets(): Widgets {
    return this.endpointName === noModelEndpoint ? {} : { model: this.graphs() };
  }

  /** An endpoint that scales to zero reports the use of an instance once a minute while it runs a copy. */
  get costs(): Costs {
    if (this.inference.kind !== 'endpoint') return {};
    if (this.componentName === null) {
      return { 'Model: instance-hours, of hours with requests': [modelInstances(this, { period: hour })] };
    }
    const options = { statistic: Stats.SAMPLE_COUNT, period: hour };
    const minutes = modelMetric('instances', 'CPUUtilizationNormalized', this, options);
    const hours = new MathExpression({
      expression: 'minutes / 60',
      usingMetrics: { minutes },
      label: 'instance-hours',
      period: hour,
    });
    return { 'Model: instance-hours awake': [hours] };
  }

  /** The instances: load, number, errors, and calls while there was none. */
  private graphs(): IWidget[] {
    const { componentName } = this;
    const use = ['GPUUtilization', 'GPUMemoryUtilization'];
    const atOnce = componentName === null ? 'ConcurrentRequestsPerModel' : 'ConcurrentRequestsPerCopy';
    return [
      graph(
        'GPU use, percent of one GPU',
        use.map((name) => this.searchInstances(modelNamespaces.instances, name, Stats.AVERAGE)),
      ),
      graph('Requests at once', [this.requestMetric(atOnce, Stats.MAXIMUM)]),
      graph(
        'Model requests and errors',
        ['Invocations', 'InvocationModelErrors'].map((name) => this.requestMetric(name, Stats.SUM)),
      ),
      ...(this.inference.kind === 'endpoint'
        ? [graph('Instances that answered', [modelInstances(this, { period })])]
        : []),
      ...(componentName === null
        ? []
        : [graph('Calls that found the model asleep', [callsAtZero(componentName, { period })])]),
    ];
  }

  private requestMetric(name: string, statistic: string): IMetric {
    if (this.componentName === null) return this.searchInstances(modelNamespaces.requests, name, statistic);
    const options = { statistic, period, label: name };
    return componentMetric('requests', name, this.componentName, options);
  }

  /** A metric of every variant of the endpoint, whatever their names. */
  private searchInstances(namespace: string, metricName: string, statistic: string): IMetric {
    const schema = `${namespace},EndpointName,VariantName`;
    return search(`{${schema}} MetricName="${metricName}" EndpointName="${this.endpointName}"`, statistic);
  }

  private full(id: string, means: string, metricName: string, threshold: number): AlarmRow {
    return {
      ...row,
      id,
      runbook: 'model-full',
      means,
      metric: modelMetric('instances', metricName, this, { statistic: Stats.MAXIMUM, period }),
      threshold,
      periods: 3,
    };
  }

  private atMaximum(maxInstances: number): AlarmRow {
    return {
      ...row,
      id: 'model-at-maximum',
      means: 'The model endpoint has run all the instances that it may for an hour.',
      metric: modelInstances(this, { period }),
      // The number is a quotient of sums and not exact, because instances start and stop within a period.
      threshold: maxInstances - 0.1,
      periods: 12,
    };
  }

  /** IAM asks for the endpoint, and for the component where a request names one. */
  private allowStreams(fn: ServiceFunction, components: string[]): void {
    // SageMaker writes endpoint names in ARNs in lower case, but IAM compares case-sensitively. So both forms are named.
    // The name of the service's own endpoint is a reference to another stack, and in lower case there.
    const { endpointName } = this;
    const lowerCase = Token.isUnresolved(endpointName) ? endpointName : endpointName.toLowerCase();
    const endpoints = [...new Set([lowerCase, endpointName])].map((name) => this.arnOf('endpoint', name));
    fn.addToRolePolicy(
      new PolicyStatement({
        actions: ['sagemaker:InvokeEndpointWithResponseStream'],
        resources: [...endpoints, ...components],
      }),
    );
  }

  private arnOf(resource: string, resourceName: string): string {
    return this.stack.formatArn({ service: 'sagemaker', resource, resourceName });
  }
}

/** A cold start takes about ten minutes, which touch three periods at most. */
function coldTooLong(componentName: string): AlarmRow {
  return {
    ...row,
    id: 'model-not-awake',
    severity: 'critical',
    means: 'Requests have found the model asleep for 20 minutes: it does not wake.',
    metric: callsAtZero(componentName, { period }),
    threshold: 1,
    periods: 4,
  };
}
