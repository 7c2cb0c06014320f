import type { Configuration } from '../../lib/configuration.ts';
import { counted, platformLogBytes } from './counted.ts';
import { prices, type PriceName } from './prices.ts';
import type { StackCounts } from './stack-counts.ts';
import { fleetOf, type Fleet } from './fleet.ts';
import { amount } from './tables.ts';
import { assumptions, daysPerMonth, gigabyte, hoursPerMonth, type Workload } from './workload.ts';

/** One line of the bill: a quantity of a month at its price. */
export interface Line {
  component: string;
  what: string;
  /** How the quantity is computed, for people. */
  formula: string;
  quantity: number;
  unit: string;
  usd: number;
  /** Whether it does not depend on the load. */
  fixed: boolean;
}

export interface Bill {
  /** Null when the stack has no instance. */
  fleet: Fleet | null;
  lines: Line[];
}

export interface Deployment {
  configuration: Configuration;
  counts: StackCounts;
}

type Add = (what: string, price: PriceName, quantity: number, formula: string, kind?: 'fixed') => void;

interface Input extends Deployment {
  workload: Workload;
  /** Generations and images of a month. */
  generations: number;
  images: number;
  /** Those of them that a worker runs. */
  asyncGenerations: number;
  fleet: Fleet | null;
  /** @returns a function that adds lines of a component to the bill. */
  to(component: string): Add;
}

/** The bill of a month in a steady state: as much data expires as is added. */
export function monthlyBill(deployment: Deployment, workload: Workload): Bill {
  const lines: Line[] = [];
  const to =
    (component: string): Add =>
    (what, price, quantity, formula, kind) => {
      if (quantity === 0) return;
      const { usd, per, unit } = prices[price];
      const cost = (quantity * usd) / per;
      lines.push({ component, what, formula, quantity, unit, usd: cost, fixed: kind === 'fixed' });
    };
  const generations = workload.generationsPerMonth;
  const fleet = fleetOf(deployment.configuration.inference, workload);
  const input: Input = {
    ...deployment,
    workload,
    generations,
    images: generations * workload.outputs,
    asyncGenerations: generations * workload.asyncShare,
    fleet,
    to,
  };
  if (fleet !== null) lines.push(...fleetLines(fleet));
  addImages(input);
  addFunctions(input);
  addApi(input);
  addTable(input);
  addLogs(input);
  addMonitoring(input);
  addAccounts(input);
  return { fleet, lines };
}

/** The instances that always run or are awake, and those that scaling adds. */
function fleetLines(fleet: Fleet): Line[] {
  const { instanceType, instanceHours, fewestHours, usdPerHour, sleep } = fleet;
  const line = (what: string, formula: string, hours: number, fixed: boolean): Line => {
    const usd = hours * usdPerHour;
    const named = `${instanceType}, ${what}`;
    return { component: 'Model', what: named, formula, quantity: hours, unit: 'instance-hours', usd, fixed };
  };
  const firstHours = sleep === null ? fewestHours : hoursPerMonth - sleep.asleepHours;
  const lines =
    sleep === null
      ? [line('always on', 'minInstances × 730 hours', fewestHours, true)]
      : [
          line('awake', '730 hours − asleep − waking', firstHours - sleep.wakingHours, false),
          line(
            'waking',
            `times that it wakes × ${assumptions.wakingMinutes.value} min`,
            sleep.wakingHours,
            false,
          ),
        ];
  const more = instanceHours - firstHours;
  const before = sleep === null ? 'what is always on' : 'the first, hour by hour';
  const formula = `GPU hours ÷ ${assumptions.scalingUtilization.value} − ${before}, at most maxInstances`;
  if (more > negligibleHours) lines.push(line('by scaling', formula, more, false));
  return lines;
}

/** Sums of shares of hours are a little off what they would be exactly. */
const negligibleHours = 1e-9;

