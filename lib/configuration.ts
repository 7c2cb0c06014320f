import { readFileSync } from 'node:fs';
import type * as z from 'zod';
import { allOptions, maxDeadlineSeconds } from './options.ts';
import { deadlineProblem } from './generation-time.ts';

/** The options, and what holds between them. */
export const configuration = allOptions.superRefine((chosen, context) => {
  const message = deadlineProblem(chosen, maxDeadlineSeconds);
  if (message !== null) {
    context.addIssue({ code: 'custom', path: ['generationDeadlineSeconds'], message });
  }
});

export type Configuration = z.output<typeof configuration>;
export type Inference = Configuration['inference'];
export type ModelEndpointOptions = Extract<Inference, { kind: 'endpoint' }>;
export type Domain = NonNullable<Configuration['domain']>;

/** The domain of an address, and the address: either may be the identity that SES has verified. */
export function mailIdentities(from: string): [domain: string, address: string] {
  return [from.slice(from.indexOf('@') + 1), from];
}

/** The service's stack, by its name in CloudFormation and in the CDK. */
export function stackNameOf({ stage }: Pick<Configuration, 'stage'>): string {
  return `image-generation-${stage}`;
}

/**
 * A tag of what holds customers' data, with the name of its service's stack. CloudFormation's own tags are on no table of
 * DynamoDB (cloudformation-coverage-roadmap, issue 1360 "AWS::DynamoDB::Table does not propagate stack-level tags").
 */
export const dataTag = 'image-generation:data-of';

/** The description of every model's stack. The deploy program deletes no stack with another one. */
export const modelStackDescription = 'Image Generation Service: the model';

/** Whether the model server of this deployment checks pictures. What another's endpoint does is not known here. */
export function checksPictures(inference: Inference): boolean {
  // An empty variable counts as absent there.
  return inference.kind === 'endpoint' && Boolean(inference.environment.PICTURE_CHECK);
}

/** Whether the configuration's endpoint has no instances while nobody asks it. */
export function scalesToZero({ minInstances }: Pick<ModelEndpointOptions, 'minInstances'>): boolean {
  return minInstances === 0;
}

/** What the names of the model's stacks begin with, one for each instance type and form of endpoint. */
export function modelStackPrefixOf(options: Pick<Configuration, 'stage'>): string {
  return `${stackNameOf(options)}-model-`;
}

/** The model's stack, and its endpoint; null if the configuration has no endpoint of its own. */
export function modelStackNameOf(options: Pick<Configuration, 'stage' | 'inference'>): string | null {
  if (options.inference.kind !== 'endpoint') return null;
  const type = options.inference.instanceType.replace(/^ml\./, '').replaceAll('.', '-');
  // Such an endpoint has another form, which SageMaker can't give to one that is there.
  const form = scalesToZero(options.inference) ? '-zero' : '';
  return `${modelStackPrefixOf(options)}${type}${form}`;
}

/**
 * The stack with the network of the stage's models; null where the model has no network of its own. Other zones make another
 * one, because subnets that a model is in can't be moved.
 */
export function networkStackNameOf(options: Pick<Configuration, 'stage' | 'inference'>): string | null {
  const { inference } = options;
  if (inference.kind !== 'endpoint' || inference.internetAccess) return null;
  const letters = inference.zones?.map((zone) => zone.at(-1)).toSorted();
  return `${stackNameOf(options)}-network${letters ? `-${letters.join('')}` : ''}`;
}

/** The configuration can't be deployed. The message names every wrong option. */
export class ConfigurationError extends Error {
  override name = 'ConfigurationError';
}

/** @throws ConfigurationError */
export function readConfiguration(value: unknown, source: string): Configuration {
  const result = configuration.safeParse(value ?? {}, { reportInput: false });
  if (result.success) return result.data;
  const problems = result.error.issues.flatMap((issue) => describe(issue));
  throw new ConfigurationError(`${source} can't be deployed: ${problems.join('; ')}.`);
}

/** The options in a JSON file. @throws ConfigurationError */
export function readConfigurationFile(path: string): Configuration {
  let text;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new ConfigurationError(`The configuration ${path} can't be read.`, { cause });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ConfigurationError(`The configuration ${path} is not valid JSON.`, { cause });
  }
  return readConfiguration(value, `The configuration ${path}`);
}

function describe(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.map((part) => String(part)).join('.');
  const at = (name: string) => (path === '' ? name : `${path}.${name}`);
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => `there is no option ${at(key)}`);
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    return [
      `${path}: ${issue.errors.map((errors) => errors.map(({ message }) => message).join(', ')).join(', or ')}`,
    ];
  }
  return [`${path === '' ? 'the whole' : path}: ${issue.message}`];
}
