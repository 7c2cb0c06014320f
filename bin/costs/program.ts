import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError } from 'commander';
import { readConfiguration, readConfigurationFile, type Configuration } from '../../lib/configuration.ts';
import { runCommand } from '../common/command-line.ts';
import { configurationOrFailure } from '../common/configuration.ts';
import { Failure, usageFailure } from '../common/failure.ts';
import { wholeNumber } from '../common/values.ts';
import { monthlyBill, sumOf } from './model.ts';
import { compare, comparing, reportTables } from './report.ts';
import { defaultWorkload, gpuSeconds, usualImageBytes, type Workload } from './workload.ts';

const documentPath = fileURLToPath(new URL('../../docs/costs.md', import.meta.url));

/** Computes what a deployment costs. @returns the exit code: 0 done, 1 failed, 2 wrong usage. */
export async function runCosts(args: string[]): Promise<number> {
  const command = costsCommand();
  return runCommand(command, args, async () => {
    const { config, compare: onlyComparing, json, write, ...chosen } = command.opts();
    if (write && args.length > 1) {
      throw usageFailure('--write takes no other options: the document tells of the defaults.');
    }
    const configuration = configurationOf(config);
    const workload: Workload = {
      imageBytes: usualImageBytes(chosen.megapixels),
      ...(chosen as typeof defaultWorkload),
    };
    const [seconds, deadline] = [gpuSeconds(workload), configuration.generationDeadlineSeconds];
    if (seconds > deadline) {
      const wrong = `A generation of ${seconds} GPU seconds would miss its deadline of ${deadline}`;
      throw new Failure(`${wrong}: raise generationDeadlineSeconds, or ask for less.`);
    }
    const tables = Object.entries(reportTables(configuration, workload));
    if (write) {
      writeFileSync(documentPath, filledPage(readFileSync(documentPath, 'utf8'), tables));
      return 0;
    }
    const printed = tables.filter(([title]) => !onlyComparing || title === comparing);
    const text = json
      ? JSON.stringify(answerOf(configuration, workload, onlyComparing === true))
      : printed.map(([title, table]) => `## ${title}\n\n${table}`).join('\n\n');
    process.stdout.write(`${text}\n`);
    return 0;
  });
}

/** Puts each table between its markers on the page. */
function filledPage(page: string, tables: [title: string, table: string][]): string {
  return tables.reduce((filled, [title, table]) => {
    const place = new RegExp(`(?<=<!-- costs: ${title} -->\n).*?(?=<!-- /costs -->)`, 's');
    return filled.replace(place, () => `\n${table}\n\n`);
  }, page);
}

/** For programs. */
function answerOf(configuration: Configuration, workload: Workload, onlyComparing: boolean): object {
  const comparison = compare(configuration, workload);
  if (onlyComparing) return { workload, comparison };
  const bill = monthlyBill(configuration, workload);
  const usdPerMonth = sumOf(bill.lines);
  const usdPerThousand = (usdPerMonth * 1000) / workload.generationsPerMonth;
  return { workload, ...bill, usdPerMonth, usdPerThousand, comparison };
}

function costsCommand(): Command {
  const usual = defaultWorkload;
  const count = (name: string) => wholeNumber(name, 1, 1_000_000_000);
  const [generations, sitting] = ['--generations-per-month', '--images-per-sitting'];
  const price = "an hour of the model's instance (default: the known list price)";
  return new Command('costs')
    .description('Computes what a deployment of the Image Generation Service costs a month, line by line.')
    .option('--config <file>', 'options of a deployment, as JSON (default: all defaults, with a model)')
    .option(`${generations} <n>`, 'how many', count(generations), usual.generationsPerMonth)
    .option('--seconds <s>', 'GPU time for one megapixel of one image', positive, usual.seconds)
    .option('--megapixels <m>', 'of an image', positive, usual.megapixels)
    .option('--outputs <n>', 'images of a generation', wholeNumber('--outputs', 1, 4), usual.outputs)
    .option('--image-bytes <b>', "of an image (default: as the local painter's)", count('--image-bytes'))
    .option('--views <v>', 'how often an image is opened', zeroOrMore, usual.views)
    .option('--accounts <n>', 'that sign in within a month', count('--accounts'), usual.accounts)
    .option('--async-share <s>', 'of the generations that no caller waits for', share, usual.asyncShare)
    .option(`${sitting} <n>`, 'asked for one after another', count(sitting), usual.imagesPerSitting)
    .option('--instance-price <usd>', price, positive)
    .option('--compare', 'print only what compares: always on, or scaled to zero')
    .option('--json', 'print one JSON object, for programs')
    .option('--write', "write the defaults' tables into docs/costs.md");
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
  const inference = { kind: 'endpoint', modelData: 's3://models/example/' };
  return configurationOrFailure(() =>
    path === undefined
      ? readConfiguration({ inference }, 'The default configuration')
      : readConfigurationFile(path),
  );
}
