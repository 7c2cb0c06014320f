import { findOldModels } from '../old-models.ts';
import { cliCommand, type Aws } from '../aws.ts';
import { conditionOf, deleteCommand, wasCreated, type Condition, type Stack } from '../stacks.ts';
import { note, stop, type Check, type Finding, type Plan } from './check.ts';

type Describe = (stack: Stack, plan: Plan) => Finding[];

const findings: Partial<Record<Condition, Describe>> = {
  busy: (stack, { aws }) =>
    stop(
      `${stateOf(stack)}: CloudFormation is at work. Deploy again when the state no longer ends in IN_PROGRESS: ${statusCommand(aws, stack)}`,
    ),
  'never-created': (stack) =>
    note(
      `${stateOf(stack)}: its first creation failed. The CDK deletes what is left of it and creates it again` +
        (stack.isProtected ? '; its termination protection is lifted for that.' : '.'),
    ),
  paused: (stack, { aws, deployment }) =>
    stop(
      `${stateOf(stack)}: a change failed and was not taken back. Mend the cause that its events name (${eventsCommand(aws, stack)}), ` +
        `then take it back and deploy again: ${['npx cdk rollback', stack.name, ...deployment.contextArguments, ...aws.options].join(' ')}`,
    ),
  'half-deleted': (stack, { aws }) =>
    stop(
      `${stateOf(stack)}: it was to be deleted, and something in it could not be. Mend the cause that its events name ` +
        `(${eventsCommand(aws, stack)}), then delete it and deploy again: ${deleteCommand(aws, stack.name)}`,
    ),
  'half-imported': (stack, { aws }) =>
    stop(
      `${stateOf(stack)}: resources were to be taken into it, and that could not be undone, so it can't be changed. See why: ` +
        `${eventsCommand(aws, stack)}. If nothing else is in it yet, delete it and begin again with ` +
        'docs/deploying.md#taking-data-back; if the service is in it, ask AWS Support.',
    ),
};

const stateOf = ({ name, status }: Stack) => `The stack ${name} is in the state ${status}`;

function statusCommand(aws: Aws, { name }: Stack): string {
  return cliCommand(
    aws,
    `cloudformation describe-stacks --query Stacks[0].StackStatus --output text --stack-name ${name}`,
  );
}

function eventsCommand(aws: Aws, { name }: Stack): string {
  return cliCommand(aws, `cloudformation describe-stack-events --max-items 30 --stack-name ${name}`);
}

/** Whether the stacks can be deployed as they are. */
export const stackStates: Check = {
  subject: 'in which state the stacks are',
  permission: 'cloudformation:DescribeStacks',
  async run(plan, facts) {
    const { targets, deployment } = plan;
    const stacks = await facts.stacks;
    const found = targets.flatMap((name) => {
      const stack = stacks.get(name)!;
      return findings[conditionOf(stack)]?.(stack, plan) ?? [];
    });
    const { modelStackName } = deployment;
    const lacksModel =
      modelStackName !== null &&
      !targets.includes(modelStackName) &&
      !wasCreated(stacks.get(modelStackName)!);
    if (!lacksModel) return found;
    return [
      ...found,
      ...stop(
        `The service uses the endpoint of the stack ${modelStackName}, which is not there yet: deploy without --only.`,
      ),
    ];
  },
};

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
    return note(
      `${name} is made beside ${others.join(', ')}: SageMaker can't give an endpoint that is there another type of instances, nor let it be scaled to zero or keep it from that. Both cost money until ${stackName} uses the new one; then this command offers to delete what is no longer used.`,
    );
  },
};

/** AWS has no question that answers whether an account is verified: only the first distribution does. */
export const cloudFront: Check = {
  subject: 'whether this is the first deployment',
  permission: 'cloudformation:DescribeStacks',
  async run({ deployment, targets }, facts) {
    const { stackName } = deployment;
    const stacks = await facts.stacks;
    if (!targets.includes(stackName) || wasCreated(stacks.get(stackName)!)) return [];
    return note(
      'The first deployment needs a distribution of CloudFront, which AWS refuses to accounts that it has not verified: ' +
        '"Your account must be verified before you can add new CloudFront resources". If that happens, open a case in the ' +
        'Support Center and deploy again when it is answered; nothing is lost (docs/deploying.md#a-new-account).',
    );
  },
};
