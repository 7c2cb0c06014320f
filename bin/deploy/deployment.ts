import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  ConfigurationError,
  readConfiguration,
  readConfigurationFile,
  stackNameOf,
  type Configuration,
} from '../../lib/configuration.ts';
import { Failure } from '../common/failure.ts';

/** A stack and its configuration. */
export interface Deployment {
  stackName: string;
  /** Arguments that name the configuration file to the CDK app, if there is one. */
  contextArguments: string[];
}

/**
 * Reads the options as the CDK app does: from the file that is named, else from `cdk.json`.
 * @throws Failure that names every option that is wrong.
 */
export function readDeployment(root: string, configFile: string | undefined): Deployment {
  try {
    if (configFile === undefined) return deploymentOf(readCdkJson(join(root, 'cdk.json')), []);
    const path = resolve(configFile);
    return deploymentOf(readConfigurationFile(path), ['-c', `config=${path}`]);
  } catch (error) {
    if (error instanceof ConfigurationError) throw new Failure(error.message, 1, { cause: error });
    throw error;
  }
}

function deploymentOf(configuration: Configuration, contextArguments: string[]): Deployment {
  return { stackName: stackNameOf(configuration), contextArguments };
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
