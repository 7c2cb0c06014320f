import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { modelStackNameOf, readConfiguration, stackNameOf } from '../../lib/configuration.ts';
import { everything, type Options } from '../support/configurations.ts';
import { keepFolder, type Keep } from '../support/fixture.ts';
import type { Template } from '../support/policies.ts';
import { runProgram, type Run } from '../support/run-program.ts';
import { synthesize } from '../support/synthesized.ts';
import { fitAssembly } from './assembly.ts';
import { startEdge, type Edge } from './edge.ts';
import {
  accountId,
  region,
  rootCredentials,
  startMiniStack,
  startPython,
  type Ask,
  type MiniStack,
} from './ministack.ts';
import { startModel } from './model.ts';
import { inRepository, repository } from '../support/repository.ts';

const cdk = inRepository('node_modules/aws-cdk/bin/cdk');

/** A resource that CloudFormation made. */
export interface Made {
  type: string;
  physicalId: string;
}

/** The app in an otherwise empty account. */
export interface EmulatedFixture {
  edge: Edge;
  ministack: MiniStack;
  ask: Ask;
  options: Options;
  stackName: string;
  modelStackName: string;
  /** As the app made them, by the stack's name. */
  templates: Map<string, Template>;
  outputs: Record<string, string>;
  /** What the stacks consist of, by the stack's name and the logical id. */
  made: Map<string, Record<string, Made>>;
  /** The physical id of the only resource of a type, or of the one whose logical id has the prefix. */
  physicalId(type: string, prefix?: string): string;
  /** Synthesizes the app and has the CDK's CLI deploy all of it. */
  deploy(options: Options): Promise<Run>;
  /** A program of this repository, or the CDK's CLI, as an operator runs it. */
  run(program: string, args: string[]): Promise<Run>;
  cdk(args: string[]): Promise<Run>;
  describe(stackName: string): Promise<any>;
}

/** Deploys the app with every option. */
export async function deployEverything(keep: Keep): Promise<EmulatedFixture> {
  const folder = keepFolder(keep);
  const edge = keep(await startEdge());
  const environment = environmentOf(edge, folder);
  const { stackName, modelStackName } = namesOf(everything);
  const model = keep(await startModel(modelStackName, environment));
  const ofFunctions = { ...environment, AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME: model.url };
  const ministack = keep(await startMiniStack(ofFunctions, join(folder, 'ministack')));
  edge.leadTo(ministack.url);
  const python = keep(startPython(environment));
  const { ask } = python;

  const hostedZoneId = await makeWhatExists(ask);
  const options: Options = {
    ...everything,
    domain: { ...everything.domain!, hostedZone: { id: hostedZoneId, name: 'example.com' } },
  };
  const run: EmulatedFixture['run'] = (program, args) =>
    runProgram(inRepository(program), args, { env: environment, cwd: repository });
  const runCdk: EmulatedFixture['cdk'] = (args) => runProgram(cdk, args, { env: environment, cwd: folder });
  let templates = new Map<string, Template>();
  const deploy: EmulatedFixture['deploy'] = async (given) => {
    const assembly = synthesize(given, { bundle: true });
    try {
      templates = fitAssembly(assembly.folder);
      return await runCdk([
        'deploy',
        '--all',
        '--app',
        assembly.folder,
        '--output',
        join(folder, 'cdk.out'),
        '--require-approval',
        'never',
        '--ci',
        '--progress',
        'events',
        '--no-notices',
      ]);
    } finally {
      assembly.remove();
    }
  };
  mustWork(await runCdk(['bootstrap', `aws://${accountId}/${region}`, '--no-notices', '--ci']), ministack);
  mustWork(await deploy(options), ministack);
  edge.setAliases(await aliasesOf(ask, hostedZoneId));
  const describe = async (name: string) =>
    (await ask('cloudformation', 'describe_stacks', { StackName: name })).Stacks[0];
  const { Outputs: outputs } = await describe(stackName);
  const made = new Map<string, Record<string, Made>>();
  for (const name of templates.keys()) made.set(name, await resourcesOf(ask, name));
  return {
    edge,
    ministack,
    ask,
    options,
    stackName,
    modelStackName,
    templates,
    outputs: Object.fromEntries(outputs.map(({ OutputKey, OutputValue }: any) => [OutputKey, OutputValue])),
    made,
    physicalId: (type, prefix = '') => onlyOf(made.get(stackName)!, type, prefix),
    deploy,
    run,
    cdk: runCdk,
    describe,
  };
}