function addImages({ to, images, workload, configuration }: Input): void {
  const add = to('Images');
  const { imageBytes, viewsPerImage } = workload;
  const bytesGb = (images * imageBytes) / gigabyte;
  const months = configuration.retentionDays / daysPerMonth;
  const { objectWritesPerImage, objectHeadsPerImage } = counted.generation;
  add('to the internet', 'internet', bytesGb * viewsPerImage, 'images × bytes × views');
  const previewsGb = (images * counted.previewBytes) / gigabyte;
  add(
    'stored',
    'objectStorage',
    (bytesGb + previewsGb) * months,
    'images × (bytes + preview) × retentionDays',
  );
  add('put', 'objectWrites', images * objectWritesPerImage, `images × ${objectWritesPerImage}`);
  add(
    'seen and opened',
    'objectReads',
    images * (objectHeadsPerImage + viewsPerImage),
    `images × (${objectHeadsPerImage} + views)`,
  );
}

/** Seconds that the model works on a generation. */
export function paintSeconds({ secondsPerMegapixel, megapixels, outputs }: Workload): number {
  return secondsPerMegapixel * megapixels * outputs;
}

function addFunctions({ to, generations, asyncGenerations, fleet, workload, counts }: Input): void {
  const add = to('Functions');
  const memoryGb = counts.memoryMb / 1024;
  const overhead = assumptions.overheadSeconds.value;
  const seconds = paintSeconds(workload) + overhead;
  const runs = counts.scheduledRuns;
  add(
    'waiting for the model',
    'lambdaDuration',
    (generations - asyncGenerations) * seconds * memoryGb,
    `generations, not async × (GPU seconds + ${overhead}) × ${counts.memoryMb} MB`,
  );
  add('requests', 'lambdaRequests', generations, 'generations');
  add(
    'async, accepting',
    'lambdaDuration',
    asyncGenerations * overhead * memoryGb,
    `async generations × ${overhead} × ${counts.memoryMb} MB`,
  );
  const waits = assumptions.asyncWaitSeconds.value + (fleet?.sleep?.waitSeconds ?? 0);
  add(
    'async, workers that wait',
    'lambdaDuration',
    asyncGenerations * (seconds + waits) * (counts.workerMemoryMb / 1024),
    `async generations × (GPU seconds + ${overhead} + ${amount(waits)} of waiting) × ${counts.workerMemoryMb} MB`,
  );
  add('async, workers', 'lambdaRequests', asyncGenerations, 'async generations');
  add(
    'sweep, duration',
    'lambdaDuration',
    runs * assumptions.sweepSeconds.value * memoryGb,
    `runs × ${assumptions.sweepSeconds.value} s × ${counts.memoryMb} MB`,
    'fixed',
  );
  add('sweep, requests', 'lambdaRequests', runs, 'runs: one a minute', 'fixed');
  add('sweep, schedule', 'schedules', runs, 'runs', 'fixed');
}

function addApi({ to, generations, counts }: Input): void {
  const addToApi = to('API');
  const addToFirewall = to('Firewall');
  addToApi('requests', 'apiRequests', generations, 'generations');
  const { answerBytes } = counted.generation;
  addToApi('answers', 'internet', (generations * answerBytes) / gigabyte, `generations × ${answerBytes} B`);
  addToFirewall('web ACL', 'firewallAcl', counts.firewallAcls, 'count', 'fixed');
  addToFirewall('rules', 'firewallRule', counts.firewallRules, 'count', 'fixed');
  addToFirewall('requests', 'firewallRequests', generations, 'generations');
}

