import { readFileSync } from 'node:fs';
import {
  CloudFormationClient,
  CreateChangeSetCommand,
  CreateStackCommand,
  DescribeChangeSetCommand,
  DescribeStackResourcesCommand,
  DescribeStacksCommand,
  DeleteChangeSetCommand,
  UpdateStackCommand,
  type ResourceChange,
} from '@aws-sdk/client-cloudformation';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { until } from '../../support/until.ts';
import type { Synthesized } from '../../support/synthesized.ts';
import type { Template } from '../../support/policies.ts';
import { emulatedTemplate, resolvedProperties, standIn } from './emulated-template.ts';
import { completedByHand, madeByHand } from './left-out.ts';
import { accountId, region, type Moto } from './moto.ts';

export interface Clients {
  cloudFormation: CloudFormationClient;
  s3: S3Client;
}

export interface Resource {
  type: string;
  physicalId: string;
}

export interface Deployed {
  outputs: Record<string, string>;
  /** By logical id: what moto's CloudFormation says that it made. */
  resources: Record<string, Resource>;
}

const bucket = `cdk-hnb659fds-assets-${accountId}-${region}`;
/** An archive with nothing in it: moto stores code and runs none. */
const emptyZip = Buffer.concat([Buffer.from('PK\u0005\u0006'), Buffer.alloc(18)]);

export function clientsOf({ url, environment }: Moto): Clients {
  const credentials = {
    accessKeyId: environment['AWS_ACCESS_KEY_ID']!,
    secretAccessKey: environment['AWS_SECRET_ACCESS_KEY']!,
  };
  const settings = { endpoint: url, region, credentials, maxAttempts: 1 };
  return {
    cloudFormation: new CloudFormationClient(settings),
    s3: new S3Client({ ...settings, forcePathStyle: true }),
  };
}

/** What `cdk bootstrap` leaves in an account, as far as templates name it. */
export async function bootstrap(moto: Moto, { s3 }: Clients): Promise<void> {
  const constraint = { LocationConstraint: region } as const;
  await s3.send(new CreateBucketCommand({ Bucket: bucket, CreateBucketConfiguration: constraint }));
  const version = { Name: '/cdk-bootstrap/hnb659fds/version', Value: '30', Type: 'String' };
  await moto.ask('ssm', 'put_parameter', version);
}

/** Puts an archive at each place that the assembly would upload one to. */
export async function uploadAssets({ s3 }: Clients, { templatePath }: Synthesized): Promise<void> {
  const manifest = JSON.parse(readFileSync(templatePath.replace('.template.', '.assets.'), 'utf8'));
  const destinations = Object.values<any>(manifest.files).flatMap((file) =>
    Object.values<any>(file.destinations),
  );
  const keys = destinations.map(({ objectKey }) => objectKey as string);
  for (const Key of keys) await s3.send(new PutObjectCommand({ Bucket: bucket, Key, Body: emptyZip }));
}

/** The template through S3, because it is longer than a request may be. @returns what CloudFormation is asked for. */
async function uploadTemplate({ s3 }: Clients, StackName: string, template: Template) {
  const Key = `${crypto.randomUUID()}.json`;
  const Body = JSON.stringify(emulatedTemplate(template));
  await s3.send(new PutObjectCommand({ Bucket: bucket, Key, Body }));
  const TemplateURL = `https://${bucket}.s3.${region}.amazonaws.com/${Key}`;
  return { StackName, TemplateURL, Capabilities: ['CAPABILITY_IAM' as const] };
}

/** Not by a change set, as the CDK would: those of moto do not wait for what a resource depends on. */
export async function createStack(clients: Clients, stackName: string, template: Template): Promise<void> {
  const request = await uploadTemplate(clients, stackName, template);
  await clients.cloudFormation.send(new CreateStackCommand(request));
}

/** What a change set says that a template would change. */
export async function announcedChanges(
  clients: Clients,
  stackName: string,
  template: Template,
): Promise<ResourceChange[]> {
  const request = await uploadTemplate(clients, stackName, template);
  const { Id: ChangeSetName } = await clients.cloudFormation.send(
    new CreateChangeSetCommand({ ...request, ChangeSetName: 'changes', ChangeSetType: 'UPDATE' }),
  );
  const changeSet = { StackName: stackName, ChangeSetName };
  const { Changes: changes } = await clients.cloudFormation.send(new DescribeChangeSetCommand(changeSet));
  await clients.cloudFormation.send(new DeleteChangeSetCommand(changeSet));
  return (changes ?? []).map(({ ResourceChange: change }) => change!);
}

