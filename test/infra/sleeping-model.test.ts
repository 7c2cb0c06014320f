import { describe, expect, test } from '@jest/globals';
import type { Template } from '../support/policies.ts';
import { modelTemplateOf } from '../support/stack-templates.ts';
import { evaluate, expressionOf, metricsOf, type AlarmProperties } from './monitored.ts';
import { allProperties, only, plain, propertiesOf, resourcesOf } from './resources.ts';

const template = modelTemplateOf('sleeping');
const small = modelTemplateOf('sleepingSmall');
const name = 'image-generation-night-model-g6-xlarge-zero';
const component = { InferenceComponentName: name };

/** A scaling policy by the end of its name, and the alarms that take it. */
function policyOf(end: string, of: Template = template) {
  const found = [...resourcesOf(of, 'AWS::ApplicationAutoScaling::ScalingPolicy')].filter(([, policy]) =>
    policy.Properties.PolicyName.endsWith(`-${end}`),
  );
  const alarms = allProperties(of, 'AWS::CloudWatch::Alarm').filter(
    ({ AlarmActions }) => AlarmActions.length === 1 && AlarmActions[0].Ref === found[0]?.[0],
  ) as AlarmProperties[];
  return { policy: found[0]?.[1].Properties, alarm: alarms[0]!, count: [found.length, alarms.length] };
}

const periodsOf = ({ Metrics: queries = [] }: AlarmProperties) =>
  queries.flatMap(({ MetricStat }) => (MetricStat ? [MetricStat.Period] : []));

describe('the endpoint', () => {
  const { Properties: config, id: configId } = only(template, 'AWS::SageMaker::EndpointConfig');
  const [variant, ...others] = config.ProductionVariants;

  test('may have no instance, and room for new copies beside the old ones', () => {
    expect(others).toEqual([]);
    expect(variant.ManagedInstanceScaling).toEqual({
      Status: 'ENABLED',
      MinInstanceCount: 0,
      MaxInstanceCount: 6,
    });
    expect(variant).toMatchObject({
      InitialInstanceCount: 1,
      InstanceType: 'ml.g6.xlarge',
      InferenceAmiVersion: 'al2023-ami-sagemaker-inference-gpu-4-1',
      RoutingConfig: { RoutingStrategy: 'LEAST_OUTSTANDING_REQUESTS' },
    });
    expect(propertiesOf(small, 'AWS::SageMaker::EndpointConfig').ProductionVariants[0]).not.toHaveProperty(
      'InferenceAmiVersion',
    );
  });

  test('names the role and the network itself, since no model is in its variant', () => {
    expect(variant).not.toHaveProperty('ModelName');
    expect(plain(config.ExecutionRoleArn)).toBe(`<${only(template, 'AWS::IAM::Role').id}.Arn>`);
    expect(config.VpcConfig.Subnets).toHaveLength(2);
    expect(propertiesOf(small, 'AWS::SageMaker::EndpointConfig')).not.toHaveProperty('VpcConfig');
  });

  test('is made after the network and the permissions of its role, and has no fixed configuration', () => {
    const waitsFor = template.Resources[configId]!.DependsOn!;
    expect(waitsFor).toContain(only(template, 'AWS::IAM::Policy').id);
    expect(waitsFor).toContain(only(template, 'AWS::EC2::VPCEndpoint').id);
    expect(config).not.toHaveProperty('EndpointConfigName');
    const { Properties: endpoint } = only(template, 'AWS::SageMaker::Endpoint');
    expect(endpoint).toEqual({
      EndpointName: name,
      EndpointConfigName: { 'Fn::GetAtt': [configId, 'EndpointConfigName'] },
    });
  });
});

