import { readFileSync } from 'node:fs';
import { everything, type Options } from '../../support/configurations.ts';
import type { Template } from '../../support/policies.ts';
import { synthesize, type Synthesized } from '../../support/synthesized.ts';
import { until } from '../../support/until.ts';
import { accountId, region, startMoto, type Moto } from './moto.ts';
import { leftOut, templateWith } from './template.ts';

export interface Deployed {
  outputs: Record<string, string>;
  /** What moto's CloudFormation made, by logical id. */
  resources: Record<string, { type: string; physicalId: string }>;
}

/** The stack in an otherwise empty account. */
export interface World extends Deployed {
  moto: Moto;
  options: Options;
  stackName: string;
  template: Template;
  /** The physical id of the only resource of a type, or of the one whose logical id has the prefix. */
  physicalId(type: string, prefix?: string): string;
}

/** moto looks for a bus with the part after the last slash of the partner bus's name. */
export const eventBusName = 'ed_test';

const bucket = `cdk-hnb659fds-assets-${accountId}-${region}`;
/** An empty archive. moto stores code but does not run it here. */
const emptyZip = `PK\u0005\u0006${'\0'.repeat(18)}`;

/** Deploys the stack with every option, as far as moto can. */
export async function deployEverything(): Promise<World> {
  const moto = await startMoto();
  try {
    return await deployTo(moto);
  } catch (error) {
    await moto.close();
    throw error;
  }
}

async function deployTo(moto: Moto): Promise<World> {
  await bootstrap(moto);
  await moto.ask('events', 'create_event_bus', { Name: eventBusName });
  const zone = { Name: 'example.com', CallerReference: 'test' };
  const { HostedZone: hostedZone } = await moto.ask('route53', 'create_hosted_zone', zone);
  const options = optionsWith(hostedZone.Id.replace('/hostedzone/', ''));
  const stackName = `image-generation-${options.stage}`;
  const synthesized = synthesize(options);
  const { template } = synthesized;
  await uploadAssets(moto, synthesized);
  synthesized.remove();
  // Without a change set, unlike the CDK: moto's change sets do not wait for dependencies.
  await moto.ask('cloudformation', 'create_stack', await requestFor(moto, stackName, template));
  const { resources } = await describeStack(moto, stackName);
  await answerCustomResources(moto, stackName, resources);
  const { outputs } = await describeStack(moto, stackName);
  return {
    moto,
    options,
    stackName,
    template,
    resources,
    outputs,
    physicalId(type, prefix = '') {
      const [found, ...more] = Object.entries(resources).filter(
        ([logicalId, resource]) => resource.type === type && logicalId.startsWith(prefix),
      );
      if (!found || more.length > 0) throw new Error(`${more.length + 1} of ${type} ${prefix}`);
      return found[1].physicalId;
    },
  };
}

function optionsWith(hostedZoneId: string): Options {
  return {
    ...everything,
    domain: { ...everything.domain!, hostedZone: { id: hostedZoneId, name: 'example.com' } },
  };
}

/** Makes what `cdk bootstrap` makes, as far as templates use it. */
async function bootstrap({ ask }: Moto): Promise<void> {
  const CreateBucketConfiguration = { LocationConstraint: region };
  await ask('s3', 'create_bucket', { Bucket: bucket, CreateBucketConfiguration });
  const version = { Name: '/cdk-bootstrap/hnb659fds/version', Value: '30', Type: 'String' };
  await ask('ssm', 'put_parameter', version);
}

/** Uploads an empty archive for each asset of the assembly. */
async function uploadAssets({ ask }: Moto, { templatePath }: Synthesized): Promise<void> {
  const manifest = JSON.parse(readFileSync(templatePath.replace('.template.', '.assets.'), 'utf8'));
  const destinations = Object.values<any>(manifest.files).flatMap((file) =>
    Object.values<any>(file.destinations),
  );
  for (const { objectKey: Key } of destinations) {
    await ask('s3', 'put_object', { Bucket: bucket, Key, Body: emptyZip });
  }
}

/** Uploads the template to S3, because it is too long for a request. @returns the parameters for CloudFormation. */
async function requestFor({ ask }: Moto, StackName: string, template: Template) {
  const Key = `${crypto.randomUUID()}.json`;
  const Body = JSON.stringify(templateWith(template, (type) => !leftOut.has(type)));
  await ask('s3', 'put_object', { Bucket: bucket, Key, Body });
  const TemplateURL = `https://${bucket}.s3.${region}.amazonaws.com/${Key}`;
  return { StackName, TemplateURL, Capabilities: ['CAPABILITY_IAM'] };
}

/** What a change set would change. moto's change sets do not update the outputs, so none is executed. */
export async function announcedChanges(moto: Moto, stackName: string, template: Template): Promise<any[]> {
  const ChangeSetName = 'changes';
  const request = await requestFor(moto, stackName, template);
  await moto.ask('cloudformation', 'create_change_set', {
    ...request,
    ChangeSetName,
    ChangeSetType: 'UPDATE',
  });
  const changeSet = { StackName: stackName, ChangeSetName };
  const { Changes: changes = [] } = await moto.ask('cloudformation', 'describe_change_set', changeSet);
  await moto.ask('cloudformation', 'delete_change_set', changeSet);
  return changes.map(({ ResourceChange: change }: any) => change);
}

export async function updateStack(moto: Moto, stackName: string, template: Template): Promise<void> {
  await moto.ask('cloudformation', 'update_stack', await requestFor(moto, stackName, template));
}

async function stackOf({ ask }: Moto, StackName: string): Promise<any> {
  const { Stacks: stacks } = await ask('cloudformation', 'describe_stacks', { StackName });
  return stacks[0];
}

export async function describeStack(moto: Moto, StackName: string): Promise<Deployed> {
  const { Outputs: outputs = [] } = await stackOf(moto, StackName);
  const answer = await moto.ask('cloudformation', 'describe_stack_resources', { StackName });
  // moto lists resources of unknown types without an id.
  const known = answer.StackResources.filter(({ LogicalResourceId: logicalId }: any) => logicalId);
  return {
    outputs: Object.fromEntries(outputs.map(({ OutputKey, OutputValue }: any) => [OutputKey, OutputValue])),
    resources: Object.fromEntries(
      known.map(
        ({ LogicalResourceId: logicalId, ResourceType: type, PhysicalResourceId: physicalId }: any) => [
          logicalId,
          { type, physicalId },
        ],
      ),
    ),
  };
}

/** Answers in place of the functions of custom resources, which moto would run in Docker. */
async function answerCustomResources(
  moto: Moto,
  stackName: string,
  resources: Deployed['resources'],
): Promise<void> {
  const { StackId } = await stackOf(moto, stackName);
  const custom = Object.entries(resources).filter(([, { type }]) => type.startsWith('Custom::'));
  for (const [LogicalResourceId] of custom) {
    const answer = { Status: 'SUCCESS', StackId, LogicalResourceId, Data: {} };
    const address = `${moto.url}/cloudformation_${region}/cfnresponse?stack=${StackId}`;
    // moto reads the region of this request from this header only.
    const headers = { 'user-agent': `region/${region}` };
    const response = await fetch(address, { method: 'PUT', headers, body: JSON.stringify(answer) });
    if (!response.ok)
      throw new Error(`moto did not take the answer of ${LogicalResourceId}: ${await response.text()}`);
  }
  await until('the stack is complete', async () =>
    (await stackOf(moto, stackName)).StackStatus.endsWith('_COMPLETE'),
  );
}
