import { describe, expect, test } from '@jest/globals';
import { readConfiguration } from '../../lib/configuration.ts';
import { configurations, type ConfigurationName } from '../support/configurations.ts';
import type { Template } from '../support/policies.ts';
import { modelTemplateOf } from '../support/stack-templates.ts';
import { allProperties, only, plain, propertiesOf, resourcesOf } from './resources.ts';

// The permissions of the endpoint's own role are in template-summary.txt.
const template = modelTemplateOf('everything');
const endpointName = 'image-generation-test-model-g6-xlarge';
const policyOf = (of: Template) => propertiesOf(of, 'AWS::IAM::Policy').PolicyDocument.Statement;
const variantOf = (name: ConfigurationName) =>
  propertiesOf(modelTemplateOf(name), 'AWS::SageMaker::EndpointConfig').ProductionVariants[0];

describe('the endpoint', () => {
  const { id: endpointId, Properties: endpoint } = only(template, 'AWS::SageMaker::Endpoint');

  test('runs the image with the model data under the prefix, uncompressed', () => {
    const { PrimaryContainer: container } = propertiesOf(template, 'AWS::SageMaker::Model');
    expect(container).toMatchObject({
      Image: '123456789012.dkr.ecr.eu-west-1.amazonaws.com/team/inference:1',
      ModelDataSource: {
        S3DataSource: {
          S3Uri: 's3://models.example/models/sdxl/',
          S3DataType: 'S3Prefix',
          CompressionType: 'None',
        },
      },
    });
  });

  test('sends a request to the instance with the fewest, and gives instances time to load tens of gigabytes', () => {
    expect(variantOf('everything')).toMatchObject({
      InstanceType: 'ml.g6.xlarge',
      InitialInstanceCount: 1,
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

  test('has a model and a configuration without names, which a replacement would find taken', () => {
    expect(propertiesOf(template, 'AWS::SageMaker::Model').ModelName).toBeUndefined();
    expect(propertiesOf(template, 'AWS::SageMaker::EndpointConfig').EndpointConfigName).toBeUndefined();
  });

  test("rolls a deployment back when this endpoint's model answers with errors, and keeps the number of instances", () => {
    const [alarmId, alarm] = [...resourcesOf(template, 'AWS::CloudWatch::Alarm')].find(([id]) =>
      id.startsWith('ModelModelErrors'),
    )!;
    expect(alarm.Properties).toMatchObject({
      MetricName: 'InvocationModelErrors',
      Dimensions: [
        { Name: 'EndpointName', Value: endpointName },
        { Name: 'VariantName', Value: variantOf('everything').VariantName },
      ],
      TreatMissingData: 'notBreaching',
    });
    expect(endpoint.EndpointName).toBe(endpointName);
    expect(endpoint.RetainAllVariantProperties).toBe(true);
    const [rollback] = endpoint.DeploymentConfig.AutoRollbackConfiguration.Alarms;
    expect(plain(rollback.AlarmName)).toBe(`<${alarmId}>`);
  });

  test('scales by the requests in flight, within the limits of the configuration', () => {
    const tuned = modelTemplateOf('tuned');
    expect(variantOf('tuned').InitialInstanceCount).toBe(2);
    expect(propertiesOf(tuned, 'AWS::ApplicationAutoScaling::ScalableTarget')).toMatchObject({
      MinCapacity: 2,
      MaxCapacity: 7,
      ResourceId: 'endpoint/image-generation-prod-model-g6e-2xlarge/variant/AllTraffic',
      ScalableDimension: 'sagemaker:variant:DesiredInstanceCount',
    });
    const [{ TargetTrackingScalingPolicyConfiguration: tracking }] = allProperties(
      tuned,
      'AWS::ApplicationAutoScaling::ScalingPolicy',
    );
    expect(tracking).toMatchObject({
      TargetValue: 3,
      PredefinedMetricSpecification: {
        PredefinedMetricType: 'SageMakerVariantConcurrentRequestsPerModelHighResolution',
      },
    });
  });

  test('is registered for scaling only once it is there', () => {
    expect(only(template, 'AWS::ApplicationAutoScaling::ScalableTarget').DependsOn).toEqual([endpointId]);
  });

  test('is not changed by another deadline of generations alone, which SageMaker would refuse', () => {
    const ofDeadlines = (['small', 'everything', 'tuned'] as const).map((name) => {
      const { DeploymentConfig } = propertiesOf(modelTemplateOf(name), 'AWS::SageMaker::Endpoint');
      return DeploymentConfig.BlueGreenUpdatePolicy;
    });
    expect(ofDeadlines[1]).toEqual(ofDeadlines[0]);
    expect(ofDeadlines[2]).toEqual(ofDeadlines[0]);
  });

  test('logs to a group that is there first, does not keep its lines forever, and is not made again', () => {
    const { id, Properties: group } = only(template, 'AWS::Logs::LogGroup');
    expect(group).toEqual({ LogGroupName: `/aws/sagemaker/Endpoints/${endpointName}`, RetentionInDays: 30 });
    expect(template.Resources[endpointId]!.DependsOn).toContain(id);
    expect(JSON.stringify(template)).not.toContain('logs:CreateLogGroup');
  });

  test('may decrypt its model data by the key that the configuration names, through S3 only', () => {
    const decrypting = (name: ConfigurationName) =>
      policyOf(modelTemplateOf(name)).filter(({ Action }: any) => [Action].flat().includes('kms:Decrypt'));
    expect(decrypting('everything')).toEqual([]);
    const [{ Resource, Condition }, ...more] = decrypting('tuned');
    expect([Resource, more]).toEqual([configurations.tuned.inference.modelDataKeyArn, []]);
    expect(plain(Condition)).toBe('{StringEquals: {kms:ViaService: s3.<AWS::Region>.<AWS::URLSuffix>}}');
  });

  test.each(['small', 'everything', 'tuned'] as const)(
    'with the deadline of the configuration "%s" cuts off no generation by scaling or by a deployment',
    (name) => {
      const { generationDeadlineSeconds } = readConfiguration(configurations[name], name);
      const of = modelTemplateOf(name);
      const { TargetTrackingScalingPolicyConfiguration: tracking } = propertiesOf(
        of,
        'AWS::ApplicationAutoScaling::ScalingPolicy',
      );
      expect(tracking.ScaleInCooldown).toBeGreaterThan(generationDeadlineSeconds);
      expect(tracking.ScaleOutCooldown).toBeLessThanOrEqual(60);
      const update = propertiesOf(of, 'AWS::SageMaker::Endpoint').DeploymentConfig.BlueGreenUpdatePolicy;
      expect(update.TerminationWaitInSeconds).toBeGreaterThan(generationDeadlineSeconds);
      const waits =
        update.TerminationWaitInSeconds + update.TrafficRoutingConfiguration.WaitIntervalInSeconds;
      expect(update.MaximumExecutionTimeoutInSeconds).toBeGreaterThan(waits + 2 * 1800);
    },
  );
});