describe('the component', () => {
  const { id: componentId, Properties: properties } = only(template, 'AWS::SageMaker::InferenceComponent');

  test("hosts the model on the endpoint's variant, a copy on the whole GPU of an instance", () => {
    const endpoint = only(template, 'AWS::SageMaker::Endpoint');
    const config = propertiesOf(template, 'AWS::SageMaker::EndpointConfig');
    expect(plain(properties.EndpointName)).toBe(`<${endpoint.id}.EndpointName>`);
    expect(properties.VariantName).toBe(config.ProductionVariants[0].VariantName);
    const { ModelName: model, ComputeResourceRequirements: needs } = properties.Specification;
    expect(plain(model)).toBe(`<${only(template, 'AWS::SageMaker::Model').id}.ModelName>`);
    expect(needs).toEqual({ NumberOfAcceleratorDevicesRequired: 1, MinMemoryRequiredInMb: 1024 });
  });

  test('has time to load tens of gigabytes, and starts one copy when it is deployed', () => {
    expect(properties.Specification.StartupParameters).toEqual({
      ModelDataDownloadTimeoutInSeconds: 1800,
      ContainerStartupHealthCheckTimeoutInSeconds: 1800,
    });
    expect(properties.RuntimeConfig).toEqual({ CopyCount: 1 });
  });

  test('logs to a group that is there first and is not made again, and may report its metrics', () => {
    const { id, Properties: group } = only(template, 'AWS::Logs::LogGroup');
    const logGroupName = `/aws/sagemaker/InferenceComponents/${name}`;
    expect(group).toEqual({ LogGroupName: logGroupName, RetentionInDays: 30 });
    expect(template.Resources[componentId]!.DependsOn).toContain(id);
    const policy = JSON.stringify(propertiesOf(template, 'AWS::IAM::Policy'));
    expect(policy).toContain(`log-group:${logGroupName}`);
    expect(policy).toContain('"/aws/sagemaker/InferenceComponents"');
    expect(policy).not.toContain('logs:CreateLogGroup');
  });
});