function addTable({ to, generations, asyncGenerations, counts, configuration }: Input): void {
  const add = to('Table');
  const { readUnits, writeUnits, itemBytes } = counted.generation;
  const storedGb = (generations * itemBytes * (configuration.retentionDays / daysPerMonth)) / gigabyte;
  add('writes', 'tableWrites', generations * writeUnits, `generations × ${writeUnits}`);
  add('reads', 'tableReads', generations * readUnits, `generations × ${readUnits}`);
  const asyncUnits = counted.more.respondAsync.readUnits;
  add('reads of workers', 'tableReads', asyncGenerations * asyncUnits, `async generations × ${asyncUnits}`);
  const sweepUnits = counted.sweep.readUnits;
  add('reads of the sweep', 'tableReads', counts.scheduledRuns * sweepUnits, `runs × ${sweepUnits}`, 'fixed');
  add('records', 'tableStorage', storedGb, `generations × ${itemBytes} B × retentionDays`);
  add('point-in-time recovery', 'pointInTimeRecovery', storedGb, 'as the records');
  const { backupCopies } = counts;
  add('backups', 'backups', storedGb * backupCopies, `as the records × ${backupCopies} copies`);
}

function addLogs({ to, generations, asyncGenerations, counts, configuration }: Input): void {
  const add = to('Logs');
  const bytes = counted.generation.logBytes + platformLogBytes + counts.accessLogBytes;
  const workerBytes = counted.generation.logBytes + platformLogBytes;
  const sweepBytes = counted.sweep.logBytes + platformLogBytes;
  const written = (generations * bytes) / gigabyte;
  const byWorkers = (asyncGenerations * workerBytes) / gigabyte;
  const bySweep = (counts.scheduledRuns * sweepBytes) / gigabyte;
  const months = configuration.logRetentionDays / daysPerMonth;
  const compression = assumptions.logCompression.value;
  add('written', 'logIngestion', written, `generations × ${bytes} B`);
  add('written by workers', 'logIngestion', byWorkers, `async generations × ${workerBytes} B`);
  add('written by the sweep', 'logIngestion', bySweep, `runs × ${sweepBytes} B`, 'fixed');
  const stored = (written + byWorkers + bySweep) * months * compression;
  add('stored', 'logStorage', stored, `all logs × ${compression} × logRetentionDays`);
}

function addMonitoring({ to, generations, counts }: Input): void {
  const add = to('Monitoring');
  add("the service's metrics", 'metrics', counts.customMetrics, 'metrics × values', 'fixed');
  add('alarms', 'alarmMetrics', counts.alarmMetrics, 'metrics in all alarms', 'fixed');
  add('dashboard', 'dashboards', counts.dashboards, 'count', 'fixed');
  add('traces', 'traces', tracesOf(generations), 'one each second, 5% of the rest');
  add('traces of the sweep', 'traces', counts.scheduledRuns, 'runs', 'fixed');
}

/** X-Ray's default rule: the first request of each second is traced, and a share of the others. */
function tracesOf(requests: number): number {
  const seconds = hoursPerMonth * 3600;
  return Math.min(requests, seconds) + 0.05 * Math.max(0, requests - seconds);
}

function addAccounts({ to, counts, workload }: Input): void {
  const add = to('Accounts');
  const { accounts } = workload;
  const visits = accounts * assumptions.visitsPerAccount.value;
  const polls = counts.polledQueues * assumptions.pollsPerMinute.value * 60 * hoursPerMonth;
  add('that sign in', 'activeAccounts', accounts, 'accounts', 'fixed');
  const { bytesPerVisit, requestsPerVisit } = assumptions;
  const visited = (visits * bytesPerVisit.value) / gigabyte;
  add('dashboard, bytes', 'edgeTraffic', visited, `visits × ${bytesPerVisit.value} B`, 'fixed');
  const files = visits * requestsPerVisit.value;
  add('dashboard, requests', 'edgeRequests', files, `visits × ${requestsPerVisit.value}`, 'fixed');
  add('billing queue', 'queueRequests', polls, 'polls of the empty queue', 'fixed');
  add('keys', 'keys', counts.keys, 'count', 'fixed');
}

export function sumOf(lines: Line[]): number {
  return lines.reduce((sum, { usd }) => sum + usd, 0);
}
