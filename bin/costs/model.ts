import { checksPictures, type Configuration } from '../../lib/configuration.ts';
import { fleetOf, type Fleet } from './fleet.ts';
import { prices, type Price } from './prices.ts';
import { amount } from '../common/markdown.ts';
import { assumptions, daysPerMonth, gpuSeconds, hoursPerMonth, type Workload } from './workload.ts';

/** One line of the bill: a quantity of a month at its price. */
export interface Line {
  component: string;
  what: string;
  /** What is multiplied, for people. */
  formula: string;
  quantity: number;
  price: Price;
  usd: number;
}

/** Of log lines: a request's, a run's of the sweep, what Lambda adds to each invocation, and the gateway's. */
export const logBytes = { request: 960, run: 454, platform: 364, access: 271 };

/**
 * What the lines multiply, by the names that their formulas show. What one request uses is counted again by
 * `test/infra/costs/counted.test.ts`, which runs the real functions against the local engines; what a deployment has
 * is counted by `template.test.ts` beside it, in the templates.
 */
export function factorsOf(configuration: Configuration, workload: Workload, waitSeconds = 0) {
  const { inference, mail, billing, retentionDays } = configuration;
  const check = configuration.moderation.prompt.kind;
  const watched = watchedBy(configuration);
  const generations = workload.generationsPerMonth;
  const asyncGenerations = generations * workload.asyncShare;
  // While the model is asleep it is asked every eleven seconds, on average.
  const tries = 1 + waitSeconds / 11;
  const runs = 43_800 * (mail === null ? 1 : 2);
  const ofRequests = generations * (logBytes.request + logBytes.platform + logBytes.access);
  const ofWorkers = asyncGenerations * (logBytes.request + logBytes.platform);
  return {
    generations,
    images: generations * workload.outputs,
    'async generations': asyncGenerations,
    'runs by schedule': runs,
    invocations: generations + asyncGenerations * tries + runs,
    // A request has a prompt of 100 characters, one image, no idempotency key, early in a billing period.
    // A check of prompts comes after a read of the credits.
    'read units': check === 'none' ? 5 : 6,
    // Transactions count twice; two of these are the lease index's.
    'write units': 12,
    'read units of a run': 5,
    // With DynamoDB's 100 bytes for each item.
    'bytes of a record': 768,
    'bytes of an answer': 1210,
    'bytes of an image': workload.imageBytes,
    'bytes with preview': workload.imageBytes + 19_000,
    views: workload.views,
    'PUTs, image and preview': 2,
    'HEADs and views': 2 + workload.views,
    'months kept': retentionDays / daysPerMonth,
    'bytes of all logs': ofRequests + ofWorkers + runs * (logBytes.run + logBytes.platform),
    MB: 256,
    // Beside the model 0.3: checks, reservation, settlement, a share of cold starts.
    'seconds, most of the GPU': gpuSeconds(workload) + 0.3,
    // A run stands 20 in the model's line, on average; a try that finds the model asleep takes 0.1.
    'seconds that wait': 0.3 + 20 + 0.1 * (tries - 1),
    // One sends a request, and two bring it and delete it, or have it come again.
    'requests to the queue': 1 + 2 * tries,
    'seconds of a run': 0.1,
    'web ACLs': 2,
    rules: 9,
    // With every possible value of their second dimension. A fault makes one more of its function's version, for an hour.
    metrics: 50 + watched.metrics,
    // An alarm on an expression counts each metric in it.
    'metrics in alarms': 184 + metricsInAlarms(inference) + watched.inAlarms,
    // S3's own of the prefix of outputs, by what is asked there: of requests five, of bytes, errors and latency two each.
    'request metrics': 11,
    dashboard: 1,
    traces: tracesOf(generations) + runs,
    key: 1,
    // Of a prompt of up to 1,000 characters, by a guardrail of one policy.
    'text units': check === 'bedrock' ? 1 : 0,
    'copies at any time': 47,
    accounts: workload.accounts,
    visits: workload.accounts * 20,
    'compressed bytes of a visit': 300_000,
    'requests of a visit': 15,
    // Five pollers of each queue, 20 seconds each.
    'polls of empty queues': (billing === null ? 2 : 3) * 15 * 60 * hoursPerMonth,
  };
}

/** The metrics of what a deployment may be without. */
function watchedBy({ mail, billing, moderation, inference }: Configuration): {
  metrics: number;
  inAlarms: number;
} {
  const parts: [metrics: number, inAlarms: number][] = [
    mail === null ? [0, 0] : [2, 5],
    billing === null ? [0, 0] : [5, 7],
    moderation.prompt.kind === 'none' ? [0, 0] : [3, 3],
    checksPictures(inference) ? [1, 2] : [0, 0],
  ];
  return {
    metrics: parts.reduce((sum, [metrics]) => sum + metrics, 0),
    inAlarms: parts.reduce((sum, [, inAlarms]) => sum + inAlarms, 0),
  };
}

/** Of the model's own alarms, and those by which it is scaled. */
function metricsInAlarms(inference: Configuration['inference']): number {
  if (inference.kind !== 'endpoint') return 0;
  const { minInstances, maxInstances } = inference;
  if (minInstances === 0) return maxInstances > 1 ? 15 : 10;
  return maxInstances > minInstances ? 7 : 5;
}

