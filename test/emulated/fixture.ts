import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { modelStackNameOf, readConfiguration, stackNameOf } from '../../lib/configuration.ts';
import { everything, ownCheck, type Options } from '../support/configurations.ts';
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
import { promptCheckSecret, startPromptCheck } from './prompt-check.ts';
import { inRepository, repository } from '../support/repository.ts';

/** A resource that CloudFormation made. */
interface Made {
  type: string;
  physicalId: string;
}

/** Deploys the app with every option, in an otherwise empty account. */
export async function deployEverything(keep: Keep) {
  const folder = keepFolder(keep);
  const edge = keep(await startEdge());
  const environment = environmentOf(edge, folder);
  const configuration = readConfiguration(everything, 'The test');
  const stackName = stackNameOf(configuration);
  const modelStackName = modelStackNameOf(configuration)!;
  const model = keep(await startModel(modelStackName, environment));
  const ofFunctions = { ...environment, AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME: model.url };
  const ministack = keep(await startMiniStack(ofFunctions, join(folder, 'ministack')));
  edge.leadTo(ministack.url);
  const { ask } = keep(startPython(environment));

  const { hostedZoneId, secretArn } = await makeWhatExists(ask);
  const hostedZone = { id: hostedZoneId, name: 'example.com' };
  edge.serve(new URL(ownCheck.url).hostname, keep(await startPromptCheck()).url);
  const options: Options = {
    ...everything,
    domain: { ...everything.domain!, hostedZone },
    // A machine that starts ten processes at once may not ask within two seconds. A prompt that is refused shows that it asks.
    moderation: { prompt: { ...ownCheck, secretArn, onFailure: 'allow' } },
  };
  /** A program of this repository, as an operator runs it. */
  const run = (program: string, args: string[]): Promise<Run> =>
    runProgram(inRepository(program), args, { env: environment, cwd: repository });
  const runCdk = (command: string) =>
    runProgram(inRepository('node_modules/aws-cdk/bin/cdk'), command.split(' '), {
      env: environment,
      cwd: folder,
    });
  let templates = new Map<string, Template>();
  /** Synthesizes the app and has the CDK's CLI deploy all of it. */
  const deploy = async (given: Options): Promise<Run> => {
    const assembly = synthesize(given);
    try {
      templates = fitAssembly(assembly.folder);
      const places = `--app ${assembly.folder} --output ${join(folder, 'cdk.out')}`;
      return await runCdk(
        `deploy --all ${places} --require-approval never --ci --progress events --no-notices`,
      );
    } finally {
      assembly.remove();
    }
  };
  mustWork(await runCdk(`bootstrap aws://${accountId}/${region} --no-notices --ci`), ministack);
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
    /** As the app made them, by the stack's name. */
    templates,
    outputs: Object.fromEntries(
      outputs.map(({ OutputKey, OutputValue }: any) => [OutputKey, OutputValue]),
    ) as Record<string, string>,
    /** What the stacks consist of, by the stack's name and the logical id. */
    made,
    /** The physical id of the only resource of a type, or of the one whose logical id has the prefix. */
    physicalId: (type: string, prefix = '') => onlyOf(made.get(stackName)!, type, prefix),
    deploy,
    run,
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
    // The queue's own address is without TLS, which its policy refuses.
    AWS_ENDPOINT_URL_SQS: url,
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

/** What the configuration names and a deployment does not make. */
async function makeWhatExists(ask: Ask): Promise<{ hostedZoneId: string; secretArn: string }> {
  await ask('events', 'create_event_bus', { Name: everything.billing!.eventBusName });
  // The emulator believes at once that the domain is its owner's.
  await ask('sesv2', 'create_email_identity', { EmailIdentity: 'example.com' });
  const zone = { Name: 'example.com', CallerReference: 'test' };
  const { HostedZone: hostedZone } = await ask('route53', 'create_hosted_zone', zone);
  const secret = { Name: 'moderation', SecretString: promptCheckSecret };
  const { ARN: secretArn } = await ask('secretsmanager', 'create_secret', secret);
  return { hostedZoneId: hostedZone.Id.replace('/hostedzone/', ''), secretArn };
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
  let page: any = {};
  do {
    const next = page.NextToken === undefined ? {} : { NextToken: page.NextToken };
    page = await ask('cloudformation', 'list_stack_resources', { StackName, ...next });
    for (const { LogicalResourceId, ResourceType, PhysicalResourceId } of page.StackResourceSummaries) {
      found[LogicalResourceId] = { type: ResourceType, physicalId: PhysicalResourceId };
    }
  } while (page.NextToken !== undefined);
  return found;
}

function onlyOf(made: Record<string, Made>, type: string, prefix: string): string {
  const [found, ...more] = Object.entries(made).filter(
    ([logicalId, resource]) => resource.type === type && logicalId.startsWith(prefix),
  );
  if (!found || more.length > 0) throw new Error(`${found ? more.length + 1 : 0} of ${type} ${prefix}`);
  return found[1].physicalId;
}
