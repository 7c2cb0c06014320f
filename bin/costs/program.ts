import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { readConfiguration, readConfigurationFile, type Configuration } from '../../lib/configuration.ts';
import { runCommand, withOptions, type OptionRow } from '../common/command-line.ts';
import { configurationOrFailure } from '../common/configuration.ts';
import { Failure, usageFailure } from '../common/failure.ts';
import { decimal, wholeNumber } from '../common/values.ts';
import { abuseTable, abuseTitle } from './abuse.ts';
import { monthlyBill, sumOf } from './model.ts';
import { compare, comparing, reportTables } from './report.ts';
import {
  defaultWorkload as usual,
  gpuSeconds,
  usualImageBytes,
  usualWorkload,
  type Workload,
} from './workload.ts';

/** Computes what a deployment costs. @returns the exit code: 0 done, 1 failed, 2 wrong usage. */
export async function runCosts(args: string[]): Promise<number> {
  const command = withOptions(
    new Command('costs').description(
      'Computes what a deployment of this service costs a month, line by line.',
    ),
    options,
  );
  return runCommand(command, args, async () => {
    const { config, compare: onlyComparing, abuse: onlyAbuse, json, write, ...chosen } = command.opts();
    if (write && args.length > 1) {
      throw usageFailure('--write takes no other options: the document is about the defaults.');
    }
    const configuration = configurationOf(config);
    const workload: Workload = {
      ...usualWorkload(configuration),
      imageBytes: usualImageBytes(chosen.megapixels),
      ...(chosen as typeof usual),
    };
    const [seconds, deadline] = [gpuSeconds(workload), configuration.generationDeadlineSeconds];
    if (seconds > deadline) {
      const wrong = `A generation of ${seconds} GPU seconds would miss its deadline of ${deadline}`;
      throw new Failure(`${wrong}: raise generationDeadlineSeconds, or ask for less.`);
    }
    const tables = Object.entries(reportTables(configuration, workload));
    const abuse: [string, string] = [abuseTitle, abuseTable(configuration, workload)];
    if (write) {
      fillPage('costs.md', tables);
      fillPage('security.md', [abuse]);
      return 0;
    }
    const printed = onlyAbuse ? [abuse] : tables.filter(([title]) => !onlyComparing || title === comparing);
    const text = json
      ? JSON.stringify(jsonOf(configuration, workload, onlyComparing === true))
      : printed.map(([title, table]) => `## ${title}\n\n${table}`).join('\n\n');
    process.stdout.write(`${text}\n`);
    return 0;
  });
}

/** Puts each table between its markers on a page of the documents. */
function fillPage(name: string, tables: [title: string, table: string][]): void {
  const path = fileURLToPath(new URL(`../../docs/${name}`, import.meta.url));
  const filled = tables.reduce(
    (page, [title, table]) => {
      const place = new RegExp(`(?<=<!-- costs: ${title} -->\n).*?(?=<!-- /costs -->)`, 's');
      return page.replace(place, () => `\n${table}\n\n`);
    },
    readFileSync(path, 'utf8'),
  );
  writeFileSync(path, filled);
}

function jsonOf(configuration: Configuration, workload: Workload, onlyComparing: boolean): object {
  const comparison = compare(configuration, workload);
  if (onlyComparing) return { workload, comparison };
  const bill = monthlyBill(configuration, workload);
  const usdPerMonth = sumOf(bill.lines);
  const usdPerThousand = (usdPerMonth * 1000) / workload.generationsPerMonth;
  return { workload, ...bill, usdPerMonth, usdPerThousand, comparison };
}

const count = wholeNumber(1, 1_000_000_000);
const positive = decimal(0.000_1, 100_000);

const options: OptionRow[] = [
  ['--config <file>', 'options of a deployment, as JSON (default: all defaults, with a model)'],
  ['--generations-per-month <n>', 'how many', count, { usual: usual.generationsPerMonth }],
  [
    '--seconds <s>',
    `GPU time for one megapixel of one image (default: secondsPerMegapixel, else what is known of the card, else ${usual.seconds})`,
    positive,
  ],
  ['--megapixels <m>', 'of an image', positive, { usual: usual.megapixels }],
  ['--outputs <n>', 'images of a generation', wholeNumber(1, 4), { usual: usual.outputs }],
  ['--image-bytes <b>', "of an image (default: as the local painter's)", count],
  ['--views <v>', 'how often an image is opened', decimal(0, 100_000), { usual: usual.views }],
  ['--accounts <n>', 'that sign in within a month', count, { usual: usual.accounts }],
  [
    '--async-share <s>',
    'of the generations that no caller waits for',
    decimal(0, 1),
    { usual: usual.asyncShare },
  ],
  ['--images-per-sitting <n>', 'asked for one after another', count, { usual: usual.imagesPerSitting }],
  ['--instance-price <usd>', "an hour of the model's instance (default: the known list price)", positive],
  ['--compare', 'print only what compares: always on, or scaled to zero'],
  ['--abuse', 'print only what one Starter license can cost at worst'],
  ['--json', 'print one JSON object, for programs'],
  ['--write', "write the defaults' tables into docs/costs.md and docs/security.md"],
];

/** Without a file: the defaults, with a model, because a service without one makes no images. */
function configurationOf(path: string | undefined): Configuration {
  const inference = { kind: 'endpoint', modelData: 's3://models/example/' };
  return configurationOrFailure(() =>
    path === undefined
      ? readConfiguration({ inference }, 'The default configuration')
      : readConfigurationFile(path),
  );
}