describe('the number of copies', () => {
  test('is scaled from 0 to maxInstances, once the component is there', () => {
    const { Properties: target, id } = only(template, 'AWS::ApplicationAutoScaling::ScalableTarget');
    expect(target).toEqual({
      ServiceNamespace: 'sagemaker',
      ScalableDimension: 'sagemaker:inference-component:DesiredCopyCount',
      ResourceId: `inference-component/${name}`,
      MinCapacity: 0,
      MaxCapacity: 3,
    });
    const componentId = only(template, 'AWS::SageMaker::InferenceComponent').id;
    expect(template.Resources[id]!.DependsOn).toEqual([componentId]);
    for (const policy of allProperties(template, 'AWS::ApplicationAutoScaling::ScalingPolicy')) {
      expect(policy.ScalingTargetId).toEqual({ Ref: id });
    }
  });

  test('is one after the first call that found none, however often it is asked', () => {
    const { policy, alarm, count } = policyOf('wake');
    expect(count).toEqual([1, 1]);
    expect(policy.StepScalingPolicyConfiguration).toMatchObject({
      AdjustmentType: 'ExactCapacity',
      StepAdjustments: [{ MetricIntervalLowerBound: 0, ScalingAdjustment: 1 }],
    });
    expect(measuredBy(alarm)).toEqual([
      { namespace: 'AWS/SageMaker', name: 'NoCapacityInvocationFailures', dimensions: component },
    ]);
    expect(alarm).toMatchObject({
      Threshold: 1,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      EvaluationPeriods: 1,
      TreatMissingData: 'notBreaching',
    });
    expect(periodsOf(alarm)).toEqual([60]);
  });

  describe('is none after idleMinutes without a request', () => {
    const { policy, alarm, count } = policyOf('sleep');

    test('in each of those minutes', () => {
      expect(count).toEqual([1, 1]);
      expect(policy.StepScalingPolicyConfiguration).toMatchObject({
        AdjustmentType: 'ExactCapacity',
        StepAdjustments: [{ MetricIntervalUpperBound: 0, ScalingAdjustment: 0 }],
      });
      expect(alarm).toMatchObject({ EvaluationPeriods: 20, TreatMissingData: 'notBreaching' });
      expect(alarm.DatapointsToAlarm ?? alarm.EvaluationPeriods).toBe(20);
      expect(new Set(periodsOf(alarm))).toEqual(new Set([60]));
      expect(policyOf('sleep', small).alarm.EvaluationPeriods).toBe(15);
    });

    test.each([
      ['a copy runs and nobody asks it', { requests: 0, gpu: 0.3 }, true],
      ['a copy runs and reports no requests at all', { gpu: 0 }, true],
      ['a copy paints', { requests: 1, gpu: 97.2 }, false],
      ['one of a hundred copies paints', { requests: 0.01, gpu: 1 }, false],
      ['no copy runs: it sleeps, or is starting', {}, false],
    ])('%s: %j', (_what, values, isIdle) => {
      const value = evaluate(expressionOf(alarm)!, values);
      expect(alarm.ComparisonOperator).toBe('LessThanThreshold');
      expect(value !== undefined && value < alarm.Threshold).toBe(isIdle);
    });

    test("measured by the component's own requests and copies", () => {
      expect(measuredBy(alarm)).toEqual([
        { namespace: 'AWS/SageMaker', name: 'ConcurrentRequestsPerCopy', dimensions: component },
        {
          namespace: '/aws/sagemaker/InferenceComponents',
          name: 'GPUUtilizationNormalized',
          dimensions: component,
        },
      ]);
    });
  });

  test('grows with the requests in flight. AWS’s own scaling never takes the last copy away', () => {
    const { policy, count } = policyOf('more');
    expect(count).toEqual([1, 0]);
    expect(policy.TargetTrackingScalingPolicyConfiguration).toMatchObject({
      TargetValue: 3,
      DisableScaleIn: true,
      PredefinedMetricSpecification: {
        PredefinedMetricType: 'SageMakerInferenceComponentConcurrentRequestsPerCopyHighResolution',
      },
    });
  });

  describe('shrinks by one', () => {
    const { policy, alarm, count } = policyOf('fewer');

    test.each([
      ['two copies have little to do', { requests: 20, perCopy: 10, busy: 39 }, true],
      ['two copies have enough to do', { requests: 20, perCopy: 10, busy: 41 }, false],
      [
        'one copy has little to do: that is no reason to sleep',
        { requests: 20, perCopy: 20, busy: 5 },
        false,
      ],
      ['nobody asks', { busy: 0 }, false],
    ])('or not, where %s: %j', (_what, values, isFewer) => {
      const value = evaluate(expressionOf(alarm)!, values);
      expect(value !== undefined && value < alarm.Threshold).toBe(isFewer);
      expect(alarm.ComparisonOperator).toBe('LessThanThreshold');
    });

    test('at a time, not before the requests of the last one can have ended', () => {
      expect(count).toEqual([1, 1]);
      const {
        AdjustmentType: type,
        StepAdjustments: steps,
        Cooldown: cooldown,
      } = policy.StepScalingPolicyConfiguration;
      expect([type, steps]).toEqual([
        'ChangeInCapacity',
        [{ MetricIntervalUpperBound: 0, ScalingAdjustment: -1 }],
      ]);
      expect(cooldown).toBeGreaterThan(330);
      for (const { dimensions } of measuredBy(alarm)) expect(dimensions).toEqual(component);
    });
  });

  test('of one copy at most has only two policies', () => {
    const policies = allProperties(small, 'AWS::ApplicationAutoScaling::ScalingPolicy').map(
      ({ PolicyName }) => PolicyName,
    );
    expect(policies.map((policy) => policy.split('-zero-')[1]).toSorted()).toEqual(['sleep', 'wake']);
  });
});

test('all names fit SageMaker, also of the longest stage and type', () => {
  const longest = `image-generation-${'s'.repeat(16)}-model-p6e-gb200-36xlarge-zero`;
  expect(longest.length).toBeLessThanOrEqual(63);
});

function measuredBy(alarm: AlarmProperties) {
  return metricsOf(alarm).toSorted((a, b) => (a.namespace > b.namespace ? -1 : 1));
}
