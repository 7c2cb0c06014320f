import type { Configuration } from '../../lib/configuration.ts';
import { compare } from './compare.ts';
import { counted, platformLogBytes } from './counted.ts';
import { instancePrices, instancePricesSource } from './instance-prices.ts';
import { monthlyBill, paintSeconds, sumOf, type Deployment, type Line } from './model.ts';
import {
  choiceText,
  comparisonTable,
  peersTable,
  pictures,
  sittingsTable,
  trafficTable,
} from './comparison-report.ts';
import { prices, pricesReadOn, type Price } from './prices.ts';
import type { Endpoint } from './sleep.ts';
import { amount, dollars, grouped, markdownTable, percent } from './tables.ts';
import { assumptions, type Workload } from './workload.ts';
import { breakEvenTable, utilizationTable, volumesTable } from './volumes.ts';

/** The parts of a report, each a text in Markdown; `docs/costs.md` holds them between markers of these names. */
export type Sections = Record<(typeof sectionTitles)[number][0], string>;

export const sectionTitles = [
  ['basis', 'What was assumed'],
  ['components', 'By component'],
  ['lines', 'Line by line'],
  ['volumes', 'At other volumes'],
  ['utilization', 'The GPU, by utilization'],
  ['break-even', 'When an instance pays'],
  ['traffic', 'When images are asked for'],
  ['comparison', 'Always on, asleep when idle, or hosted elsewhere'],
  ['choice', 'Which choice is right'],
  ['sittings', 'The same with shorter or longer sittings'],
  ['peers', 'What hosted services list'],
  ['pictures', "The model's hours"],
  ['counted', 'What one request uses'],
  ['assumptions', 'What is not known before the service runs'],
  ['prices', 'Prices'],
] as const;

/** Those that compare. */
const comparing: readonly (keyof Sections)[] = [
  'traffic',
  'comparison',
  'choice',
  'sittings',
  'peers',
  'pictures',
];

export function reportSections(deployment: Deployment, workload: Workload): Sections {
  const comparison = compare(deployment, workload);
  return {
    basis: basis(deployment.configuration, workload),
    components: componentsTable(deployment, workload),
    lines: linesTable(deployment, workload),
    volumes: volumesTable(deployment, workload),
    utilization: utilizationTable(deployment, workload),
    'break-even': breakEvenTable(deployment, workload),
    traffic: trafficTable(workload),
    comparison: comparisonTable(comparison),
    choice: choiceText(comparison, workload),
    sittings: sittingsTable(comparison),
    peers: peersTable(comparison),
    pictures: pictures(deployment.configuration.inference, workload, comparison),
    counted: countedTable(deployment),
    assumptions: assumptionsTable(),
    prices: pricesTable(),
  };
}

/** The report, or what of it compares, as it is printed. */
export function reportText(sections: Sections, onlyComparing: boolean): string {
  const shown = sectionTitles.filter(([name]) => !onlyComparing || comparing.includes(name));
  return shown.map(([name, title]) => `## ${title}\n\n${sections[name]}`).join('\n\n');
}

function basis({ inference, ...options }: Configuration, workload: Workload): string {
  const model =
    inference.kind === 'endpoint'
      ? `${inference.minInstances} to ${inference.maxInstances} × ${inference.instanceType}${asleep(inference)}`
      : { none: 'none', existing: 'an endpoint that is paid for elsewhere' }[inference.kind];
  return markdownTable(
    ['what', 'value'],
    [
      ['generations a month', grouped(workload.generationsPerMonth)],
      [
        'images of a generation',
        `${workload.outputs}, of ${amount(workload.megapixels)} megapixels, ${grouped(workload.imageBytes)} bytes each`,
      ],
      [
        'GPU time of a generation',
        `${amount(paintSeconds(workload))} s: ${amount(workload.secondsPerMegapixel)} s for each megapixel of each image`,
      ],
      ['times that an image is opened', amount(workload.viewsPerImage)],
      ['asynchronous generations', percent(workload.asyncShare)],
      ['images of a sitting', String(workload.imagesPerSitting)],
      ['accounts that sign in', grouped(workload.accounts)],
      ['model', model],
      ['records and images are kept', `${options.retentionDays} days`],
      ['logs are kept', `${options.logRetentionDays} days`],
    ],
  );
}

function asleep(inference: Endpoint): string {
  return inference.minInstances === 0
    ? `, asleep after ${inference.idleMinutes} minutes without a request`
    : '';
}

