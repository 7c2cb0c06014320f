import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Aws, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import {
  CfnScalableTarget,
  CfnScalingPolicy,
  PredefinedMetric,
} from 'aws-cdk-lib/aws-applicationautoscaling';
import { Alarm, ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { Repository } from 'aws-cdk-lib/aws-ecr';
import { DockerImageAsset, Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { CfnEndpoint, CfnEndpointConfig, CfnModel } from 'aws-cdk-lib/aws-sagemaker';
import { Construct } from 'constructs';
import { maxDeadlineSeconds, type ModelEndpointOptions } from '../../configuration.ts';
import { accept } from '../accepted-findings.ts';
import type { ModelNetwork } from './model-network.ts';

export interface ModelEndpointProps {
  readonly endpointName: string;
  readonly options: ModelEndpointOptions;
  /** Where the containers run; null for SageMaker's own network, from which they reach the internet. */
  readonly network: ModelNetwork | null;
  readonly logRetention: RetentionDays;
}

/** The name of the only variant, a dimension of the endpoint's metrics. */
export const variantName = 'AllTraffic';
const projectRoot = fileURLToPath(new URL('../../..', import.meta.url));

/** An instance downloads tens of gigabytes, then loads them into its GPU. Each step may take half an hour. */
const startStepSeconds = 1800;
const deploymentSeconds = 7200;
/** How long the old instances stay ready for a rollback after the new ones got all the traffic. */
const bakeSeconds = 300;
/**
 * No generation runs longer. It is a constant, because an endpoint can't be updated with another deployment configuration
 * alone: SageMaker wants another endpoint configuration, too.
 */
const longestGenerationSeconds = maxDeadlineSeconds + 60;

/** A SageMaker endpoint with the model server, and the scaling of its instances. */
export class ModelEndpoint extends Construct {
  readonly endpoint: CfnEndpoint;
  private readonly props: ModelEndpointProps;

  constructor(scope: Construct, id: string, props: ModelEndpointProps) {
    super(scope, id);
    this.props = props;
    this.endpoint = this.addEndpoint(props.options);
    this.addScaling(props.options);
  }

  private addEndpoint(options: ModelEndpointOptions): CfnEndpoint {
    const { endpointName, network, logRetention } = this.props;
    const alarm = this.addRollbackAlarm();
    const role = this.addRole(options);
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
      ...(network !== null && { vpcConfig: network.vpcConfig }),
    });
    // SageMaker reads the image and the weights at once, so the role must have its policy by then.
    model.node.addDependency(role.node.findChild('DefaultPolicy'), ...(network === null ? [] : [network]));
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
    const endpoint = new CfnEndpoint(this, 'Endpoint', {
      endpointName,
      endpointConfigName: config.attrEndpointConfigName,
      // A deployment keeps the number of instances that scaling has reached.
      retainAllVariantProperties: true,
      deploymentConfig: deploymentConfig(alarm.alarmName),
    });
    // If it were not there, SageMaker would make it and keep its lines forever.
    const logGroup = new LogGroup(this, 'Log', {
      logGroupName: logGroupNameOf(endpointName),
      retention: logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
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

  /** SageMaker runs the instances with it. It may read the weights and the image (see `addImage`) and write logs and metrics. */
  private addRole({ modelData, modelDataKeyArn }: ModelEndpointOptions): Role {
    const { endpointName, network } = this.props;
    const { bucket, prefix } = s3Place(modelData);
    const bucketArn = `arn:${Aws.PARTITION}:s3:::${bucket}`;
    const logGroup = `log-group:${logGroupNameOf(endpointName)}`;
    const logGroupArn = `arn:${Aws.PARTITION}:logs:${Aws.REGION}:${Aws.ACCOUNT_ID}:${logGroup}`;
    const role = new Role(this, 'Role', {
      description: 'SageMaker starts the model with it',
      assumedBy: new ServicePrincipal('sagemaker.amazonaws.com'),
    });
    const allow = (actions: string[], resources: string[], conditions = {}) =>
      role.addToPolicy(new PolicyStatement({ actions, resources, conditions }));
    allow(['s3:GetObject'], [`${bucketArn}/${prefix}*`]);
    allow(['s3:ListBucket'], [bucketArn], { StringLike: { 's3:prefix': `${prefix}*` } });
    if (modelDataKeyArn !== null) {
      allow(['kms:Decrypt'], [modelDataKeyArn], {
        StringEquals: { 'kms:ViaService': `s3.${Aws.REGION}.${Aws.URL_SUFFIX}` },
      });
    }
    // Not `CreateLogGroup`: SageMaker would make the group again after it was deleted, and keep its lines forever.
    allow(
      ['logs:CreateLogStream', 'logs:DescribeLogStreams', 'logs:PutLogEvents'],
      [logGroupArn, `${logGroupArn}:*`],
    );
    allow(['cloudwatch:PutMetricData'], ['*'], {
      StringEquals: { 'cloudwatch:namespace': '/aws/sagemaker/Endpoints' },
    });
    network?.grantUse(role);
    accept(role, {
      [`AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:s3:::${bucket}/${prefix}*]`]:
        'The model is everything below its one prefix; nothing else of the bucket can be read.',
      [`AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:logs:<AWS::Region>:<AWS::AccountId>:${logGroup}:*]`]:
        "SageMaker names the streams itself; they are in this endpoint's one log group.",
      'AwsSolutions-IAM5[Resource::*]':
        'Metrics, which a condition holds to one namespace, the log-in to ECR, and the actions on network interfaces that SageMaker asks for have no ARNs beforehand.',
    });
    return role;
  }

  /** @throws Error for a folder without a Dockerfile. */
  private addImage(image: ModelEndpointOptions['image'], role: Role): string {
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

  private addScaling(options: ModelEndpointOptions): void {
    const { endpointName } = this.props;
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

/** SageMaker chooses this name. */
function logGroupNameOf(endpointName: string): string {
  return `/aws/sagemaker/Endpoints/${endpointName}`;
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
