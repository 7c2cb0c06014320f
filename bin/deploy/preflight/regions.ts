import { scalesToZero } from '../../../lib/configuration.ts';
import { regionsWithout } from '../../../lib/regions.ts';
import { stop, type Check, type Plan } from './check.ts';

/** The resource types that options bring, and what to choose where a region lacks them. */
const brought = {
  'AWS::SageMaker::InferenceComponent': {
    isBrought: ({ targets, deployment: { configuration, modelStackName } }: Plan) =>
      configuration.inference.kind === 'endpoint' &&
      scalesToZero(configuration.inference) &&
      targets.includes(modelStackName!),
    wayOut: '"inference": {"minInstances": 1, …}',
  },
  'AWS::Budgets::Budget': {
    isBrought: ({ targets, deployment: { configuration, stackName } }: Plan) =>
      configuration.monthlyBudgetUsd !== null && targets.includes(stackName),
    wayOut: '"monthlyBudgetUsd": null, and make the budget in the console',
  },
};

/** Whether CloudFormation has what the options bring, in the region. */
export const regions: Check = {
  subject: 'whether the region has what the options bring',
  permission: 'none',
  async run(plan) {
    const { region } = plan.aws.settings;
    return Object.entries(brought).flatMap(([type, { isBrought, wayOut }]) =>
      isBrought(plan) && regionsWithout[type]!.includes(region)
        ? stop(`CloudFormation has no ${type} in ${region}: choose ${wayOut}, or another region.`)
        : [],
    );
  },
};