function componentsTable(deployment: Deployment, workload: Workload): string {
  const { lines } = monthlyBill(deployment, workload);
  const total = sumOf(lines);
  const rows = [...new Set(lines.map(({ component }) => component))]
    .map((component) => ({ component, lines: lines.filter((line) => line.component === component) }))
    .sort((a, b) => sumOf(b.lines) - sumOf(a.lines))
    .map((group) => row(group.component, group.lines, total, workload));
  return markdownTable(
    ['component', 'a month:', 'of it fixed:', 'per 1,000 generations:', 'share:'],
    [...rows, row('**all**', lines, total, workload)],
  );
}

function row(name: string, lines: Line[], total: number, workload: Workload): string[] {
  const usd = sumOf(lines);
  const fixed = sumOf(lines.filter((line) => line.fixed));
  return [name, dollars(usd), dollars(fixed), dollars(perThousand(usd, workload)), percent(usd / total)];
}

function linesTable(deployment: Deployment, workload: Workload): string {
  const { lines } = monthlyBill(deployment, workload);
  return markdownTable(
    ['component', 'what', 'quantity a month', 'quantity:', 'unit', 'a month:', 'per 1,000 generations:'],
    lines.map(({ component, what, formula, quantity, unit, usd }) => [
      component,
      what,
      formula,
      amount(quantity),
      unit,
      dollars(usd),
      dollars(perThousand(usd, workload)),
    ]),
  );
}

function perThousand(usd: number, { generationsPerMonth }: Workload): number {
  return (usd * 1000) / generationsPerMonth;
}

function countedTable({ counts }: Deployment): string {
  const { generation, more, sweep, pngBytesPerMegapixel, previewBytes } = counted;
  const units = (of: { readUnits: number; writeUnits: number }) =>
    `${of.readUnits} read and ${of.writeUnits} write units`;
  const added = (of: { readUnits: number; writeUnits: number }) => `${units(of)} more`;
  return markdownTable(
    ['what', 'count'],
    [
      ['a generation: DynamoDB', units(generation)],
      ['with an idempotency key', added(more.idempotencyKey)],
      ['with a prompt of 1,000 characters instead of 100', added(more.longPrompt)],
      ...more.fullPeriod.map((of) => [
        `on the last day of a period, ten identities and ${of.keys === 1 ? '1 key' : `${of.keys} keys`} used`,
        added(of),
      ]),
      ['its record, for as long as it is kept', `${generation.itemBytes} bytes`],
      [
        'its S3 requests, for each image',
        '2 PUT by the model, 2 HEAD by the function: itself and its preview',
      ],
      ['its log: the request line', `about ${grouped(generation.logBytes)} bytes`],
      ["its log: Lambda's own lines", `about ${platformLogBytes} bytes`],
      ['its log: the access log', `about ${counts.accessLogBytes} bytes`],
      ['its answer', `about ${generation.answerBytes} bytes; links on AWS also hold a session token`],
      [
        'a run of the sweep',
        `${sweep.readUnits} read units, about ${sweep.logBytes + platformLogBytes} bytes of log`,
      ],
      ['of an asynchronous one: DynamoDB', `${more.respondAsync.readUnits} read unit more`],
      ['memory of a function that generates', `${counts.memoryMb} MB`],
      ['memory of a worker', `${counts.workerMemoryMb} MB`],
      ["the service's metrics, at most", String(counts.customMetrics)],
      ['metrics in alarms', String(counts.alarmMetrics)],
      ['rules of the firewall', String(counts.firewallRules)],
      ['copies of the table that are kept', String(counts.backupCopies)],
      ["a megapixel's PNG by the local painter", `${grouped(pngBytesPerMegapixel)} bytes`],
      ['its preview', `${grouped(previewBytes)} bytes`],
    ],
  );
}

function assumptionsTable(): string {
  return markdownTable(
    ['assumed:', 'what it is'],
    Object.values(assumptions).map(({ value, meaning }) => [value.toLocaleString('en-US'), meaning]),
  );
}

function pricesTable(): string {
  const listed = Object.values(prices).map((price: Price) => [
    price.service,
    `$${price.usd.toLocaleString('en-US', { maximumFractionDigits: 12 })}`,
    price.per === 1 ? price.unit : `${grouped(price.per)} ${price.unit}`,
    price.free ?? '–',
    price.confirmed ? 'yes' : '**no**',
    `<${price.source}>`,
  ]);
  const instances = Object.entries(instancePrices).map(([type, usd]) => [
    `SageMaker hosting, ${type}`,
    `$${usd}`,
    'hour',
    '–',
    '**no**',
    `<${instancePricesSource}>`,
  ]);
  const table = markdownTable(
    ['service', 'price:', 'for', 'free each month', 'confirmed', 'page'],
    [...instances, ...listed],
  );
  return `us-east-1, read on ${pricesReadOn}.\n\n${table}`;
}
