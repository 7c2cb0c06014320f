import { describe, expect, test } from '@jest/globals';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { environmentVariables, maxGenerationDeadlineSeconds, noModelEndpoint } from '../../shared/config.ts';
import { allowing, deployed, ownEndpoint, uri } from './inference-stack.ts';

const modelVariable = (value: unknown) => ({
  Environment: { Variables: Match.objectLike({ [environmentVariables.modelEndpointName]: value }) },
});

describe('without a model', () => {
  const { template, model, statementsOf: statements } = deployed({ kind: 'none' });

  test('functions are told that there is none, and may invoke nothing', () => {
    expect(model.endpointName).toBe(noModelEndpoint);
    template.hasResourceProperties('AWS::Lambda::Function', modelVariable(noModelEndpoint));
    expect(JSON.stringify(statements('Generate'))).not.toContain('sagemaker:');
  });

  test('there is nothing of SageMaker that costs', () => {
    template.resourceCountIs('AWS::SageMaker::Endpoint', 0);
    template.resourceCountIs('AWS::ApplicationAutoScaling::ScalableTarget', 0);
    expect(model.variantName).toBeNull();
  });
});

describe('with an endpoint that exists already', () => {
  const { template, statementsOf: statements } = deployed({ kind: 'existing', endpointName: 'Painter-2' });

  test('functions may stream from that endpoint in either spelling, and do nothing else with SageMaker', () => {
    template.hasResourceProperties('AWS::Lambda::Function', modelVariable('Painter-2'));
    const own = statements('Generate').filter(({ Action }) => String(Action).includes('sagemaker'));
    expect(own).toHaveLength(1);
    expect(own[0]).toMatchObject({
      Action: 'sagemaker:InvokeEndpointWithResponseStream',
      Resource: ['arn:*:sagemaker:*:*:endpoint/painter-2', 'arn:*:sagemaker:*:*:endpoint/Painter-2'],
    });
  });

  test('nothing of it is changed by the stack', () => {
    expect(Object.keys(template.toJSON().Resources).filter((id) => id.startsWith('Inference'))).toEqual([]);
  });
});

describe('with an endpoint of its own', () => {
  const { template, model, statementsOf: statements } = deployed(ownEndpoint);
  const name = 'image-generation-test-g6-xlarge';

  test('functions may stream from that endpoint alone', () => {
    expect(model.endpointName).toBe(name);
    template.hasResourceProperties('AWS::SageMaker::Endpoint', { EndpointName: name });
    template.hasResourceProperties('AWS::Lambda::Function', modelVariable(name));
    expect(allowing(statements('Generate'), 'sagemaker:InvokeEndpointWithResponseStream')).toMatchObject([
      { Resource: `arn:*:sagemaker:*:*:endpoint/${name}` },
    ]);
  });

  test('the model is the image and what lies below the prefix, uncompressed', () => {
    template.hasResourceProperties('AWS::SageMaker::Model', {
      PrimaryContainer: {
        Image: uri,
        ModelDataSource: {
          S3DataSource: {
            S3Uri: 's3://weights/models/sdxl/',
            S3DataType: 'S3Prefix',
            CompressionType: 'None',
          },
        },
      },
    });
  });

  test('its role reads that prefix and pulls that image only', () => {
    const granted = statements('InferenceRole');
    expect(allowing(granted, 's3:GetObject').map(({ Resource }) => Resource)).toEqual([
      'arn:*:s3:::weights/models/sdxl/*',
    ]);
    expect(allowing(granted, 's3:ListBucket')).toMatchObject([
      { Resource: 'arn:*:s3:::weights', Condition: { StringLike: { 's3:prefix': 'models/sdxl/*' } } },
    ]);
    expect(allowing(granted, 'ecr:BatchGetImage').map(({ Resource }) => Resource)).toEqual([
      'arn:*:ecr:eu-west-1:123456789012:repository/team/painter',
    ]);
  });

  test('its role writes the logs and metrics of this endpoint and nothing else', () => {
    const granted = statements('InferenceRole');
    const logs = `arn:*:logs:*:*:log-group:/aws/sagemaker/Endpoints/${name}`;
    expect(allowing(granted, 'logs:PutLogEvents').map(({ Resource }) => Resource)).toEqual([
      [logs, `${logs}:*`],
    ]);
    const metrics = allowing(granted, 'cloudwatch:PutMetricData');
    expect(metrics).toMatchObject([
      { Condition: { StringEquals: { 'cloudwatch:namespace': '/aws/sagemaker/Endpoints' } } },
    ]);
    const writing = /^(s3|ecr|logs|cloudwatch|sagemaker|dynamodb|lambda):(Put|Create|Delete|Update|Invoke)/;
    const writes = granted.flatMap(({ Action }) => Action).filter((action) => writing.test(action));
    const own = [
      'logs:CreateLogGroup',
      'logs:CreateLogStream',
      'logs:PutLogEvents',
      'cloudwatch:PutMetricData',
    ];
    expect(writes).toEqual(own);
    const everywhere = granted.filter(({ Resource }) => [Resource].flat().includes('*'));
    const reachingEverything = ['cloudwatch:PutMetricData', 'ecr:GetAuthorizationToken'];
    expect(everywhere.flatMap(({ Action }) => Action)).toEqual(reachingEverything);
  });

  test('requests go to the instance with the least to do, and instances have time to load tens of gigabytes', () => {
    template.hasResourceProperties('AWS::SageMaker::EndpointConfig', {
      ProductionVariants: [
        {
          VariantName: model.variantName,
          InstanceType: 'ml.g6.xlarge',
          InitialInstanceCount: 1,
          RoutingConfig: { RoutingStrategy: 'LEAST_OUTSTANDING_REQUESTS' },
          ModelDataDownloadTimeoutInSeconds: 1800,
          ContainerStartupHealthCheckTimeoutInSeconds: 1800,
        },
      ],
    });
  });

  test('instances start with a driver for CUDA 13, unless another system is chosen, or the choice is left to SageMaker', () => {
    const driverOf = (variant: Template, version: unknown) =>
      variant.hasResourceProperties('AWS::SageMaker::EndpointConfig', {
        ProductionVariants: [Match.objectLike({ InferenceAmiVersion: version })],
      });
    driverOf(template, 'al2023-ami-sagemaker-inference-gpu-4-1');
    const older = 'al2-ami-sagemaker-inference-gpu-3-1';
    driverOf(deployed({ ...ownEndpoint, amiVersion: older }).template, older);
    driverOf(deployed({ ...ownEndpoint, amiVersion: null }).template, Match.absent());
  });

  test('models and their configurations have no names that a replacement would find taken', () => {
    template.hasResourceProperties('AWS::SageMaker::Model', { ModelName: Match.absent() });
    template.hasResourceProperties('AWS::SageMaker::EndpointConfig', { EndpointConfigName: Match.absent() });
  });

  test("a deployment is taken back when this endpoint's model answers with errors, and keeps the instances there are", () => {
    const [alarm] = Object.keys(template.findResources('AWS::CloudWatch::Alarm'));
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'InvocationModelErrors',
      Dimensions: [
        { Name: 'EndpointName', Value: name },
        { Name: 'VariantName', Value: model.variantName },
      ],
      TreatMissingData: 'notBreaching',
    });
    template.hasResourceProperties('AWS::SageMaker::Endpoint', {
      RetainAllVariantProperties: true,
      DeploymentConfig: { AutoRollbackConfiguration: { Alarms: [{ AlarmName: { Ref: alarm } }] } },
    });
  });

  test('another type of instance makes another endpoint beside the old one', () => {
    const other = deployed({ ...ownEndpoint, instanceType: 'ml.g6e.2xlarge' });
    expect(other.model.endpointName).toBe('image-generation-test-g6e-2xlarge');
  });
});

