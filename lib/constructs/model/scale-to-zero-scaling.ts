import { Duration } from 'aws-cdk-lib/core';
import {
  CfnScalableTarget,
  CfnScalingPolicy,
  PredefinedMetric,
} from 'aws-cdk-lib/aws-applicationautoscaling';
import {
  Alarm,
  ComparisonOperator,
  MathExpression,
  Stats,
  TreatMissingData,
  type AlarmProps,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { CfnInferenceComponent } from 'aws-cdk-lib/aws-sagemaker';
import { Construct } from 'constructs';
import type { ModelEndpointOptions } from '../../configuration.ts';
import { callsAtZero, componentMetric } from './model-metrics.ts';

export interface ScaleToZeroScalingProps {
  readonly component: CfnInferenceComponent;
  readonly componentName: string;
  readonly options: Pick<ModelEndpointOptions, 'maxInstances' | 'targetConcurrency' | 'idleMinutes'>;
}

const minute = Duration.minutes(1);
const window = Duration.minutes(15);
/** As in AWS's examples: about what a further copy needs to start. */
const startCooldownSeconds = 300;

/**
 * How many copies of the model run: none while nobody asks, one when somebody does, more while requests wait. AWS's own
 * scaling to a target can't leave zero, and would go to zero by a time of its own, so it only adds copies here.
 */
export class ScaleToZeroScaling extends Construct {
  private readonly props: ScaleToZeroScalingProps;
  private readonly target: CfnScalableTarget;

  constructor(scope: Construct, id: string, props: ScaleToZeroScalingProps) {
    super(scope, id);
    this.props = props;
    const { component, componentName, options } = props;
    this.target = new CfnScalableTarget(this, 'Copies', {
      serviceNamespace: 'sagemaker',
      scalableDimension: 'sagemaker:inference-component:DesiredCopyCount',
      resourceId: `inference-component/${componentName}`,
      minCapacity: 0,
      maxCapacity: options.maxInstances,
    });
    this.target.node.addDependency(component);
    this.addStart();
    this.addEnd();
    if (options.maxInstances === 1) return;
    this.addMore();
    this.addFewer();
  }

  /** The first call that finds no copy starts one. It is repeated each minute while calls find none, and changes nothing then. */
  private addStart(): void {
    this.addStep(
      'Wake',
      { adjustmentType: 'ExactCapacity', change: 1, cooldownSeconds: 60, isAbove: true },
      {
        alarmDescription: 'Somebody asks the model, which sleeps. It wakes.',
        metric: callsAtZero(this.props.componentName, { period: minute }),
        threshold: 1,
        evaluationPeriods: 1,
      },
    );
  }

  /**
   * No copy had a request in any of the minutes. A streamed request counts until its last byte. A minute without a copy is
   * no idle one: the alarm would work against the copy that is starting.
   */
  private addEnd(): void {
    const { idleMinutes } = this.props.options;
    this.addStep(
      'Sleep',
      { adjustmentType: 'ExactCapacity', change: 0, cooldownSeconds: 300, isAbove: false },
      {
        alarmDescription: `Nobody has asked the model for ${idleMinutes} minutes. It falls asleep.`,
        metric: new MathExpression({
          // A function over a list skips a metric without data. So this is 0 where a copy runs and reports no requests.
          expression: 'SUM([requests, gpu]) - gpu',
          usingMetrics: {
            requests: this.of('requests', 'ConcurrentRequestsPerCopy', Stats.MAXIMUM, minute),
            gpu: this.of('copies', 'GPUUtilizationNormalized', Stats.AVERAGE, minute),
          },
          period: minute,
        }),
        // One request among 100 copies, the most that a configuration allows.
        threshold: 0.01,
        evaluationPeriods: idleMinutes,
      },
    );
  }

  private addMore(): void {
    const { componentName, options } = this.props;
    new CfnScalingPolicy(this, 'More', {
      policyName: `${componentName}-more`,
      policyType: 'TargetTrackingScaling',
      scalingTargetId: this.target.ref,
      targetTrackingScalingPolicyConfiguration: {
        targetValue: options.targetConcurrency,
        predefinedMetricSpecification: {
          predefinedMetricType:
            PredefinedMetric.SAGEMAKER_INFERENCE_COMPONENT_CONCURRENT_REQUESTS_PER_COPY_HIGH_RESOLUTION,
        },
        disableScaleIn: true,
        scaleOutCooldown: startCooldownSeconds,
      },
    });
  }

  /** Several copies are busy less than 40% of the time, so one fewer is busy less than 80%. */
  private addFewer(): void {
    this.addStep(
      'Fewer',
      { adjustmentType: 'ChangeInCapacity', change: -1, cooldownSeconds: window.toSeconds(), isAbove: false },
      {
        alarmDescription: 'More copies of the model run than its requests need. One of them ends.',
        metric: new MathExpression({
          // SageMaker reports no number of copies, but requests, and requests divided by copies.
          expression: 'IF(requests / perCopy > 1.5, busy, 100)',
          usingMetrics: {
            requests: this.of('requests', 'Invocations', Stats.SUM, window),
            perCopy: this.of('requests', 'InvocationsPerCopy', Stats.SUM, window),
            busy: this.of('copies', 'GPUUtilizationNormalized', Stats.AVERAGE, window),
          },
          period: window,
        }),
        threshold: 40,
        evaluationPeriods: 1,
      },
    );
  }

  /** A step, and the alarm that takes it. */
  private addStep(id: string, step: Step, alarm: Omit<AlarmProps, 'comparisonOperator'>): void {
    const { change, cooldownSeconds, adjustmentType, isAbove } = step;
    // It counts from the alarm's threshold.
    const bound = isAbove ? { metricIntervalLowerBound: 0 } : { metricIntervalUpperBound: 0 };
    const policy = new CfnScalingPolicy(this, id, {
      policyName: `${this.props.componentName}-${id.toLowerCase()}`,
      policyType: 'StepScaling',
      scalingTargetId: this.target.ref,
      stepScalingPolicyConfiguration: {
        adjustmentType,
        metricAggregationType: 'Maximum',
        cooldown: cooldownSeconds,
        stepAdjustments: [{ scalingAdjustment: change, ...bound }],
      },
    });
    new Alarm(this, `${id}Alarm`, {
      ...alarm,
      comparisonOperator: isAbove
        ? ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
        : ComparisonOperator.LESS_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    }).addAlarmAction({ bind: () => ({ alarmActionArn: policy.ref }) });
  }

  private of(kind: 'requests' | 'copies', metricName: string, statistic: string, period: Duration) {
    return componentMetric(kind, metricName, this.props.componentName, { statistic, period });
  }
}

interface Step {
  readonly adjustmentType: 'ExactCapacity' | 'ChangeInCapacity';
  readonly change: number;
  /** How long a further step of the same policy waits. */
  readonly cooldownSeconds: number;
  /** Whether the alarm starts above its threshold. */
  readonly isAbove: boolean;
}
