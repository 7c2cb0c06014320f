import { describe, expect, test } from '@jest/globals';
import { readConfiguration } from '../../lib/configuration.ts';
import { configurations, type ConfigurationName } from '../support/configurations.ts';
import { modelTemplateOf } from '../support/stack-templates.ts';
import { only, plain, propertiesOf, resourcesOf } from './resources.ts';

// The permissions of the endpoint's own role are in template-summary.txt, its name and its log's in kept-ids.txt.
const template = modelTemplateOf('everything');
const variantOf = (name: ConfigurationName) =>
  propertiesOf(modelTemplateOf(name), 'AWS::SageMaker::EndpointConfig').ProductionVariants[0];
const scalingOf = (name: ConfigurationName) =>
  propertiesOf(modelTemplateOf(name), 'AWS::ApplicationAutoScaling::ScalingPolicy')
    .TargetTrackingScalingPolicyConfiguration;

describe('the endpoint', () => {
  const { id: endpointId, Properties: endpoint } = only(template, 'AWS::SageMaker::Endpoint');

  test('runs the image with the model data under the prefix, uncompressed', () => {
    expect(propertiesOf(template, 'AWS::SageMaker::Model').PrimaryContainer).toMatchObject({
      Image: '123456789012.dkr.ecr.eu-west-1.amazonaws.com/team/inference:1',
      ModelDataSource: {
        S3DataSource: { S3Uri: 's3://models.example/models/sdxl/', CompressionType: 'None' },
      },
    });
  });

  test('sends a request to the instance with the fewest, and gives instances time to load tens of gigabytes', () => {
    expect(variantOf('everything')).toMatchObject({
      RoutingConfig: { RoutingStrategy: 'LEAST_OUTSTANDING_REQUESTS' },
      ModelDataDownloadTimeoutInSeconds: 1800,
      ContainerStartupHealthCheckTimeoutInSeconds: 1800,
    });
  });

  test.each<[ConfigurationName, string | undefined]>([
    ['everything', 'al2023-ami-sagemaker-inference-gpu-4-1'],
    ['tuned', 'al2-ami-sagemaker-inference-gpu-3-1'],
    ['small', undefined],
  ])('with the configuration "%s" starts its instances with the system image %s', (name, version) => {
    expect(variantOf(name).InferenceAmiVersion).toBe(version);
  });

  test('has one type of instances, or several in the order in which AWS is asked for them', () => {
    expect(variantOf('everything')).toMatchObject({ InstanceType: 'ml.g6.xlarge' });
    expect(variantOf('everything')).not.toHaveProperty('InstancePools');
    expect(variantOf('tuned')).not.toHaveProperty('InstanceType');
    expect(variantOf('tuned').InstancePools).toEqual([
      { InstanceType: 'ml.g6e.2xlarge', Priority: 1 },
      { InstanceType: 'ml.g6e.4xlarge', Priority: 2 },
      { InstanceType: 'ml.g5.2xlarge', Priority: 3 },
    ]);
  });

  test('has a model and a configuration without names, which a replacement would find taken', () => {
    expect(propertiesOf(template, 'AWS::SageMaker::Model').ModelName).toBeUndefined();
    expect(propertiesOf(template, 'AWS::SageMaker::EndpointConfig').EndpointConfigName).toBeUndefined();
  });

  test.each(['everything', 'atZero'] as const)('tells how its instances start, in both forms: %s', (name) => {
    const { MetricsConfig } = propertiesOf(modelTemplateOf(name), 'AWS::SageMaker::EndpointConfig');
    expect(MetricsConfig).toEqual({ EnableDetailedObservability: true });
  });

  test("rolls a deployment back when this endpoint's model answers with errors, and keeps the number of instances", () => {
    const [alarmId, alarm] = [...resourcesOf(template, 'AWS::CloudWatch::Alarm')].find(([id]) =>
      id.startsWith('ModelModelErrors'),
    )!;
    expect(alarm.Properties).toMatchObject({
      MetricName: 'InvocationModelErrors',
      Dimensions: [
        { Name: 'EndpointName', Value: endpoint.EndpointName },
        { Name: 'VariantName', Value: variantOf('everything').VariantName },
      ],
      TreatMissingData: 'notBreaching',
    });
    expect(endpoint.RetainAllVariantProperties).toBe(true);
    const [rollback] = endpoint.DeploymentConfig.AutoRollbackConfiguration.Alarms;
    expect(plain(rollback.AlarmName)).toBe(`<${alarmId}>`);
  });

  test('scales by the requests in flight, within the limits of the configuration, once it is there', () => {
    expect(variantOf('tuned').InitialInstanceCount).toBe(2);
    const tuned = only(modelTemplateOf('tuned'), 'AWS::ApplicationAutoScaling::ScalableTarget');
    expect(tuned.Properties).toMatchObject({
      MinCapacity: 2,
      MaxCapacity: 7,
      ResourceId: 'endpoint/image-generation-prod-model-g6e-2xlarge/variant/AllTraffic',
    });
    expect(tuned.DependsOn).toEqual([endpointId]);
    expect(scalingOf('tuned')).toMatchObject({
      TargetValue: 3,
      PredefinedMetricSpecification: {
        PredefinedMetricType: 'SageMakerVariantConcurrentRequestsPerModelHighResolution',
      },
    });
  });

  test('logs to a group that is there first and does not keep its lines forever', () => {
    const { id, Properties: group } = only(template, 'AWS::Logs::LogGroup');
    expect(group.RetentionInDays).toBe(30);
    expect(template.Resources[endpointId]!.DependsOn).toContain(id);
  });

  const withDeadlines = ['small', 'everything', 'tuned'] as const;
  const updateOf = (name: ConfigurationName) =>
    propertiesOf(modelTemplateOf(name), 'AWS::SageMaker::Endpoint').DeploymentConfig.BlueGreenUpdatePolicy;

  test('is not changed by another deadline of generations alone, which SageMaker would refuse', () => {
    for (const name of withDeadlines) expect(updateOf(name)).toEqual(updateOf('small'));
  });

  test.each(withDeadlines)(
    'with the deadline of the configuration "%s" cuts off no generation by scaling or by a deployment',
    (name) => {
      const { generationDeadlineSeconds } = readConfiguration(configurations[name], name);
      expect(scalingOf(name).ScaleInCooldown).toBeGreaterThan(generationDeadlineSeconds);
      expect(scalingOf(name).ScaleOutCooldown).toBeLessThanOrEqual(60);
      const update = updateOf(name);
      expect(update.TerminationWaitInSeconds).toBeGreaterThan(generationDeadlineSeconds);
      const waits =
        update.TerminationWaitInSeconds + update.TrafficRoutingConfiguration.WaitIntervalInSeconds;
      expect(update.MaximumExecutionTimeoutInSeconds).toBeGreaterThan(waits + 2 * 1800);
    },
  );
});