/** Makes an SDK, the CDK's CLI and functions use the emulator only. The zone's names and AWS's lead to it, too. */
function environmentOf({ url, proxyUrl, certificate }: Edge, folder: string): Record<string, string> {
  const certificateFile = join(folder, 'authority.pem');
  writeFileSync(certificateFile, certificate);
  return {
    ...rootCredentials,
    HOME: folder,
    PATH: process.env.PATH ?? '',
    AWS_ENDPOINT_URL: url,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CA_BUNDLE: certificateFile,
    NODE_EXTRA_CA_CERTS: certificateFile,
    NODE_USE_ENV_PROXY: '1',
    HTTPS_PROXY: proxyUrl,
    NO_PROXY: '127.0.0.1',
    CDK_DISABLE_VERSION_CHECK: 'true',
    CDK_DISABLE_CLI_TELEMETRY: 'true',
  };
}

function namesOf(options: Options): { stackName: string; modelStackName: string } {
  const configuration = readConfiguration(options, 'The test');
  return { stackName: stackNameOf(configuration), modelStackName: modelStackNameOf(configuration)! };
}

/** What the configuration names and a deployment does not make. @returns the zone's id */
async function makeWhatExists(ask: Ask): Promise<string> {
  await ask('events', 'create_event_bus', { Name: everything.billing!.eventBusName });
  // The emulator believes at once that the domain is its owner's.
  await ask('sesv2', 'create_email_identity', { EmailIdentity: 'example.com' });
  const zone = { Name: 'example.com', CallerReference: 'test' };
  const { HostedZone: hostedZone } = await ask('route53', 'create_hosted_zone', zone);
  return hostedZone.Id.replace('/hostedzone/', '');
}

function mustWork({ code, stdout, stderr }: Run, ministack: MiniStack): void {
  if (code === 0) return;
  throw new Error(
    `The CDK's CLI ended with ${code}:\n${failure(stdout + stderr)}\n${ministack.log().slice(-3000)}`,
  );
}

/** Leaves out what went well. */
function failure(output: string): string {
  return output
    .split('\n')
    .filter((line) => !/(Publish|Build|Built|_IN_PROGRESS|_COMPLETE)/.test(line))
    .join('\n')
    .slice(-5000);
}

/** Names without the dot at their ends. */
async function aliasesOf(ask: Ask, HostedZoneId: string): Promise<Map<string, string>> {
  const { ResourceRecordSets: records } = await ask('route53', 'list_resource_record_sets', { HostedZoneId });
  const name = (text: string) => text.replace(/\.$/, '');
  return new Map(
    records
      .filter(({ AliasTarget: target }: any) => target !== undefined)
      .map((record: any) => [name(record.Name), name(record.AliasTarget.DNSName)]),
  );
}

async function resourcesOf(ask: Ask, StackName: string): Promise<Record<string, Made>> {
  const found: Record<string, Made> = {};
  let token: string | undefined;
  do {
    const page = await ask('cloudformation', 'list_stack_resources', {
      StackName,
      ...(token !== undefined && { NextToken: token }),
    });
    for (const { LogicalResourceId, ResourceType, PhysicalResourceId } of page.StackResourceSummaries) {
      found[LogicalResourceId] = { type: ResourceType, physicalId: PhysicalResourceId };
    }
    token = page.NextToken;
  } while (token !== undefined);
  return found;
}

function onlyOf(made: Record<string, Made>, type: string, prefix: string): string {
  const [found, ...more] = Object.entries(made).filter(
    ([logicalId, resource]) => resource.type === type && logicalId.startsWith(prefix),
  );
  if (!found || more.length > 0) throw new Error(`${found ? more.length + 1 : 0} of ${type} ${prefix}`);
  return found[1].physicalId;
}