/** X-Ray's default rule: the first request of each second is traced, and a twentieth of the others. */
function tracesOf(requests: number): number {
  const seconds = hoursPerMonth * 3600;
  return Math.min(requests, seconds) + 0.05 * Math.max(0, requests - seconds);
}

type Factor = keyof ReturnType<typeof factorsOf>;
type Row = [component: string, what: string, price: keyof typeof prices, factors: Factor[]];

/** The bill but for the model: each line is the product of its factors, at its price. */
const rows: Row[] = [
  ['Images', 'to the internet', 'internet', ['images', 'bytes of an image', 'views']],
  ['Images', 'stored', 'objectStorage', ['images', 'bytes with preview', 'months kept']],
  ['Images', 'put', 'objectWrites', ['images', 'PUTs, image and preview']],
  ['Images', 'seen and opened', 'objectReads', ['images', 'HEADs and views']],
  // The model asks once a second.
  ['Images', 'looks for a cancellation', 'objectReads', ['generations', 'seconds, most of the GPU']],
  ['Functions', 'generating', 'lambdaDuration', ['generations', 'seconds, most of the GPU', 'MB']],
  ['Functions', 'async', 'lambdaDuration', ['async generations', 'seconds that wait', 'MB']],
  ['Functions', 'messages', 'queueRequests', ['async generations', 'requests to the queue']],
  ['Functions', 'empty queues', 'queueRequests', ['polls of empty queues']],
  ['Functions', 'sweep', 'lambdaDuration', ['runs by schedule', 'seconds of a run', 'MB']],
  ['Functions', 'invocations', 'lambdaRequests', ['invocations']],
  ['Functions', 'schedule of the sweep', 'schedules', ['runs by schedule']],
  ['API', 'requests', 'apiRequests', ['generations']],
  ['API', 'answers', 'internet', ['generations', 'bytes of an answer']],
  ['Firewall', 'web ACLs', 'firewallAcl', ['web ACLs']],
  ['Firewall', 'rules', 'firewallRule', ['rules']],
  ['Firewall', 'requests', 'firewallRequests', ['generations']],
  ['Table', 'writes', 'tableWrites', ['generations', 'write units']],
  ['Table', 'reads', 'tableReads', ['generations', 'read units']],
  ['Table', 'reads of the sweep', 'tableReads', ['runs by schedule', 'read units of a run']],
  ['Table', 'records', 'tableStorage', ['generations', 'bytes of a record', 'months kept']],
  ['Table', 'point-in-time recovery', 'recovery', ['generations', 'bytes of a record', 'months kept']],
  ['Table', 'backups', 'backups', ['generations', 'bytes of a record', 'months kept', 'copies at any time']],
  ['Logs', 'written', 'logIngestion', ['bytes of all logs']],
  ['Monitoring', "the service's metrics", 'metrics', ['metrics']],
  ['Monitoring', "S3's metrics of outputs", 'metrics', ['request metrics']],
  ['Monitoring', 'alarms', 'alarmMetrics', ['metrics in alarms']],
  ['Monitoring', 'dashboard', 'dashboards', ['dashboard']],
  ['Monitoring', 'traces', 'traces', ['traces']],
  ['Accounts', 'that sign in', 'activeAccounts', ['accounts']],
  ['Accounts', 'dashboard, bytes', 'edgeTraffic', ['visits', 'compressed bytes of a visit']],
  ['Accounts', 'dashboard, requests', 'edgeRequests', ['visits', 'requests of a visit']],
  ['Accounts', 'keys', 'keys', ['key']],
  ['Guardrail', 'prompts checked', 'guardrail', ['generations', 'text units']],
];

/** The bill of a month in a steady state: as much data expires as is added. */
export function monthlyBill(
  configuration: Configuration,
  workload: Workload,
): { fleet: Fleet | null; lines: Line[] } {
  const { inference } = configuration;
  const fleet = inference.kind === 'endpoint' ? fleetOf(inference, workload) : null;
  const values = factorsOf(configuration, workload, fleet?.waitSeconds);
  const lines = rows.map(([component, what, name, factors]): Line => {
    const price: Price = prices[name];
    const product = factors.reduce((so, factor) => so * values[factor], 1);
    const quantity = product / (price.unitSize ?? 1);
    const usd = (quantity * price.usd) / (price.per ?? 1);
    const formula = factors.map((factor) => `${amount(values[factor])} ${factor}`).join(' × ');
    return { component, what, formula, quantity, price, usd };
  });
  return {
    fleet,
    lines: [...(fleet === null ? [] : fleetLines(fleet)), ...lines].filter(({ usd }) => usd > 1e-9),
  };
}

/** The instances that always run, and those that scaling adds; or all, where the model may be scaled to zero. */
function fleetLines({ instanceType, instanceHours, alwaysOnHours, price }: Fleet): Line[] {
  const line = (what: string, formula: string, quantity: number): Line => {
    const usd = quantity * price.usd;
    return { component: 'Model', what: `${instanceType}, ${what}`, formula, quantity, price, usd };
  };
  const busy = `busy for over ${assumptions.scalingUtilization * 100}% of the time without`;
  const byNeed = alwaysOnHours === 0 ? 'the formula of sittings' : busy;
  return [
    line('always on', 'minInstances × 730 hours', alwaysOnHours),
    line('as needed', byNeed, instanceHours - alwaysOnHours),
  ];
}

export function sumOf(lines: Line[]): number {
  return lines.reduce((sum, { usd }) => sum + usd, 0);
}