/** Not by the change set: those of moto leave the outputs as they were. */
export async function updateStack(clients: Clients, stackName: string, template: Template): Promise<void> {
  const request = await uploadTemplate(clients, stackName, template);
  await clients.cloudFormation.send(new UpdateStackCommand(request));
}

export async function describeStack({ cloudFormation }: Clients, StackName: string): Promise<Deployed> {
  const { Stacks: stacks } = await cloudFormation.send(new DescribeStacksCommand({ StackName }));
  const outputs = (stacks![0]!.Outputs ?? []).map(({ OutputKey, OutputValue }) => [OutputKey!, OutputValue!]);
  const { StackResources: resources } = await cloudFormation.send(
    new DescribeStackResourcesCommand({ StackName }),
  );
  return {
    outputs: Object.fromEntries(outputs),
    // What it does not know is listed without a name.
    resources: Object.fromEntries(
      resources!
        .filter(({ LogicalResourceId: logicalId }) => logicalId)
        .map((resource) => [
          resource.LogicalResourceId!,
          { type: resource.ResourceType!, physicalId: resource.PhysicalResourceId! },
        ]),
    ),
  };
}

/**
 * Answers for the functions behind custom resources, which moto would run in Docker.
 * @param resources by logical id.
 */
export async function answerCustomResources(
  moto: Moto,
  clients: Clients,
  StackName: string,
  resources: Deployed['resources'],
): Promise<void> {
  const status = async () => {
    const { Stacks: stacks } = await clients.cloudFormation.send(new DescribeStacksCommand({ StackName }));
    return stacks![0]!;
  };
  const { StackId } = await status();
  const custom = Object.entries(resources).filter(([, { type }]) => type.startsWith('Custom::'));
  for (const [LogicalResourceId] of custom) {
    const answer = { Status: 'SUCCESS', StackId, LogicalResourceId, Data: {} };
    const address = `${moto.url}/cloudformation_${region}/cfnresponse?stack=${StackId}`;
    // moto takes the region of this request from nowhere else.
    const headers = { 'user-agent': `region/${region}` };
    const response = await fetch(address, { method: 'PUT', headers, body: JSON.stringify(answer) });
    if (!response.ok)
      throw new Error(`moto did not take the answer of ${LogicalResourceId}: ${await response.text()}`);
  }
  await until('the stack is complete', async () => (await status()).StackStatus!.endsWith('_COMPLETE'));
}

/** Values by stand-in. */
export type Names = Map<string, string>;

/** The deployment of the stack's API, as moto knows it: its CloudFormation can't say. */
async function deploymentNames(moto: Moto, template: Template, { resources }: Deployed): Promise<Names> {
  const idOf = (type: string) => Object.entries(template.Resources).find(([, { Type }]) => Type === type)![0];
  const restApiId = resources[idOf('AWS::ApiGateway::RestApi')]!.physicalId;
  const { items } = await moto.ask('apigateway', 'get_deployments', { restApiId });
  return new Map([[standIn(idOf('AWS::ApiGateway::Deployment'), 'Ref'), items[0].id]]);
}

/**
 * Makes and completes by hand what moto's CloudFormation left out, from the properties that it resolved.
 * @returns what the resources are really called, for the stand-ins, and the refusals of services by logical id.
 */
export async function makeByHand(moto: Moto, template: Template, deployed: Deployed) {
  const names = await deploymentNames(moto, template, deployed);
  const refused: Record<string, string> = {};
  const properties = resolvedProperties(deployed.outputs);
  const each = async (type: string, make: (logicalId: string, own: any) => Promise<void>) => {
    const ofType = Object.entries(template.Resources).filter(([, { Type }]) => Type === type);
    for (const [logicalId] of ofType) {
      const own = JSON.parse(withNames(properties[logicalId]!, names));
      await make(logicalId, own).catch((error: unknown) => void (refused[logicalId] = String(error)));
    }
  };
  for (const [type, { service, operation, parameters, names: namesOf }] of Object.entries(madeByHand)) {
    await each(type, async (logicalId, own) => {
      const answer = await moto.ask(service, operation, parameters(own, logicalId));
      for (const [attribute, value] of Object.entries(namesOf?.(answer, own) ?? {})) {
        names.set(standIn(logicalId, attribute), value);
      }
    });
  }
  for (const [type, callsOf] of Object.entries(completedByHand)) {
    await each(type, async (logicalId, own) => {
      const calls = callsOf(own, deployed.resources[logicalId]!.physicalId);
      for (const call of calls) await moto.ask(...call);
    });
  }
  return { names, refused };
}

/** A text with real names for its stand-ins. */
export function withNames(text: string, names: Names): string {
  return [...names].reduce((changed, [name, value]) => changed.replaceAll(name, value), text);
}
