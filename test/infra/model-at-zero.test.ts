import { describe, expect, test } from '@jest/globals';
import { modelStackNameOf, readConfiguration } from '../../lib/configuration.ts';
import { configurations } from '../support/configurations.ts';
import type { Template } from '../support/policies.ts';
import { modelTemplateOf } from '../support/stack-templates.ts';
import { evaluate, expressionOf, metricsOf, type AlarmProperties } from './monitored.ts';
import { allProperties, only, plain, propertiesOf, resourcesOf } from './resources.ts';

// The permissions of its role are in template-summary.txt, the names of its policies in kept-ids.txt.
const template = modelTemplateOf('atZero');
const small = modelTemplateOf('atZeroSmall');
const name = 'image-generation-night-model-g6-xlarge-zero';
const { id: componentId, Properties: component } = only(template, 'AWS::SageMaker::InferenceComponent');

describe('the endpoint', () => {
  const { Properties: config, id: configId } = only(template, 'AWS::SageMaker::EndpointConfig');
  const [variant] = config.ProductionVariants;

  test('may have no instance, and room for new copies beside the old ones', () => {
    expect(variant).toMatchObject({
      ManagedInstanceScaling: { Status: 'ENABLED', MinInstanceCount: 0, MaxInstanceCount: 6 },
      InitialInstanceCount: 1,
      InferenceAmiVersion: 'al2023-ami-sagemaker-inference-gpu-4-1',
      RoutingConfig: { RoutingStrategy: 'LEAST_OUTSTANDING_REQUESTS' },
    });
    const { ProductionVariants: variants } = propertiesOf(small, 'AWS::SageMaker::EndpointConfig');
    expect(variants[0]).not.toHaveProperty('InferenceAmiVersion');
  });

  test('names the role and the network itself, since no model is in its variant', () => {
    expect(variant).not.toHaveProperty('ModelName');
    const [role] = propertiesOf(template, 'AWS::IAM::Policy').Roles;
    expect(plain(config.ExecutionRoleArn)).toContain(`:role/${plain(role)}`);
    expect(config.VpcConfig.Subnets).toHaveLength(2);
    expect(propertiesOf(small, 'AWS::SageMaker::EndpointConfig')).not.toHaveProperty('VpcConfig');
  });

  test('is made after the permissions of its role, and has no fixed configuration', () => {
    const waitsFor = template.Resources[configId]!.DependsOn!;
    expect(waitsFor).toContain(only(template, 'AWS::IAM::Policy').id);
    expect(config).not.toHaveProperty('EndpointConfigName');
  });
});

describe('the component', () => {
  test("hosts the model on the endpoint's variant, a copy on the whole GPU of an instance", () => {
    const config = propertiesOf(template, 'AWS::SageMaker::EndpointConfig');
    expect(component.VariantName).toBe(config.ProductionVariants[0].VariantName);
    const { ModelName: model, ComputeResourceRequirements: needs } = component.Specification;
    expect(plain(model)).toBe(`<${only(template, 'AWS::SageMaker::Model').id}.ModelName>`);
    expect(needs).toEqual({ NumberOfAcceleratorDevicesRequired: 1, MinMemoryRequiredInMb: 1024 });
  });

  test('compiles for less long than one that nobody waits for', () => {
    const variablesOf = (each: Template) =>
      propertiesOf(each, 'AWS::SageMaker::Model').PrimaryContainer.Environment;
    expect(variablesOf(template)).toMatchObject({ COMPILE_SECONDS: '30' });
    expect(variablesOf(modelTemplateOf('everything'))).not.toHaveProperty('COMPILE_SECONDS');
  });

  test('takes on each of several types all GPUs of an instance', () => {
    const { Specification, Specifications } = propertiesOf(small, 'AWS::SageMaker::InferenceComponent');
    const gpus = Specifications.map(({ InstanceType, ComputeResourceRequirements: needs }: any) => [
      InstanceType,
      needs.NumberOfAcceleratorDevicesRequired,
    ]);
    expect(gpus).toEqual([
      ['ml.g6.xlarge', 1],
      ['ml.g5.12xlarge', 4],
    ]);
    expect(Specification).toBeUndefined();
  });

  test('has time to load tens of gigabytes, and starts one copy when it is deployed', () => {
    expect(component.Specification.StartupParameters).toEqual({
      ModelDataDownloadTimeoutInSeconds: 1800,
      ContainerStartupHealthCheckTimeoutInSeconds: 1800,
    });
    expect(component.RuntimeConfig).toEqual({ CopyCount: 1 });
  });

  test('logs to a group that is there first and does not keep its lines forever', () => {
    const { id, Properties: group } = only(template, 'AWS::Logs::LogGroup');
    expect(group.RetentionInDays).toBe(30);
    expect(template.Resources[componentId]!.DependsOn).toContain(id);
  });
});

