import { noModelEndpoint } from '../../shared/base/config.ts';
import { Failure } from '../common/failure.ts';
import { keyValues } from '../common/output.ts';

/** CloudFormation's outputs of a stack, by key. */
export type Outputs = Record<string, string>;

export interface DeployedPlace {
  stackName: string;
  region: string;
  /** The profile that was named, if one was. */
  profile: string | undefined;
}

/** The service's addresses, and the commands that come next. @throws Failure when an output is missing. */
export function nextSteps(place: DeployedPlace, outputs: Outputs): string {
  const { stackName, region, profile } = place;
  const addresses = keyValues([
    ['Base URL', output(outputs, 'BaseUrl')],
    ['Dashboard', output(outputs, 'DashboardUrl')],
  ]);
  const npm = (script: string) => `npm run --silent ${script} -- --stack ${stackName} --region ${region}`;
  const commands = [
    ...(profile === undefined ? [] : [`export AWS_PROFILE=${profile}`]),
    `${npm('admin')} account invite you@example.com`,
    `${npm('admin')} identity put --name Aurora --slug aurora \\`,
    '  --description "Curtains of light." --catalog founding',
    `${npm('admin')} license grant --owner you@example.com --tier pro --founding-catalog`,
    `${npm('admin')} key issue LICENSE --name "my app"`,
  ];
  const sections = [
    `${stackName} is deployed in ${region}.`,
    indented(addresses.split('\n')),
    ...(outputs.ModelEndpointName === noModelEndpoint ? [noModelNote] : []),
    `Check it:\n\n${indented([npm('smoke')])}`,
    'The first account (AWS mails a password), identity, license and key:\n\n' + indented(commands),
    'What else there is to do: docs/deploying.md.',
  ];
  return sections.join('\n\n');
}

/** What comes after a deployment of the model alone. */
export function modelNextSteps(modelStackName: string, { stackName, region }: DeployedPlace): string {
  return (
    `${modelStackName} is deployed in ${region}. ${stackName} uses it from its own next deployment on: ` +
    'the same command with "--only service".'
  );
}

const noModelNote =
  'It has no model yet: POST /generate answers 503 until one is configured (docs/deploying.md, "The model").';

function output(outputs: Outputs, key: string): string {
  const value = outputs[key];
  if (value === undefined) {
    throw new Failure(
      `The stack is deployed, but it has no output ${key}: deploy it again from this version.`,
    );
  }
  return value;
}

function indented(lines: string[]): string {
  return lines.map((line) => `  ${line}`).join('\n');
}
