import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Resource, Template } from '../support/policies.ts';
import { accountId, region } from './ministack.ts';

const noScaling = 'It has no Application Auto Scaling for endpoints.';
const noModels =
  'It has no SageMaker. The engine of `local/sagemaker`, with the painter behind it, has the endpoint.';
const noCanary = 'It has no CodeDeploy: an alias moves at once.';
const noResolver = 'It has no DNS firewall.';

/** The types that MiniStack's CloudFormation does not know, each with what that means. */
export const leftOut: ReadonlyMap<string, string> = new Map([
  ['AWS::ApplicationAutoScaling::ScalableTarget', noScaling],
  ['AWS::ApplicationAutoScaling::ScalingPolicy', noScaling],
  ['AWS::Backup::BackupSelection', 'Vault and plan are made; no plan selects the table.'],
  ['AWS::Budgets::Budget', 'It has budgets, but CloudFormation does not make them.'],
  ['AWS::CodeDeploy::Application', noCanary],
  ['AWS::CodeDeploy::DeploymentGroup', noCanary],
  ['AWS::Cognito::ManagedLoginBranding', 'Its sign-in page is its own.'],
  ['AWS::Logs::QueryDefinition', 'It stores no queries.'],
  ['AWS::Route53Resolver::FirewallDomainList', noResolver],
  ['AWS::Route53Resolver::FirewallRuleGroup', noResolver],
  ['AWS::Route53Resolver::FirewallRuleGroupAssociation', noResolver],
  ['AWS::SageMaker::Endpoint', noModels],
  ['AWS::SageMaker::EndpointConfig', noModels],
  ['AWS::SageMaker::Model', noModels],
  ['AWS::WAFv2::LoggingConfiguration', 'It applies no rules of the firewall.'],
  ['AWS::WAFv2::WebACLAssociation', 'It applies no rules of the firewall.'],
]);

/** Besides those types, alarms that compute with several metrics: MiniStack knows alarms on one metric only. */
export function isLeftOut({ Type: type, Properties }: Resource): boolean {
  return leftOut.has(type) || (type === 'AWS::CloudWatch::Alarm' && Properties.Metrics !== undefined);
}

/** How the address of a function ends that API Gateway streams from, and what MiniStack understands instead. */
export const streamedPath = ['/2021-11-15/functions/', '/response-streaming-invocations'] as const;
const bufferedPath = ['/2015-03-31/functions/', '/invocations'] as const;

/**
 * How the CDK's function that uploads files starts AWS's CLI: a layer's place on Lambda, and here. What the CLI prints is
 * thrown away: MiniStack gives a function up that prints 200 lines before its answer, and the CLI's progress is as many lines
 * as the machine is slow.
 */
const cliOnLambda = 'aws="/opt/awscli/aws"';
const cliHere = 'import sys; aws=os.environ["_LAMBDA_LAYERS_DIRS"] + "/awscli/aws"';
const startOnLambda = 'check_call([aws] + list(args))';
const startHere = 'check_call([sys.executable, aws] + list(args), stdout=subprocess.DEVNULL)';

/**
 * Changes a cloud assembly in place, so that the CDK's CLI can deploy it to MiniStack. What MiniStack does not know is left
 * out, and references to it become stand-ins.
 * @returns the templates as they were, by the stack's name.
 */
export function fitAssembly(folder: string): Map<string, Template> {
  const originals = new Map<string, Template>();
  const suffix = '.template.json';
  for (const file of readdirSync(folder).filter((name) => name.endsWith(suffix))) {
    const template: Template = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    originals.set(file.slice(0, -suffix.length), template);
    writeFileSync(join(folder, file), JSON.stringify(fitTemplate(template)));
    fitUploads(folder, template);
  }
  return originals;
}

/** A copy with what MiniStack knows. */
function fitTemplate(template: Template): Template {
  const kept = Object.entries(template.Resources).filter(([, resource]) => !isLeftOut(resource));
  const resources = Object.fromEntries(kept);
  const others = Object.entries(template.Resources).filter(([logicalId]) => !(logicalId in resources));
  const standIns = new Map(others.map(([logicalId, { Properties }]) => [logicalId, Properties ?? {}]));
  const replace = (value: any): any => {
    if (typeof value === 'string') return fitText(value);
    if (Array.isArray(value)) return value.map(replace);
    if (value === null || typeof value !== 'object') return value;
    const { Ref: reference, 'Fn::GetAtt': attribute, DependsOn: dependsOn } = value;
    if (standIns.has(reference)) return standIn(standIns, reference, 'Ref');
    if (Array.isArray(attribute) && standIns.has(attribute[0])) {
      return standIn(standIns, attribute[0], attribute[1]);
    }
    const copy = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replace(member)]));
    // Where Lambda has the authorities that the CDK's function trusts. Here it trusts the edge's.
    delete copy.AWS_CA_BUNDLE;
    // Otherwise MiniStack would wait for an hour for a function that can't start.
    if (copy.ServiceToken !== undefined) copy.ServiceTimeout = '120';
    if (dependsOn) copy.DependsOn = [dependsOn].flat().filter((id: string) => !standIns.has(id));
    return copy;
  };
  return replace({ ...template, Resources: resources });
}

/**
 * MiniStack does not find the function in the address of a streamed integration, and unpacks a function's code somewhere else
 * than Lambda. It runs there.
 */
function fitText(text: string): string {
  return text
    .replace(streamedPath[0], bufferedPath[0])
    .replace(streamedPath[1], bufferedPath[1])
    .replace(/^\/var\/task\//, './');
}

/** The property of the same name, where there is one; the endpoint's name is one. */
function standIn(standIns: ReadonlyMap<string, any>, logicalId: string, attribute: string): string {
  const property = standIns.get(logicalId)[attribute];
  if (typeof property === 'string') return property;
  const name = `standin-${logicalId}-${attribute}`;
  return attribute.endsWith('Arn') ? `arn:aws:standin:${region}:${accountId}:${name}` : name;
}

/** MiniStack unpacks a layer somewhere else, and without the right to execute its files. */
function fitUploads(folder: string, template: Template): void {
  const functions = Object.entries(template.Resources).filter(
    ([id, { Type: type }]) => type === 'AWS::Lambda::Function' && id.startsWith('CustomCDKBucketDeployment'),
  );
  for (const [, { Properties }] of functions) {
    const [hash] = Properties.Code.S3Key.split('.');
    const path = join(folder, `asset.${hash}`, 'index.py');
    const code = readFileSync(path, 'utf8');
    if (!code.includes(cliOnLambda) || !code.includes(startOnLambda)) {
      throw new Error("The CDK's function starts AWS's CLI in another way now.");
    }
    writeFileSync(path, code.replace(cliOnLambda, cliHere).replace(startOnLambda, startHere));
  }
}