describe('the number of copies', () => {
  const measured = { InferenceComponentName: name };
  const requestsAndGpu = [
    { namespace: 'AWS/SageMaker', name: 'ConcurrentRequestsPerCopy', dimensions: measured },
    {
      namespace: '/aws/sagemaker/InferenceComponents',
      name: 'GPUUtilizationNormalized',
      dimensions: measured,
    },
  ];

  /** A scaling policy by the end of its name, and the alarm that takes it. */
  function policyOf(end: string, of: Template = template) {
    const [id, { Properties: policy }] = [
      ...resourcesOf(of, 'AWS::ApplicationAutoScaling::ScalingPolicy'),
    ].find(([, { Properties }]) => Properties.PolicyName.endsWith(`-${end}`))!;
    const alarms: AlarmProperties[] = allProperties(of, 'AWS::CloudWatch::Alarm');
    const alarm = alarms.find(({ AlarmActions }) => plain(AlarmActions) === `<${id}>`)!;
    const { AdjustmentType, StepAdjustments, Cooldown } = policy.StepScalingPolicyConfiguration ?? {};
    return { policy, alarm, step: [AdjustmentType, StepAdjustments], cooldownSeconds: Cooldown };
  }

  const isBelow = (alarm: AlarmProperties, values: Record<string, number>) => {
    const value = evaluate(expressionOf(alarm)!, values);
    expect(alarm.ComparisonOperator).toBe('LessThanThreshold');
    return value !== undefined && value < alarm.Threshold;
  };

  test('is scaled from 0 to maxInstances, once the component is there', () => {
    const target = only(template, 'AWS::ApplicationAutoScaling::ScalableTarget');
    expect(target.Properties).toMatchObject({
      ResourceId: `inference-component/${name}`,
      MinCapacity: 0,
      MaxCapacity: 3,
    });
    expect(target.DependsOn).toEqual([componentId]);
  });

  test('is one after the first call that found none, however often it is asked', () => {
    const { step, alarm } = policyOf('wake');
    const one = { MetricIntervalLowerBound: 0, ScalingAdjustment: 1 };
    expect(step).toEqual(['ExactCapacity', [one]]);
    expect(metricsOf(alarm)).toEqual([
      { namespace: 'AWS/SageMaker', name: 'NoCapacityInvocationFailures', dimensions: measured },
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
    const { step, alarm } = policyOf('sleep');

    test("in each of those minutes, measured by the component's own requests and copies", () => {
      const none = { MetricIntervalUpperBound: 0, ScalingAdjustment: 0 };
      expect(step).toEqual(['ExactCapacity', [none]]);
      expect(alarm).toMatchObject({ EvaluationPeriods: 20, TreatMissingData: 'notBreaching' });
      expect(alarm.DatapointsToAlarm ?? 20).toBe(20);
      expect(policyOf('sleep', small).alarm.EvaluationPeriods).toBe(15);
      expect(new Set(periodsOf(alarm))).toEqual(new Set([60]));
      expect(metricsOf(alarm)).toEqual(expect.arrayContaining(requestsAndGpu));
    });

    test.each([
      ['a copy runs and nobody asks it', { requests: 0, gpu: 0.3 }, true],
      ['a copy runs and reports no requests at all', { gpu: 0 }, true],
      ['a copy generates', { requests: 1, gpu: 97.2 }, false],
      ['one of a hundred copies generates', { requests: 0.01, gpu: 1 }, false],
      ['no copy runs: it is scaled to zero, or is starting', {}, false],
    ])('%s: %j', (_what, values, isIdle) => expect(isBelow(alarm, values)).toBe(isIdle));
  });

  test('grows with the requests in flight. AWS’s own scaling never takes the last copy away', () => {
    const { policy, alarm } = policyOf('more');
    expect(alarm).toBeUndefined();
    expect(policy.TargetTrackingScalingPolicyConfiguration).toMatchObject({
      TargetValue: 3,
      DisableScaleIn: true,
      PredefinedMetricSpecification: {
        PredefinedMetricType: 'SageMakerInferenceComponentConcurrentRequestsPerCopyHighResolution',
      },
    });
  });

  describe('shrinks by one', () => {
    const { step, alarm, cooldownSeconds } = policyOf('fewer');

    test.each([
      ['two copies have little to do', { requests: 20, perCopy: 10, busy: 39 }, true],
      ['two copies have enough to do', { requests: 20, perCopy: 10, busy: 41 }, false],
      ['one copy has little to do: it may stay', { requests: 20, perCopy: 20, busy: 5 }, false],
      ['nobody asks', { busy: 0 }, false],
    ])('or not, where %s: %j', (_what, values, isFewer) => expect(isBelow(alarm, values)).toBe(isFewer));

    test('at a time, not before the requests of the last one can have ended', () => {
      const fewer = { MetricIntervalUpperBound: 0, ScalingAdjustment: -1 };
      expect(step).toEqual(['ChangeInCapacity', [fewer]]);
      expect(cooldownSeconds).toBeGreaterThan(330);
      for (const { dimensions } of metricsOf(alarm)) expect(dimensions).toEqual(measured);
    });
  });

  test('of one copy at most has only two policies', () => {
    const policies = allProperties(small, 'AWS::ApplicationAutoScaling::ScalingPolicy');
    const ends = policies.map(({ PolicyName }) => PolicyName.split('-zero-')[1]);
    expect(ends.toSorted()).toEqual(['sleep', 'wake']);
  });
});

test('all names fit SageMaker, also of the longest stage and type', () => {
  const inference = { ...configurations.atZero.inference, instanceType: 'ml.p6e-gb200.36xlarge' };
  const longest = readConfiguration({ stage: 's'.repeat(16), inference }, 'The test');
  expect(modelStackNameOf(longest)!.length).toBeLessThanOrEqual(63);
});

function periodsOf({ Metrics: queries = [] }: AlarmProperties): number[] {
  return queries.flatMap(({ MetricStat }) => (MetricStat ? [MetricStat.Period] : []));
}
