import { setTimeout } from 'node:timers/promises';
import {
  CloudFormationClient,
  DeleteStackCommand,
  paginateDescribeStacks,
} from '@aws-sdk/client-cloudformation';
import { modelStackDescription, modelStackPrefixOf } from '../../lib/configuration.ts';
import { asFailure, Failure } from '../common/failure.ts';
import { isConfirmed, type Terminal } from '../common/prompt.ts';
import { ask, type Aws } from './aws.ts';
import type { Deployment } from './deployment.ts';
import { deleteCommand, liftProtection, unprotectCommand } from './stacks.ts';

/** A model's stack that the service does not use, or no longer once it is deployed. */
export interface OldModel {
  name: string;
  arn: string;
}

/** The stacks of this stage's other models. Only a stack with the model's name and description is one. */
export async function findOldModels(
  aws: Aws,
  { configuration, modelStackName }: Deployment,
): Promise<OldModel[]> {
  const prefix = modelStackPrefixOf(configuration);
  const { inference } = configuration;
  // An endpoint has the name of its stack.
  const used = inference.kind === 'existing' ? inference.endpointName : modelStackName;
  return ask(aws, CloudFormationClient, async (client, options) => {
    const found: OldModel[] = [];
    for await (const { Stacks: stacks = [] } of paginateDescribeStacks({ client }, {}, options)) {
      for (const { StackName: name = '', StackId: arn = '', StackStatus: status, Description } of stacks) {
        const isModel = name.startsWith(prefix) && Description === modelStackDescription;
        if (isModel && name !== used && status !== 'DELETE_IN_PROGRESS') found.push({ name, arn });
      }
    }
    return found;
  });
}

async function remove(aws: Aws, { name, arn }: OldModel): Promise<void> {
  await liftProtection(aws, arn);
  try {
    await ask(aws, CloudFormationClient, (client, options) =>
      client.send(new DeleteStackCommand({ StackName: arn }), options),
    );
  } catch (error) {
    const sentence = `${name} can't be deleted (${asFailure(error, null).message}): ${deleteCommand(aws, name)}`;
    throw new Failure(sentence, 1, { cause: error });
  }
}

export interface RemovalOptions {
  /** Delete without asking. */
  yes: boolean;
  /** What a generation that still runs on an old model may need to end. */
  waitMs: number;
  terminal: Terminal;
  say(text: string): void;
}

/**
 * Deletes the models that the service used before, if the operator agrees. To be called after the service was deployed.
 * @throws Failure if one can't be deleted, with the command.
 */
export async function removeOldModels(
  aws: Aws,
  deployment: Deployment,
  { yes, waitMs, terminal, say }: RemovalOptions,
): Promise<void> {
  let models: OldModel[];
  try {
    models = await findOldModels(aws, deployment);
  } catch (error) {
    return say(`\nIt was not checked whether models of before still run: ${asFailure(error, null).message}`);
  }
  if (models.length === 0) return;
  const names = models.map(({ name }) => name).join(', ');
  say(`\nThe service no longer uses these stacks, and their instances still cost money: ${names}.`);
  const agrees = yes || (terminal.input.isTTY === true && (await isConfirmed([], 'Delete them?', terminal)));
  if (!agrees)
    return say(['To delete them:\n', ...models.flatMap((model) => commandsFor(aws, model))].join('\n'));
  say(`Waiting ${waitMs / 1000} seconds for the last generations on them.`);
  await setTimeout(waitMs);
  for (const model of models) await remove(aws, model);
  say('AWS deletes them now, with their instances. That goes on without this terminal.');
}

function commandsFor(aws: Aws, { name }: OldModel): string[] {
  return [unprotectCommand(aws, name), deleteCommand(aws, name)].map((command) => `  ${command}`);
}
