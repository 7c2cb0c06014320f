import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  modelStackNameOf,
  networkStackNameOf,
  readConfiguration,
  readConfigurationFile,
  stackNameOf,
  type Configuration,
} from '../../lib/configuration.ts';
import { configurationOrFailure } from '../common/configuration.ts';
import { Failure, usageFailure } from '../common/failure.ts';

/** The stacks of a configuration. */
export interface Deployment {
  configuration: Configuration;
  /** The service's stack. */
  stackName: string;
  /** The model's stack; null if the configuration has no endpoint of its own. */
  modelStackName: string | null;
  /** The stack of the model's network; null if it has none of its own. */
  networkStackName: string | null;
  /** Arguments that name the configuration file to the CDK app, if there is one. */
  contextArguments: string[];
}

/**
 * Reads the options as the CDK app does: from the file that is named, else from `cdk.json`.
 * @throws Failure that names every option that is wrong.
 */
export function readDeployment(root: string, configFile: string | undefined): Deployment {
  return configurationOrFailure(() => {
    if (configFile === undefined) return deploymentOf(readCdkJson(join(root, 'cdk.json')), []);
    const path = resolve(configFile);
    return deploymentOf(readConfigurationFile(path), ['-c', `config=${path}`]);
  });
}

export function deploymentOf(configuration: Configuration, contextArguments: string[]): Deployment {
  return {
    configuration,
    stackName: stackNameOf(configuration),
    modelStackName: modelStackNameOf(configuration),
    networkStackName: networkStackNameOf(configuration),
    contextArguments,
  };
}

/** What `--only` may name. */
export const parts = ['service', 'model'] as const;
export type Part = (typeof parts)[number];

/** The names of the stacks to deploy, in their order. @throws Failure if there is no model to deploy. */
export function stacksToDeploy(deployment: Deployment, only: Part | undefined): string[] {
  const { stackName, modelStackName, networkStackName } = deployment;
  if (only === 'model' && modelStackName === null) {
    throw usageFailure('--only model needs a configuration with "inference": {"kind": "endpoint", …}.');
  }
  const ofModel = only === 'service' ? [] : [networkStackName, modelStackName];
  return [...ofModel, only === 'model' ? null : stackName].filter((name) => name !== null);
}

function readCdkJson(path: string): Configuration {
  let content: { context?: { configuration?: unknown } };
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new Failure(`${path} can't be read as JSON: take it from the repository again.`, 1, { cause });
  }
  return readConfiguration(content.context?.configuration, `The configuration in ${path}`);
}
