import { constants } from 'node:os';
import { Command, Option } from 'commander';
import { runCommand } from '../common/command-line.ts';
import { asFailure, usageFailure } from '../common/failure.ts';
import { printable } from '../common/output.ts';
import { openStores } from '../common/stores.ts';
import { id, nonEmpty, region as regionValue } from '../common/values.ts';
import { tracesOf } from './clean-up.ts';
import { planFixture } from './fixture.ts';
import { localPlace, stackPlace, type SmokePlace } from './place.ts';
import { runChecks, type CheckResult } from './run.ts';

interface Flags {
  stack?: string;
  region?: string;
  data?: string;
  identity?: string;
  json?: boolean;
}

const examples = ['', '--stack image-generation-prod --region eu-west-1', '--json'];
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** npm may pass on a signal that the terminal already sent to all processes: two signals within this time are one Ctrl-C. */
const sameSignalMs = 500;

/** Checks a running service from outside. @returns the exit code: 0 all checks passed, 1 some failed, 2 wrong usage */
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
    .option('--identity <id>', 'generate with this identity (default: a temporary one)', id('--identity'))
    .option('--json', 'print exactly one JSON object, for programs')
    .addHelpText(
      'after',
      `\nExamples:\n${examples.map((flags) => `  npm run smoke -- ${flags}`.trimEnd()).join('\n')}`,
    );
  return runCommand(command, args, () => smoke(command.opts<Flags>()));
}

async function smoke({ stack, region, data = '.local', identity, json = false }: Flags): Promise<number> {
  if (stack === undefined && region !== undefined)
    throw usageFailure('--region means AWS: name the stack there too, with --stack.');
  const place = stack === undefined ? localPlace(data) : await stackPlace(stack, region);
  const stores = openStores(place.tableName);
  try {
    return await check(place, stores, { identity, json });
  } finally {
    stores.close();
  }
}

async function check(
  place: SmokePlace,
  stores: ReturnType<typeof openStores>,
  { identity, json }: { identity: string | undefined; json: boolean },
): Promise<number> {
  const fixture = await planFixture(stores, identity).catch((error: unknown) => {
    throw asFailure(error, place);
  });
  const print = (text: string) => void (json || process.stdout.write(`${text}\n`));
  let interruptedBy: NodeJS.Signals | null = null;
  const interruptedCode = () => interruptedBy && 128 + constants.signals[interruptedBy];
  let firstMs = 0;
  const interrupt = (signal: NodeJS.Signals) => {
    if (interruptedBy === null) {
      interruptedBy = signal;
      firstMs = Date.now();
      console.error('Stopping after this check, to clean up. Press Ctrl-C again to leave at once.');
    } else if (Date.now() - firstMs >= sameSignalMs) {
      console.error(`Left without cleaning up: remove ${tracesOf(fixture)} by hand.`);
      process.exit(interruptedCode()!);
    }
  };
  for (const signal of signals) process.on(signal, interrupt);
  try {
    print(`Checking ${place.name}: ${place.baseUrl}\n`);
    const results = await runChecks(
      { place, stores, fixture },
      () => interruptedBy !== null,
      (result) => print(resultLine(result)),
    );
    const count = (status: CheckResult['status']) => results.filter((one) => one.status === status).length;
    const [failed, skipped] = [count('failed'), count('skipped')];
    print(`\n${count('passed')} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`);
    const report = { place: place.name, baseUrl: place.baseUrl, passed: failed === 0, checks: results };
    if (json) process.stdout.write(`${JSON.stringify(report)}\n`);
    return interruptedCode() ?? (failed > 0 ? 1 : 0);
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
  }
}

const marks = { passed: '✓', failed: '✗', skipped: '–' };

/** One line about one check. */
function resultLine({ name, status, durationMs, reason }: CheckResult): string {
  if (status === 'skipped') return printable(`${marks.skipped} ${name}: skipped, ${reason}`);
  return printable(`${marks[status]} ${name} (${durationMs} ms)${reason === null ? '' : `: ${reason}`}`);
}
