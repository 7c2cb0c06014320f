import { Command, Option } from 'commander';
import { asFailure, usageFailure } from '../common/failure.ts';
import { openStores } from '../common/stores.ts';
import { id, nonEmpty, region as regionValue } from '../common/values.ts';
import { runCommand } from '../common/command-line.ts';
import { tracesOf } from './clean-up.ts';
import { noteSignals } from './interruption.ts';
import { localPlace, stackPlace, type SmokePlace } from './place.ts';
import { stepLine, summaryLine } from './report.ts';
import { runSteps } from './run.ts';
import type { StepResult } from './step.ts';
import { planWorld, type SmokeWorld } from './world.ts';

interface Flags {
  stack?: string;
  region?: string;
  data?: string;
  identity?: string;
  json?: boolean;
}

const examples = ['', '--stack image-generation-prod --region eu-west-1', '--json'];

/** Checks a running service from outside. @returns the exit code: 0 all checks passed, 1 some failed, 2 wrong usage. */
export async function runSmoke(args: string[]): Promise<number> {
  // A closed pipe, as in `… | head`, must not stop the clean-up.
  process.stdout.on('error', () => {});
  const command = new Command('smoke')
    .description(
      'Checks a running Image Generation Service with a temporary license and key: the local one, or a deployed stack.\n' +
        'It generates one small image and removes everything that it made.',
    )
    .option('--stack <name>', 'this deployed stack', nonEmpty('--stack'))
    .option('--region <region>', 'its AWS region (default: AWS_REGION)', regionValue('--region'))
    .addOption(
      new Option('--data <dir>', 'the local service that runs on this data folder (default: .local)')
        .argParser(nonEmpty('--data'))
        .conflicts('stack'),
    )
    .option('--identity <id>', 'paint with this identity (default: a temporary one)', id('--identity'))
    .option('--json', 'print exactly one JSON object, for programs')
    .addHelpText(
      'after',
      `\nExamples:\n${examples.map((flags) => `  npm run smoke -- ${flags}`.trimEnd()).join('\n')}`,
    );
  return runCommand(command, args, () => smoke(command.opts<Flags>()));
}

async function smoke(flags: Flags): Promise<number> {
  const place = await findPlace(flags);
  const stores = openStores(place.tableName);
  try {
    const world = await planWorld(stores, flags.identity, Date.now()).catch((error: unknown) => {
      throw asFailure(error, place);
    });
    return await check(place, stores, world, flags.json ?? false);
  } finally {
    stores.close();
  }
}

function findPlace({ stack, region, data = '.local' }: Flags): Promise<SmokePlace> | SmokePlace {
  if (stack !== undefined) return stackPlace(stack, region);
  if (region !== undefined) throw usageFailure('--region means AWS: name the stack there too, with --stack.');
  return localPlace(data);
}

async function check(
  place: SmokePlace,
  stores: ReturnType<typeof openStores>,
  world: SmokeWorld,
  json: boolean,
): Promise<number> {
  const note = (text: string) => process.stderr.write(`${text}\n`);
  const print = (text: string) => void (json || process.stdout.write(`${text}\n`));
  const interruption = noteSignals(
    () => note('Stopping after this check, to clean up. Press Ctrl-C again to leave at once.'),
    () => note(`Left without cleaning up: remove ${tracesOf(world)} by hand.`),
  );
  try {
    print(`Checking ${place.name}: ${place.baseUrl}\n`);
    const results = await runSteps(place, stores, world, interruption, (result) => print(stepLine(result)));
    print(`\n${summaryLine(results)}`);
    if (json) process.stdout.write(`${JSON.stringify(reportJson(place, results))}\n`);
    const failed = results.some(({ status }) => status === 'failed');
    return interruption.exitCode() ?? (failed ? 1 : 0);
  } finally {
    interruption.stop();
  }
}

function reportJson({ name, baseUrl }: SmokePlace, checks: StepResult[]): Record<string, unknown> {
  return { place: name, baseUrl, passed: checks.every(({ status }) => status !== 'failed'), checks };
}
