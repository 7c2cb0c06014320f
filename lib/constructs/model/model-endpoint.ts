import { Duration } from 'aws-cdk-lib/core';
import {
  CfnScalableTarget,
  CfnScalingPolicy,
  PredefinedMetric,
} from 'aws-cdk-lib/aws-applicationautoscaling';
import { Alarm, ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { CfnEndpoint, CfnEndpointConfig } from 'aws-cdk-lib/aws-sagemaker';
import { Construct } from 'constructs';
import {
  addContainer,
  longestGenerationSeconds,
  metricsConfig,
  startStepSeconds,
  variantName,
  variantOf,
  type ModelEndpointProps,
} from './model-container.ts';

const deploymentSeconds = 7200;
/** How long the old instances stay ready for a rollback after the new ones got all the traffic. */
const bakeSeconds = 300;

/** A SageMaker endpoint with the model server, and the scaling of its instances. */
export class ModelEndpoint extends Construct {
  readonly endpoint: CfnEndpoint;
  private readonly props: ModelEndpointProps;

  constructor(scope: Construct, id: string, props: ModelEndpointProps) {
    super(scope, id);
    this.props = props;
    this.endpoint = this.addEndpoint();
    this.addScaling();
  }

  private addEndpoint(): CfnEndpoint {
    const { endpointName, options } = this.props;
    const alarm = this.addRollbackAlarm();
    const { model, role, logGroup } = addContainer(this, {
      ...this.props,
      logGroupName: `/aws/sagemaker/Endpoints/${endpointName}`,
      metricNamespaces: '/aws/sagemaker/Endpoints',
      hasNetwork: true,
    });
    role.addToPrincipalPolicy(
      new PolicyStatement({ actions: ['cloudwatch:DescribeAlarms'], resources: [alarm.alarmArn] }),
    );
    // The model and the configuration have no fixed names: SageMaker can't change them, so CloudFormation makes a new
    // one before it deletes the old one.
    const config = new CfnEndpointConfig(this, 'Configuration', {
      metricsConfig,
      productionVariants: [
        {
          ...variantOf(options),
          modelName: model.attrModelName,
          initialInstanceCount: options.minInstances,
          initialVariantWeight: 1,
          modelDataDownloadTimeoutInSeconds: startStepSeconds,
          containerStartupHealthCheckTimeoutInSeconds: startStepSeconds,
        },
      ],
    });
    const endpoint = new CfnEndpoint(this, 'Endpoint', {
      endpointName,
      endpointConfigName: config.attrEndpointConfigName,
      // A deployment keeps the number of instances that scaling has reached.
      retainAllVariantProperties: true,
      deploymentConfig: deploymentConfig(alarm.alarmName),
    });
    endpoint.node.addDependency(logGroup);
    return endpoint;
  }

  /** Errors of the model in two of three minutes. The alarm only decides whether a deployment is rolled back. */
  private addRollbackAlarm(): Alarm {
    const { endpointName } = this.props;
    return new Alarm(this, 'ModelErrors', {
      alarmDescription: `The model endpoint ${endpointName} answers with errors. A deployment that is under way is taken back.`,
      metric: new Metric({
        namespace: 'AWS/SageMaker',
        metricName: 'InvocationModelErrors',
        dimensionsMap: { EndpointName: endpointName, VariantName: variantName },
        statistic: 'Sum',
        period: Duration.minutes(1),
      }),
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      threshold: 1,
      evaluationPeriods: 3,
      datapointsToAlarm: 2,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }

  private addScaling(): void {
    const { endpointName, options } = this.props;
    const target = new CfnScalableTarget(this, 'Instances', {
      serviceNamespace: 'sagemaker',
      scalableDimension: 'sagemaker:variant:DesiredInstanceCount',
      resourceId: `endpoint/${endpointName}/variant/${variantName}`,
      minCapacity: options.minInstances,
      maxCapacity: options.maxInstances,
    });
    target.node.addDependency(this.endpoint);
    new CfnScalingPolicy(this, 'Concurrency', {
      policyName: `${endpointName}-concurrency`,
      policyType: 'TargetTrackingScaling',
      scalingTargetId: target.ref,
      targetTrackingScalingPolicyConfiguration: {
        targetValue: options.targetConcurrency,
        predefinedMetricSpecification: {
          predefinedMetricType:
            PredefinedMetric.SAGEMAKER_VARIANT_CONCURRENT_REQUESTS_PER_MODEL_HIGH_RESOLUTION,
        },
        scaleOutCooldown: 60,
        // Before it removes another instance, requests of the last one must have ended (docs/scaling.md).
        scaleInCooldown: longestGenerationSeconds,
      },
    });
  }
}

/**
 * Starts new instances beside the old ones, moves all traffic, and ends the old ones after their last request. A rolling
 * update would need at least two instances.
 */
function deploymentConfig(alarmName: string): CfnEndpoint.DeploymentConfigProperty {
  return {
    autoRollbackConfiguration: { alarms: [{ alarmName }] },
    blueGreenUpdatePolicy: {
      trafficRoutingConfiguration: { type: 'ALL_AT_ONCE', waitIntervalInSeconds: bakeSeconds },
      terminationWaitInSeconds: longestGenerationSeconds,
      maximumExecutionTimeoutInSeconds: deploymentSeconds,
    },
  };
}
