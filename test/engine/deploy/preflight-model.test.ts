import { describe, expect, test } from '@jest/globals';
import { asked, both, deployed, linesFor, type Asked } from './asked.ts';
import { withModel } from './plan.ts';
import { modelDescription as description, modelStackName, stackName } from './stand-in-aws.ts';

describe("the quota of the model's instances", () => {
  const quota = (value: number) => [
    { name: 'ml.g5.xlarge for endpoint usage', code: 'L-1', value: 9 },
    { name: 'ml.g6.xlarge for training job usage', code: 'L-2', value: 9 },
    { name: 'ml.g6.xlarge for endpoint usage', code: 'L-3', value },
  ];
  const found = (world: Asked) => linesFor({ configuration: withModel, stacks: both, ...world });

  test('too few for the first instance stop the deployment', async () => {
    const [finding, ...others] = await found({ quotas: quota(0) });
    expect(others).toEqual([]);
    expect(finding).toMatch(/^stop: The account's quota for ml\.g6\.xlarge in eu-west-1 is 0, /);
    expect(finding).toContain('docs/deploying.md#first-none-then-the-model');
    expect(finding).toContain('--service-code sagemaker --quota-code L-3 --desired-value 4 --region');
  });

  test('a model that sleeps needs one to wake', async () => {
    const configuration = { inference: { ...withModel.inference, minInstances: 0 } };
    const stacks = { [stackName]: deployed, [`${modelStackName}-zero`]: deployed };
    const [finding, ...others] = await found({ configuration, stacks, quotas: quota(0) });
    expect(others).toEqual([]);
    expect(finding).toMatch(/^stop: .* is 0, and the endpoint needs 1 to start\./);
    expect(await found({ configuration, stacks, quotas: quota(4) })).toEqual([]);
  });

  test('a quota that was never changed is found among the defaults', async () => {
    expect(await found({ defaultQuotas: quota(0) })).toEqual([expect.stringMatching(/^stop: .* is 0, /)]);
    expect(await found({ quotas: quota(4), defaultQuotas: quota(0) })).toEqual([]);
    const others = quota(9).slice(0, 2);
    const defaults = { name: 'ml.g6.xlarge for endpoint usage', code: 'L-3', value: 4 };
    expect(await found({ quotas: others, defaultQuotas: [defaults, ...others] })).toEqual([]);
  });

  test('too few for a later deployment are noted', async () => {
    for (const value of [1, 3]) {
      const noted = new RegExp(`^note: .* is ${value}\\. .* up to 4 `);
      expect(await found({ quotas: quota(value) })).toEqual([expect.stringMatching(noted)]);
    }
    expect(await found({ quotas: quota(4) })).toEqual([]);
  });

  test('a type that AWS has no quota for is noted', async () => {
    expect(await found({})).toEqual([expect.stringMatching(/^note: AWS has no quota for ml\.g6\.xlarge/)]);
  });

  test('it is not asked for when no model is deployed', async () => {
    for (const world of [{}, { configuration: withModel, only: 'service', stacks: both } as const]) {
      const { findings, calls } = await asked({ ...world, quotas: quota(0) });
      expect(findings).toEqual([]);
      expect(calls.map(({ action }) => action)).not.toContain('ListServiceQuotas');
    }
  });
});

describe('a model beside the one that the service uses', () => {
  const quotas = ['g6', 'g5'].map((type, i) => ({
    name: `ml.${type}.xlarge for endpoint usage`,
    code: `L-${i}`,
    value: 9,
  }));
  const used = { ...deployed, description };
  const stacks = { [stackName]: deployed, [modelStackName]: used };
  const asleep = { inference: { ...withModel.inference, minInstances: 0 } };

  test.each([
    ['may sleep', asleep, `${modelStackName}-zero`],
    [
      'has another type',
      { inference: { ...withModel.inference, instanceType: 'ml.g5.xlarge' } },
      `${stackName}-model-g5-xlarge`,
    ],
  ])('that %s: it is said why, and until when both cost', async (_what, configuration, name) => {
    const [finding, ...others] = await linesFor({ configuration, stacks, quotas });
    expect(others).toEqual([]);
    expect(finding).toMatch(`note: ${name} is made beside ${modelStackName}: SageMaker can't `);
    expect(finding).toContain(`Both cost money until ${stackName} uses the new one`);
  });

  test('goes the other way, too', async () => {
    const name = `${modelStackName}-zero`;
    const [finding] = await linesFor({
      configuration: withModel,
      stacks: { [stackName]: deployed, [name]: used },
      quotas,
    });
    expect(finding).toMatch(`note: ${modelStackName} is made beside ${name}: `);
  });

  test('is no news once it is there, nor where it is the first, nor where only the service is deployed', async () => {
    const there = { ...stacks, [`${modelStackName}-zero`]: used };
    expect(await linesFor({ configuration: asleep, stacks: there, quotas })).toEqual([]);
    expect(await linesFor({ configuration: asleep, stacks: { [stackName]: deployed }, quotas })).toEqual([]);
    const only = await linesFor({ configuration: asleep, only: 'service', stacks: there, quotas });
    expect(only).toEqual([]);
  });
});
