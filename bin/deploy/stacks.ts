import {
  CloudFormationClient,
  UpdateTerminationProtectionCommand,
  type StackStatus,
} from '@aws-sdk/client-cloudformation';
import { asFailure, Failure } from '../common/failure.ts';
import { describeStack } from '../common/stack.ts';
import { ask, cliCommand, type Aws } from './aws.ts';

/** A stack as CloudFormation has it. */
export interface Stack {
  name: string;
  /** Null if there is no such stack. */
  status: StackStatus | null;
  isProtected: boolean;
}

/** Stacks by name. */
export async function readStacks(aws: Aws, names: string[]): Promise<Map<string, Stack>> {
  const read = async (client: CloudFormationClient, options: { abortSignal: AbortSignal }, name: string) => {
    const found = await describeStack(client, name, options);
    const { StackStatus: status = null, EnableTerminationProtection: isProtected = false } = found ?? {};
    return { name, status, isProtected };
  };
  const stacks = await ask(aws, CloudFormationClient, (client, options) =>
    Promise.all(names.map((name) => read(client, options, name))),
  );
  return new Map(stacks.map((stack) => [stack.name, stack]));
}

/** What a deployment does with a stack in a state, or what a person must do before it. */
export type Condition =
  | 'absent' // The CDK creates it.
  | 'ready' // The CDK updates it.
  | 'never-created' // The CDK deletes what is left of it and creates it again.
  | 'busy' // CloudFormation is at work.
  | 'paused' // It must be rolled back first.
  | 'half-deleted' // It must be deleted first.
  | 'half-imported'; // A person must look.

const conditions: Record<StackStatus, Condition> = {
  // A change set was made to create it, and was not executed. It has no resources.
  REVIEW_IN_PROGRESS: 'absent',
  DELETE_COMPLETE: 'absent',
  CREATE_COMPLETE: 'ready',
  UPDATE_COMPLETE: 'ready',
  UPDATE_ROLLBACK_COMPLETE: 'ready',
  IMPORT_COMPLETE: 'ready',
  IMPORT_ROLLBACK_COMPLETE: 'ready',
  ROLLBACK_COMPLETE: 'never-created',
  ROLLBACK_FAILED: 'never-created',
  CREATE_IN_PROGRESS: 'busy',
  UPDATE_IN_PROGRESS: 'busy',
  UPDATE_COMPLETE_CLEANUP_IN_PROGRESS: 'busy',
  ROLLBACK_IN_PROGRESS: 'busy',
  UPDATE_ROLLBACK_IN_PROGRESS: 'busy',
  UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS: 'busy',
  DELETE_IN_PROGRESS: 'busy',
  IMPORT_IN_PROGRESS: 'busy',
  IMPORT_ROLLBACK_IN_PROGRESS: 'busy',
  // These two come from `--no-rollback` only.
  CREATE_FAILED: 'paused',
  UPDATE_FAILED: 'paused',
  UPDATE_ROLLBACK_FAILED: 'paused',
  DELETE_FAILED: 'half-deleted',
  IMPORT_ROLLBACK_FAILED: 'half-imported',
};

export function conditionOf({ status }: Pick<Stack, 'status'>): Condition {
  return status === null ? 'absent' : conditions[status];
}

/** Whether the stack has been there in whole, so that its data and its exports are. */
export function wasCreated(stack: Stack): boolean {
  return !['absent', 'never-created'].includes(conditionOf(stack));
}

/** Lets CloudFormation delete the stack. @param stack its name or ARN. @throws Failure with the command. */
export async function liftProtection(aws: Aws, stack: string): Promise<void> {
  try {
    await ask(aws, CloudFormationClient, (client, options) =>
      client.send(
        new UpdateTerminationProtectionCommand({ StackName: stack, EnableTerminationProtection: false }),
        options,
      ),
    );
  } catch (error) {
    const { message } = asFailure(error, null);
    const sentence = `The termination protection of ${stack} can't be lifted (${message}): ${unprotectCommand(aws, stack)}`;
    throw new Failure(sentence, 1, { cause: error });
  }
}

export function unprotectCommand(aws: Aws, stack: string): string {
  return cliCommand(
    aws,
    `cloudformation update-termination-protection --no-enable-termination-protection --stack-name ${stack}`,
  );
}

export function deleteCommand(aws: Aws, stack: string): string {
  return cliCommand(aws, `cloudformation delete-stack --stack-name ${stack}`);
}
