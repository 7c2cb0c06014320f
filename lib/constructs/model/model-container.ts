import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Aws, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import { Repository } from 'aws-cdk-lib/aws-ecr';
import { DockerImageAsset, Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { PolicyStatement, Role, type IRole } from 'aws-cdk-lib/aws-iam';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { CfnModel } from 'aws-cdk-lib/aws-sagemaker';
import type { Construct } from 'constructs';
import type { ModelEndpointOptions } from '../../configuration.ts';
import { instanceTypesOf } from '../../inference-options.ts';
import { maxDeadlineSeconds } from '../../options.ts';
import { accept } from '../accepted-findings.ts';
import { addModelRole, s3Place, type NetworkOfModel } from './model-network.ts';

/** What an endpoint is made of, in both of its forms. */
export interface ModelEndpointProps {
  readonly endpointName: string;
  readonly options: ModelEndpointOptions;
  /** Where the containers run; null for SageMaker's own network, from which they reach the internet. */
  readonly network: NetworkOfModel | null;
  readonly logRetention: RetentionDays;
}

/** What differs between the forms of an endpoint. */
interface ContainerProps extends ModelEndpointProps {
  /** SageMaker chooses the name. */
  readonly logGroupName: string;
  /** Where SageMaker reports how busy the instances are. */
  readonly metricNamespaces: string | readonly string[];
  /** Whether the model names its network. If not, the endpoint's configuration does. */
  readonly hasNetwork: boolean;
}

/** The name of the only variant, a dimension of the endpoint's metrics. */
export const variantName = 'AllTraffic';
const projectRoot = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * What the variant has in both forms. Of several types SageMaker starts the first that AWS has, and later ends those of the last
 * first; an endpoint with one type can be given several (Amazon SageMaker, "Deploy to multiple instance types with instance
 * pools").
 */
export function variantOf(options: ModelEndpointOptions) {
  const { instanceType, amiVersion } = options;
  const pools = instanceTypesOf(options).map((type, i) => ({ instanceType: type, priority: i + 1 }));
  return {
    variantName,
    ...(pools.length === 1 ? { instanceType } : { instancePools: pools }),
    ...(amiVersion !== null && { inferenceAmiVersion: amiVersion }),
    routingConfig: { routingStrategy: 'LEAST_OUTSTANDING_REQUESTS' },
  };
}

/**
 * Why no instance comes, and how long each part of a start takes (docs/runbook.md, "Starts of instances"). It is SageMaker's
 * default for configurations since June 2026, and said here because the runbook counts on it.
 */
export const metricsConfig = { enableDetailedObservability: true };

/** An instance downloads tens of gigabytes, then loads them into its GPU. Each step may take half an hour. */
export const startStepSeconds = 1800;
/**
 * No generation runs longer. It is a constant, because an endpoint can't be updated with another deployment configuration
 * alone: SageMaker wants another endpoint configuration, too.
 */
export const longestGenerationSeconds = maxDeadlineSeconds + 60;

/**
 * Where callers wait for a start from zero, it compiles for 30 seconds instead of 120, and images then take longer. The image's
 * `compile_cache/` spares both (inference/README.md, "Speed").
 */
const environmentOf = ({ minInstances, environment }: ModelEndpointOptions) => ({
  ...(minInstances === 0 && { COMPILE_SECONDS: '30' }),
  ...environment,
});

/** The model with its image, its role and its log, for which everything that starts the container must wait. */
export function addContainer(scope: Construct, props: ContainerProps) {
  const { options, network, hasNetwork, logGroupName, logRetention } = props;
  const { role, policy } = addRole(scope, props);
  const model = new CfnModel(scope, 'Model', {
    executionRoleArn: role.roleArn,
    primaryContainer: {
      image: addImage(scope, options.image, role),
      environment: environmentOf(options),
      modelDataSource: {
        s3DataSource: { s3Uri: options.modelData, s3DataType: 'S3Prefix', compressionType: 'None' },
      },
    },
    ...(network !== null && hasNetwork && { vpcConfig: network.vpcConfig }),
  });
  // SageMaker reads the image and the weights at once, so the role must have its policy by then. It also loses it last.
  model.node.addDependency(policy);
  // If it were not there, SageMaker would make it and keep its lines forever.
  const logGroup = new LogGroup(scope, 'Log', {
    logGroupName,
    retention: logRetention,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  return { model, role, policy, logGroup };
}

/**
 * The network's role, or one of the model's own, with what this model needs: it may read the weights and the image (see
 * `addImage`) and write logs and metrics.
 */
function addRole(scope: Construct, { options, network, logGroupName, metricNamespaces }: ContainerProps) {
  const { modelData, modelDataKeyArn } = options;
  const { bucket, bucketArn, prefix } = s3Place(modelData);
  const logGroup = `log-group:${logGroupName}`;
  const logGroupArn = `arn:${Aws.PARTITION}:logs:${Aws.REGION}:${Aws.ACCOUNT_ID}:${logGroup}`;
  const role: IRole =
    network === null ? addModelRole(scope) : Role.fromRoleName(scope, 'Role', network.roleName);
  const allow = (actions: string[], resources: string[], conditions = {}) =>
    role.addToPrincipalPolicy(new PolicyStatement({ actions, resources, conditions }));
  const policy = allow(['s3:GetObject'], [`${bucketArn}/${prefix}*`]).policyDependable!;
  // Also for the prefix without its slash, which some programs ask for before they copy a folder.
  const prefixes = [`${prefix}*`, prefix.replace(/\/$/, '')];
  allow(['s3:ListBucket'], [bucketArn], { StringLike: { 's3:prefix': prefixes } });
  allow(['s3:GetBucketLocation'], [bucketArn]);
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
    StringEquals: { 'cloudwatch:namespace': metricNamespaces },
  });
  accept(role, {
    [`AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:s3:::${bucket}/${prefix}*]`]:
      'The model is everything below its one prefix; nothing else of the bucket can be read.',
    [`AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:logs:<AWS::Region>:<AWS::AccountId>:${logGroup}:*]`]:
      "SageMaker names the streams itself; they are in this endpoint's one log group.",
    'AwsSolutions-IAM5[Resource::*]':
      'Metrics, which a condition holds to one namespace, and the log-in to ECR have no ARNs.',
  });
  return { role, policy };
}

/** @throws Error for a folder without a Dockerfile. */
function addImage(scope: Construct, image: ModelEndpointOptions['image'], role: IRole): string {
  if ('uri' in image) {
    imageRepository(scope, image.uri).grantPull(role);
    return image.uri;
  }
  const directory = resolve(projectRoot, image.folder);
  if (!existsSync(resolve(directory, 'Dockerfile'))) {
    throw new Error(
      `There is no ${image.folder}/Dockerfile: name a folder that has one, or an image in ECR, with "image": {"uri": "…"}.`,
    );
  }
  const asset = new DockerImageAsset(scope, 'Image', { directory, platform: Platform.LINUX_AMD64 });
  asset.repository.grantPull(role);
  return asset.imageUri;
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
