import { Command, InvalidArgumentError } from 'commander';
import {
  ConfigurationError,
  readConfiguration,
  readConfigurationFile,
  type Configuration,
} from '../../lib/configuration.ts';
import { Failure, usageFailure } from '../common/failure.ts';
import { wholeNumber } from '../common/values.ts';
import { runCommand } from '../common/command-line.ts';
import { compare } from './compare.ts';
import { writeDocument } from './document.ts';
import { fleetOf } from './fleet.ts';
import { monthlyBill, paintSeconds, sumOf, type Deployment } from './model.ts';
import { reportSections, reportText } from './report.ts';
import { defaultWorkload, usualImageBytes, type Workload } from './workload.ts';

interface Flags {
  config?: string;
  generationsPerMonth: number;
  seconds: number;
  megapixels: number;
  outputs: number;
  imageBytes?: number;
  views: number;
  accounts: number;
  asyncShare: number;
  imagesPerSitting: number;
  instancePrice?: number;
  compare?: boolean;
  json?: boolean;
  write?: boolean;
}

/** Computes what a deployment costs. @returns the exit code: 0 done, 1 failed, 2 wrong usage. */
export async function runCosts(args: string[]): Promise<number> {
  // Importing the CDK takes seconds, so wrong usage is refused before.
  if (args[0] === 'bundles') return (await import('./bundles-program.ts')).runBundles(args.slice(1));
  const command = costsCommand();
  return runCommand(command, args, async () => {
    const flags = command.opts<Flags>();
    const configuration = configurationOf(flags.config);
    const workload = workloadOf(flags);
    checkDeadline(workload, configuration);
    // Refuse an unknown price before the stack is synthesized.
    fleetOf(configuration.inference, workload);
    if (flags.write && args.length > 1) {
      throw usageFailure('--write takes no other options: the document tells of the defaults.');
    }
    const { countStack } = await import('./stack-counts.ts');
    const deployment = { configuration, counts: countStack(configuration) };
    const sections = reportSections(deployment, workload);
    if (flags.write) {
      writeDocument(sections);
      return 0;
    }
    const onlyComparing = flags.compare === true;
    const text = flags.json
      ? JSON.stringify(answerOf(deployment, workload, onlyComparing))
      : reportText(sections, onlyComparing);
    process.stdout.write(`${text}\n`);
    return 0;
  });
}

/** For programs. */
function answerOf(deployment: Deployment, workload: Workload, onlyComparing: boolean): object {
  const comparison = compare(deployment, workload);
  if (onlyComparing) return { workload, comparison };
  const bill = monthlyBill(deployment, workload);
  const usdPerMonth = sumOf(bill.lines);
  const usdPerThousand = (usdPerMonth * 1000) / workload.generationsPerMonth;
  return { workload, counts: deployment.counts, ...bill, usdPerMonth, usdPerThousand, comparison };
}

function costsCommand(): Command {
  const usual = defaultWorkload;
  const count = (name: string) => wholeNumber(name, 1, 1_000_000_000);
  return new Command('costs')
    .description('Computes what a deployment of the Image Generation Service costs a month, by component.')
    .option(
      '--config <file>',
      'JSON file with the options of a deployment (default: all defaults, and a model endpoint with its own)',
    )
    .option(
      '--generations-per-month <n>',
      'how many',
      count('--generations-per-month'),
      usual.generationsPerMonth,
    )
    .option('--seconds <s>', 'GPU time for one megapixel of one image', positive, usual.secondsPerMegapixel)
    .option('--megapixels <m>', 'of an image', positive, usual.megapixels)
    .option('--outputs <n>', 'images of a generation', wholeNumber('--outputs', 1, 4), usual.outputs)
    .option('--image-bytes <b>', "of an image (default: as the local painter's)", count('--image-bytes'))
    .option('--views <v>', 'how often an image is opened', zeroOrMore, usual.viewsPerImage)
    .option('--accounts <n>', 'that sign in within a month', count('--accounts'), usual.accounts)
    .option('--async-share <s>', 'of the generations that no caller waits for', share, usual.asyncShare)
    .option(
      '--images-per-sitting <n>',
      'that somebody asks for one after another',
      count('--images-per-sitting'),
      usual.imagesPerSitting,
    )
    .option(
      '--instance-price <usd>',
      "an hour of the model's instance (default: the known list price)",
      positive,
    )
    .option('--compare', 'print only what compares: always on, asleep when idle, hosted elsewhere')
    .option('--json', 'print one JSON object, for programs')
    .option('--write', "write the defaults' tables into docs/costs.md")
    .addHelpText('after', '\n"costs bundles" measures the functions: see "costs bundles --help".');
}

function zeroOrMore(text: string): number {
  return text === '0' ? 0 : positive(text);
}

function share(text: string): number {
  const number = zeroOrMore(text);
  if (number <= 1) return number;
  throw new InvalidArgumentError('It must be from 0 to 1.');
}

function positive(text: string): number {
  const number = /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (number > 0) return number;
  throw new InvalidArgumentError('It must be a positive number.');
}

/** Without a file: the defaults, with a model, because a service without one makes no images. */
function configurationOf(path: string | undefined): Configuration {
  try {
    if (path !== undefined) return readConfigurationFile(path);
    const inference = { kind: 'endpoint', modelData: 's3://models/example/' };
    return readConfiguration({ inference }, 'The default configuration');
  } catch (error) {
    if (error instanceof ConfigurationError) throw new Failure(error.message, 1, { cause: error });
    throw error;
  }
}

function workloadOf(flags: Flags): Workload {
  const { generationsPerMonth, seconds, megapixels, outputs, imageBytes, views, accounts } = flags;
  const { asyncShare, imagesPerSitting, instancePrice } = flags;
  return {
    generationsPerMonth,
    secondsPerMegapixel: seconds,
    megapixels,
    outputs,
    imageBytes: imageBytes ?? usualImageBytes(megapixels),
    viewsPerImage: views,
    accounts,
    asyncShare,
    imagesPerSitting,
    ...(instancePrice === undefined ? {} : { instancePerHour: instancePrice }),
  };
}

/** @throws Failure when a generation takes longer than its deadline. */
function checkDeadline(workload: Workload, { generationDeadlineSeconds }: Configuration): void {
  const seconds = paintSeconds(workload);
  if (seconds <= generationDeadlineSeconds) return;
  throw new Failure(
    `A generation of ${seconds} GPU seconds would miss its deadline of ${generationDeadlineSeconds}: ` +
      'raise generationDeadlineSeconds, or ask for less.',
  );
}
