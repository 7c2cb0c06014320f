import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Aws, Duration, Stack } from 'aws-cdk-lib/core';
import {
  CfnScalableTarget,
  CfnScalingPolicy,
  PredefinedMetric,
} from 'aws-cdk-lib/aws-applicationautoscaling';
import { Alarm, ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { Repository } from 'aws-cdk-lib/aws-ecr';
import { DockerImageAsset, Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnEndpoint, CfnEndpointConfig, CfnModel } from 'aws-cdk-lib/aws-sagemaker';
import { Construct } from 'constructs';
import { environmentVariables, noModelEndpoint } from '../../shared/config.ts';
import type { Inference as InferenceOptions, ModelEndpoint } from '../configuration.ts';
import { accept } from './accepted-findings.ts';
import type { ServiceFunction } from './service-function.ts';

export interface InferenceProps {
  readonly inference: InferenceOptions;
  /** A deployment or a scale-in waits this long, so that it cuts off no generation. */
  readonly generationDeadlineSeconds: number;
}

const variantName = 'AllTraffic';
const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

/** An instance downloads tens of gigabytes, then loads them into its GPU. Each step may take half an hour. */
const startStepSeconds = 1800;
const deploymentSeconds = 7200;
/** How long the old instances stay ready for a rollback after the new ones got all the traffic. */
const bakeSeconds = 300;

/** The model server of the service: none, an existing SageMaker endpoint, or an endpoint of this stack. */
export class Inference extends Construct {
  /** `(none)` without a model. */
  readonly endpointName: string;
  /** A dimension of the endpoint's metrics; null if the stack has no endpoint of its own. */
  readonly variantName: string | null;

  constructor(scope: Construct, id: string, { inference, generationDeadlineSeconds }: InferenceProps) {
    super(scope, id);
    this.variantName = inference.kind === 'endpoint' ? variantName : null;
    if (inference.kind === 'none') {
      this.endpointName = noModelEndpoint;
    } else if (inference.kind === 'existing') {
      this.endpointName = inference.endpointName;
    } else {
      this.endpointName = nameOf(this, inference);
      const endpoint = this.addEndpoint(inference, generationDeadlineSeconds);
      this.addScaling(inference, generationDeadlineSeconds, endpoint);
    }
  }

  /** Gives a function the endpoint's name and the permission to stream from this endpoint only. */
  grantInvoke(fn: ServiceFunction): void {
    fn.setVariable(environmentVariables.modelEndpointName, this.endpointName);
    if (this.endpointName === noModelEndpoint) return;
    // SageMaker writes endpoint names in ARNs in lower case, but IAM compares case-sensitively. So both forms are named.
    const names = new Set([this.endpointName.toLowerCase(), this.endpointName]);
    fn.addToRolePolicy(
      new PolicyStatement({
        actions: ['sagemaker:InvokeEndpointWithResponseStream'],
        resources: [...names].map((resourceName) =>
          Stack.of(this).formatArn({ service: 'sagemaker', resource: 'endpoint', resourceName }),
        ),
      }),
    );
  }

  private addEndpoint(options: ModelEndpoint, deadlineSeconds: number): CfnEndpoint {
    const alarm = this.addRollbackAlarm();
    const role = this.addRole(options.modelData);
    role.addToPolicy(
      new PolicyStatement({ actions: ['cloudwatch:DescribeAlarms'], resources: [alarm.alarmArn] }),
    );
    const model = new CfnModel(this, 'Model', {
      executionRoleArn: role.roleArn,
      primaryContainer: {
        image: this.addImage(options.image, role),
        environment: options.environment,
        modelDataSource: {
          s3DataSource: { s3Uri: options.modelData, s3DataType: 'S3Prefix', compressionType: 'None' },
        },
      },
    });
    // SageMaker reads the image and the weights at once, so the role must have its policy by then.
    model.node.addDependency(role.node.findChild('DefaultPolicy'));
    // The model and the configuration have no fixed names: SageMaker can't change them, so CloudFormation makes a new
    // one before it deletes the old one.
    const config = new CfnEndpointConfig(this, 'Configuration', {
      productionVariants: [
        {
          variantName,
          modelName: model.attrModelName,
          instanceType: options.instanceType,
          ...(options.amiVersion !== null && { inferenceAmiVersion: options.amiVersion }),
          initialInstanceCount: options.minInstances,
          initialVariantWeight: 1,
          routingConfig: { routingStrategy: 'LEAST_OUTSTANDING_REQUESTS' },
          modelDataDownloadTimeoutInSeconds: startStepSeconds,
          containerStartupHealthCheckTimeoutInSeconds: startStepSeconds,
        },
      ],
    });
    return new CfnEndpoint(this, 'Endpoint', {
      endpointName: this.endpointName,
      endpointConfigName: config.attrEndpointConfigName,
      // A deployment keeps the number of instances that scaling has reached.
      retainAllVariantProperties: true,
      deploymentConfig: deploymentConfig(alarm.alarmName, deadlineSeconds),
    });
  }

  /** Errors of the model in two of three minutes. The alarm only decides whether a deployment is rolled back. */
  private addRollbackAlarm(): Alarm {
    return new Alarm(this, 'ModelErrors', {
      alarmDescription: `The model endpoint ${this.endpointName} answers with errors. A deployment that is under way is taken back.`,
      metric: new Metric({
        namespace: 'AWS/SageMaker',
        metricName: 'InvocationModelErrors',
        dimensionsMap: { EndpointName: this.endpointName, VariantName: variantName },
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

  /** SageMaker runs the instances with it. It may read the weights and the image (see `addImage`) and write logs and metrics. */
  private addRole(modelData: string): Role {
    const { bucket, prefix } = s3Place(modelData);
    const bucketArn = `arn:${Aws.PARTITION}:s3:::${bucket}`;
    const logGroup = `log-group:/aws/sagemaker/Endpoints/${this.endpointName}`;
    const logGroupArn = `arn:${Aws.PARTITION}:logs:${Aws.REGION}:${Aws.ACCOUNT_ID}:${logGroup}`;
    const role = new Role(this, 'Role', {
      description: 'SageMaker starts the model with it',
      assumedBy: new ServicePrincipal('sagemaker.amazonaws.com'),
    });
    const allow = (actions: string[], resources: string[], conditions = {}) =>
      role.addToPolicy(new PolicyStatement({ actions, resources, conditions }));
    allow(['s3:GetObject'], [`${bucketArn}/${prefix}*`]);
    allow(['s3:ListBucket'], [bucketArn], { StringLike: { 's3:prefix': `${prefix}*` } });
    allow(
      ['logs:CreateLogGroup', 'logs:CreateLogStream', 'logs:DescribeLogStreams', 'logs:PutLogEvents'],
      [logGroupArn, `${logGroupArn}:*`],
    );
    allow(['cloudwatch:PutMetricData'], ['*'], {
      StringEquals: { 'cloudwatch:namespace': '/aws/sagemaker/Endpoints' },
    });
    accept(role, {
      [`AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:s3:::${bucket}/${prefix}*]`]:
        'The model is everything below its one prefix; nothing else of the bucket can be read.',
      [`AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:logs:<AWS::Region>:<AWS::AccountId>:${logGroup}:*]`]:
        "SageMaker names the streams itself; they are in this endpoint's one log group.",
      'AwsSolutions-IAM5[Resource::*]':
        'Metrics, which a condition holds to one namespace, and the log-in to ECR have no ARNs.',
    });
    return role;
  }

  /** @throws Error for a folder without a Dockerfile. */
  private addImage(image: ModelEndpoint['image'], role: Role): string {
    if ('uri' in image) {
      imageRepository(this, image.uri).grantPull(role);
      return image.uri;
    }
    const directory = resolve(projectRoot, image.folder);
    if (!existsSync(resolve(directory, 'Dockerfile'))) {
      throw new Error(
        `There is no ${image.folder}/Dockerfile: name a folder that has one, or an image in ECR, with "image": {"uri": "…"}.`,
      );
    }
    const asset = new DockerImageAsset(this, 'Image', { directory, platform: Platform.LINUX_AMD64 });
    asset.repository.grantPull(role);
    return asset.imageUri;
  }

  private addScaling(options: ModelEndpoint, deadlineSeconds: number, endpoint: CfnEndpoint): void {
    const target = new CfnScalableTarget(this, 'Instances', {
      serviceNamespace: 'sagemaker',
      scalableDimension: 'sagemaker:variant:DesiredInstanceCount',
      resourceId: `endpoint/${this.endpointName}/variant/${variantName}`,
      minCapacity: options.minInstances,
      maxCapacity: options.maxInstances,
    });
    target.node.addDependency(endpoint);
    new CfnScalingPolicy(this, 'Concurrency', {
      policyName: `${this.endpointName}-concurrency`,
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
        scaleInCooldown: Math.max(300, deadlineSeconds + 60),
      },
    });
  }
}

/**
 * The instance type is part of the name, because SageMaker can't change the type of an endpoint that scales. Another
 * type makes a new endpoint, and the old one is deleted after the functions use the new one.
 */
function nameOf(scope: Construct, { instanceType }: ModelEndpoint): string {
  return `${Stack.of(scope).stackName}-${instanceType.replace(/^ml\./, '').replaceAll('.', '-')}`.toLowerCase();
}

/**
 * Starts new instances beside the old ones, moves all traffic, and ends the old ones after their last request. A rolling
 * update would need at least two instances.
 */
function deploymentConfig(alarmName: string, deadlineSeconds: number): CfnEndpoint.DeploymentConfigProperty {
  return {
    autoRollbackConfiguration: { alarms: [{ alarmName }] },
    blueGreenUpdatePolicy: {
      trafficRoutingConfiguration: { type: 'ALL_AT_ONCE', waitIntervalInSeconds: bakeSeconds },
      terminationWaitInSeconds: Math.max(bakeSeconds, deadlineSeconds + 60),
      maximumExecutionTimeoutInSeconds: deploymentSeconds,
    },
  };
}

function s3Place(uri: string): { bucket: string; prefix: string } {
  const [, bucket, prefix] = /^s3:\/\/([^/]+)\/(.*)$/.exec(uri)!;
  return { bucket: bucket!, prefix: prefix! };
}

/** @param uri `ACCOUNT.dkr.ecr.REGION.amazonaws.com/NAME:TAG` or `…/NAME@DIGEST` */
function imageRepository(scope: Construct, uri: string) {
  const [, account, region, name] = /^(\d+)\.dkr\.ecr\.([a-z0-9-]+)\.[^/]+\/([^:@]+)/.exec(uri)!;
  const repositoryArn = Stack.of(scope).formatArn({
    service: 'ecr',
    account: account!,
    region: region!,
    resource: 'repository',
    resourceName: name!,
  });
  return Repository.fromRepositoryAttributes(scope, 'Repository', { repositoryArn, repositoryName: name! });
}
