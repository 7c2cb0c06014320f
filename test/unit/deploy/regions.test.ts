import { expect, test } from '@jest/globals';
import { regions } from '../../../bin/deploy/preflight/regions.ts';
import { deploymentFor, withModel } from '../../engine/deploy/fixture.ts';

const toZero = { inference: { ...withModel.inference, minInstances: 0 } };

test.each([
  ['eu-west-1', { ...toZero, monthlyBudgetUsd: 5 }, []],
  ['eu-west-3', { ...withModel, monthlyBudgetUsd: 5 }, []],
  ['eu-west-3', toZero, ['AWS::SageMaker::InferenceComponent']],
  ['eu-north-1', { monthlyBudgetUsd: 5 }, ['AWS::Budgets::Budget']],
  ['eu-north-1', { ...toZero, monthlyBudgetUsd: null }, []],
  [
    'eu-south-1',
    { ...toZero, monthlyBudgetUsd: 5 },
    ['AWS::SageMaker::InferenceComponent', 'AWS::Budgets::Budget'],
  ],
])('in %s with %j the deployment stops for %j', async (region, options, types) => {
  const deployment = deploymentFor(options);
  const targets = [
    deployment.stackName,
    ...(deployment.modelStackName === null ? [] : [deployment.modelStackName]),
  ];
  const plan = { aws: { settings: { region } }, deployment, targets, newData: false };
  const found = await regions.run(plan as never, {} as never);
  expect(found.map(({ stops, sentence }) => [stops, /no (\S+) in/.exec(sentence)?.[1]])).toEqual(
    types.map((type) => [true, type]),
  );
});