describe('scaling', () => {
  test('the number of instances follows the requests in flight, within the limits of the configuration', () => {
    const scaled = { ...ownEndpoint, minInstances: 2, maxInstances: 7, targetConcurrency: 3 };
    const { template } = deployed(scaled);
    template.hasResourceProperties('AWS::SageMaker::EndpointConfig', {
      ProductionVariants: [Match.objectLike({ InitialInstanceCount: 2 })],
    });
    template.hasResourceProperties('AWS::ApplicationAutoScaling::ScalableTarget', {
      MinCapacity: 2,
      MaxCapacity: 7,
      ResourceId: 'endpoint/image-generation-test-g6-xlarge/variant/AllTraffic',
      ScalableDimension: 'sagemaker:variant:DesiredInstanceCount',
    });
    template.hasResourceProperties('AWS::ApplicationAutoScaling::ScalingPolicy', {
      TargetTrackingScalingPolicyConfiguration: {
        TargetValue: 3,
        PredefinedMetricSpecification: {
          PredefinedMetricType: 'SageMakerVariantConcurrentRequestsPerModelHighResolution',
        },
      },
    });
  });

  test('instances are registered for scaling only once the endpoint is there', () => {
    const { template } = deployed(ownEndpoint);
    const [endpoint] = Object.keys(template.findResources('AWS::SageMaker::Endpoint'));
    template.hasResource('AWS::ApplicationAutoScaling::ScalableTarget', { DependsOn: [endpoint] });
  });

  test.each([5, 60, 300, maxGenerationDeadlineSeconds])(
    'a generation of %i seconds outlives neither the pause between two removals nor the old fleet of a deployment',
    (deadlineSeconds) => {
      const { template } = deployed(ownEndpoint, deadlineSeconds);
      const [policy] = Object.values(template.findResources('AWS::ApplicationAutoScaling::ScalingPolicy'));
      const tracking = policy!.Properties.TargetTrackingScalingPolicyConfiguration;
      expect(tracking.ScaleInCooldown).toBeGreaterThan(deadlineSeconds);
      expect(tracking.ScaleOutCooldown).toBeLessThanOrEqual(60);
      const [endpoint] = Object.values(template.findResources('AWS::SageMaker::Endpoint'));
      const update = endpoint!.Properties.DeploymentConfig.BlueGreenUpdatePolicy;
      expect(update.TerminationWaitInSeconds).toBeGreaterThan(deadlineSeconds);
      const waits =
        update.TerminationWaitInSeconds + update.TrafficRoutingConfiguration.WaitIntervalInSeconds;
      expect(update.MaximumExecutionTimeoutInSeconds).toBeGreaterThan(waits + 2 * 1800);
    },
  );
});
