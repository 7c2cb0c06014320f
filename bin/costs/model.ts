import type { Configuration } from '../../lib/configuration.ts';
import { counted, platformLogBytes } from './counted.ts';
import { prices, type PriceName } from './prices.ts';
import type { StackCounts } from './stack-counts.ts';
import { fleetOf, type Fleet } from './fleet.ts';
import { assumptions, daysPerMonth, gigabyte, hoursPerMonth, type Workload } from './workload.ts';

/** One line of the bill: a quantity of a month at its price. */
export interface Line {
  component: string;
  what: string;
  /** How the quantity comes about, for people. */
  formula: string;
  quantity: number;
  unit: string;
  usd: number;
  /** Whether it is the same whatever is asked of the service. */
  fixed: boolean;
}

export interface Bill {
  /** Null where no instance of this stack paints. */
  fleet: Fleet | null;
  lines: Line[];
}

export interface Deployment {
  configuration: Configuration;
  counts: StackCounts;
}

type Add = (
  component: string,
  what: string,
  price: PriceName,
  quantity: number,
  formula: string,
  kind?: 'fixed',
) => void;

interface Input extends Deployment {
  workload: Workload;
  /** Generations and images of a month. */
  generations: number;
  images: number;
  add: Add;
}

/** The bill of a month in which the service has long been used like this, so that as much expires as is added. */
export function monthlyBill(deployment: Deployment, workload: Workload): Bill {
  const lines: Line[] = [];
  const add: Add = (component, what, price, quantity, formula, kind) => {
    if (quantity === 0) return;
    const { usd, per, unit } = prices[price];
    lines.push({
      component,
      what,
      formula,
      quantity,
      unit,
      usd: (quantity * usd) / per,
      fixed: kind === 'fixed',
    });
  };
  const generations = workload.generationsPerMonth;
  const input = { ...deployment, workload, generations, images: generations * workload.outputs, add };
  const fleet = fleetOf(deployment.configuration.inference, workload);
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

/** What always runs, and what runs beside it when that is not enough. */
function fleetLines(fleet: Fleet): Line[] {
  const { instanceType, instanceHours, fewestHours, usdPerHour } = fleet;
  const line = (what: string, formula: string, hours: number, fixed: boolean): Line => {
    const usd = hours * usdPerHour;
    return { component: 'Model', what, formula, quantity: hours, unit: 'instance-hours', usd, fixed };
  };
  const lines = [line(`${instanceType}, always on`, 'minInstances × 730 hours', fewestHours, true)];
  const more = instanceHours - fewestHours;
  const formula = `GPU hours ÷ ${assumptions.scalingUtilization.value} − what is always on, at most maxInstances`;
  if (more > 0) lines.push(line(`${instanceType}, by scaling`, formula, more, false));
  return lines;
}

function addImages({ add, images, workload, configuration }: Input): void {
  const { imageBytes, viewsPerImage } = workload;
  const bytesGb = (images * imageBytes) / gigabyte;
  const months = configuration.retentionDays / daysPerMonth;
  const { objectWritesPerImage, objectHeadsPerImage } = counted.generation;
  add('Images', 'to the internet', 'internet', bytesGb * viewsPerImage, 'images × bytes × views');
  add('Images', 'stored', 'objectStorage', bytesGb * months, 'images × bytes × retentionDays');
  add('Images', 'put', 'objectWrites', images * objectWritesPerImage, `images × ${objectWritesPerImage}`);
  add(
    'Images',
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

function addFunctions({ add, generations, workload, counts }: Input): void {
  const memoryGb = counts.memoryMb / 1024;
  const seconds = paintSeconds(workload) + assumptions.overheadSeconds.value;
  const runs = counts.scheduledRuns;
  add(
    'Functions',
    'waiting for the model',
    'lambdaDuration',
    generations * seconds * memoryGb,
    `generations × (GPU seconds + ${assumptions.overheadSeconds.value}) × ${counts.memoryMb} MB`,
  );
  add('Functions', 'requests', 'lambdaRequests', generations, 'generations');
  add(
    'Functions',
    'sweep, duration',
    'lambdaDuration',
    runs * assumptions.sweepSeconds.value * memoryGb,
    `runs × ${assumptions.sweepSeconds.value} s × ${counts.memoryMb} MB`,
    'fixed',
  );
  add('Functions', 'sweep, requests', 'lambdaRequests', runs, 'runs: one a minute', 'fixed');
  add('Functions', 'sweep, schedule', 'schedules', runs, 'runs', 'fixed');
}

function addApi({ add, generations, counts }: Input): void {
  add('API', 'requests', 'apiRequests', generations, 'generations');
  const { answerBytes } = counted.generation;
  add('API', 'answers', 'internet', (generations * answerBytes) / gigabyte, `generations × ${answerBytes} B`);
  add('Firewall', 'web ACL', 'firewallAcl', counts.firewallAcls, 'count', 'fixed');
  add('Firewall', 'rules', 'firewallRule', counts.firewallRules, 'count', 'fixed');
  add('Firewall', 'requests', 'firewallRequests', generations, 'generations');
}

function addTable({ add, generations, counts, configuration }: Input): void {
  const { readUnits, writeUnits, itemBytes } = counted.generation;
  const storedGb = (generations * itemBytes * (configuration.retentionDays / daysPerMonth)) / gigabyte;
  add('Table', 'writes', 'tableWrites', generations * writeUnits, `generations × ${writeUnits}`);
  add('Table', 'reads', 'tableReads', generations * readUnits, `generations × ${readUnits}`);
  const sweepUnits = counted.sweep.readUnits;
  add(
    'Table',
    'reads of the sweep',
    'tableReads',
    counts.scheduledRuns * sweepUnits,
    `runs × ${sweepUnits}`,
    'fixed',
  );
  add('Table', 'records', 'tableStorage', storedGb, `generations × ${itemBytes} B × retentionDays`);
  add('Table', 'point-in-time recovery', 'pointInTimeRecovery', storedGb, 'as the records');
  const { backupCopies } = counts;
  add('Table', 'backups', 'backups', storedGb * backupCopies, `as the records × ${backupCopies} copies`);
}

function addLogs({ add, generations, counts, configuration }: Input): void {
  const bytes = counted.generation.logBytes + platformLogBytes + counts.accessLogBytes;
  const sweepBytes = counted.sweep.logBytes + platformLogBytes;
  const written = (generations * bytes) / gigabyte;
  const bySweep = (counts.scheduledRuns * sweepBytes) / gigabyte;
  const months = configuration.logRetentionDays / daysPerMonth;
  const compression = assumptions.logCompression.value;
  add('Logs', 'written', 'logIngestion', written, `generations × ${bytes} B`);
  add('Logs', 'written by the sweep', 'logIngestion', bySweep, `runs × ${sweepBytes} B`, 'fixed');
  const stored = (written + bySweep) * months * compression;
  add('Logs', 'stored', 'logStorage', stored, `all logs × ${compression} × logRetentionDays`);
}

function addMonitoring({ add, generations, counts }: Input): void {
  add('Monitoring', "the service's metrics", 'metrics', counts.customMetrics, 'metrics × values', 'fixed');
  add('Monitoring', 'alarms', 'alarmMetrics', counts.alarmMetrics, 'metrics in all alarms', 'fixed');
  add('Monitoring', 'dashboard', 'dashboards', counts.dashboards, 'count', 'fixed');
  add('Monitoring', 'traces', 'traces', tracesOf(generations), 'one each second, 5% of the rest');
  add('Monitoring', 'traces of the sweep', 'traces', counts.scheduledRuns, 'runs', 'fixed');
}

/** X-Ray's default rule. Spread evenly, a request that comes in a second of its own is always traced. */
function tracesOf(requests: number): number {
  const seconds = hoursPerMonth * 3600;
  return Math.min(requests, seconds) + 0.05 * Math.max(0, requests - seconds);
}

function addAccounts({ add, counts, workload }: Input): void {
  const { accounts } = workload;
  const visits = accounts * assumptions.visitsPerAccount.value;
  const polls = counts.polledQueues * assumptions.pollsPerMinute.value * 60 * hoursPerMonth;
  add('Accounts', 'that sign in', 'activeAccounts', accounts, 'accounts', 'fixed');
  const { bytesPerVisit, requestsPerVisit } = assumptions;
  const visited = (visits * bytesPerVisit.value) / gigabyte;
  add('Accounts', 'dashboard, bytes', 'edgeTraffic', visited, `visits × ${bytesPerVisit.value} B`, 'fixed');
  const files = visits * requestsPerVisit.value;
  add(
    'Accounts',
    'dashboard, requests',
    'edgeRequests',
    files,
    `visits × ${requestsPerVisit.value}`,
    'fixed',
  );
  add('Accounts', 'billing queue', 'queueRequests', polls, 'polls of the empty queue', 'fixed');
  add('Accounts', 'keys', 'keys', counts.keys, 'count', 'fixed');
}
