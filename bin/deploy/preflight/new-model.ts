import { findOldModels } from '../old-models.ts';
import { conditionOf } from '../stacks.ts';
import { note, type Check, type Finding } from './check.ts';

/** Whether the model's stack is made beside the one that the service uses now. */
export const newModel: Check = {
  subject: 'whether another model of this stage runs',
  permission: 'cloudformation:DescribeStacks',
  async run({ aws, deployment, targets }, facts): Promise<Finding[]> {
    const { stackName, modelStackName: name } = deployment;
    if (name === null || !targets.includes(name)) return [];
    const stack = (await facts.stacks).get(name);
    if (stack !== undefined && conditionOf(stack) !== 'absent') return [];
    const others = (await findOldModels(aws, deployment)).map((model) => model.name);
    if (others.length === 0) return [];
    return [
      note(
        `${name} is made beside ${others.join(', ')}: SageMaker can't give an endpoint that is there another type of instances, nor let it sleep or stop it from sleeping. Both cost money until ${stackName} uses the new one; then this command offers to delete what is no longer used.`,
      ),
    ];
  },
};
