import { factorsOf, monthlyBill, type Line } from '../../bin/costs/model.ts';
import { prices } from '../../bin/costs/prices.ts';
import { assumptions, defaultWorkload, usualImageBytes, type Workload } from '../../bin/costs/workload.ts';
import { readConfiguration } from '../../lib/configuration.ts';

/** US dollars for 1,000 generations of one megapixel, of a month with a million of them. */
export interface CostFigures {
  waitSeconds: number;
  memoryMb: number;
  /** By component, without the model, without bytes to the internet and without keeping. */
  lines: { what: string; usd: number }[];
  /** The sum of the lines. */
  withoutGpu: number;
  /** Images, records, their copies and logs for as long as a deployment keeps them unless told otherwise. */
  kept: number;
  keptDays: number;
  /** Images opened twice each, and answers. */
  egress: number;
  /** An instance that paints all the time, and one that does for the share that scaling leaves. */
  gpuAtFull: number;
  gpuAtScaling: number;
  scalingUtilization: number;
  instanceType: string;
}

const generations = 1_000_000;
const waitSeconds = 10;

/** By the same model of the bill, from the same counted figures, as docs/costs.md. */
export function measureCost(): CostFigures {
  const inference = { kind: 'endpoint', modelData: 's3://models/example/' };
  const configuration = readConfiguration({ inference }, 'The default configuration');
  const workload: Workload = {
    ...defaultWorkload,
    generationsPerMonth: generations,
    seconds: waitSeconds,
    // Their latencies are of callers who wait.
    asyncShare: 0,
    imageBytes: usualImageBytes(1),
  };
  const { fleet, lines } = monthlyBill(configuration, workload);
  if (fleet === null) throw new Error('The default configuration has no model.');
  const idle = monthlyBill(configuration, { ...workload, generationsPerMonth: 0 }).lines;
  const usdIdle = ({ component, what }: Line) =>
    idle.find((line) => line.component === component && line.what === what)?.usd ?? 0;
  const perGeneration = lines
    .filter(({ component }) => component !== 'Model')
    .map((line) => ({ ...line, usd: line.usd - usdIdle(line) }));
  const parts = Map.groupBy(perGeneration, partOf);
  const perThousand = (some: Line[] = []) => (sumOf(some) * 1000) / generations;
  const used = parts.get('used') ?? [];
  const byComponent = [...Map.groupBy(used, ({ component }) => component)];
  const gpuHours = (1000 * waitSeconds) / 3600;
  const scalingUtilization = assumptions.scalingUtilization;
  return {
    waitSeconds,
    memoryMb: factorsOf(configuration, workload).MB,
    lines: byComponent.map(([what, some]) => ({ what, usd: perThousand(some) })),
    withoutGpu: perThousand(used),
    kept: perThousand(parts.get('kept')),
    keptDays: configuration.retentionDays,
    egress: perThousand(parts.get('egress')),
    gpuAtFull: gpuHours * fleet.price.usd,
    gpuAtScaling: (gpuHours * fleet.price.usd) / scalingUtilization,
    scalingUtilization,
    instanceType: fleet.instanceType,
  };
}

const egressUnit = prices.internet.unit;
const keeping = new Set(['stored', 'records', 'point-in-time recovery', 'backups']);

/** What a line is paid for: the generation itself, keeping what it left, or bytes that go to the internet. */
export function partOf({ component, what, price }: Line): 'used' | 'kept' | 'egress' {
  if (keeping.has(what)) return 'kept';
  const toInternet =
    (component === 'Images' && what === 'to the internet') || (component === 'API' && what === 'answers');
  if (toInternet && price.unit === egressUnit) return 'egress';
  return 'used';
}

function sumOf(lines: Line[]): number {
  return lines.reduce((sum, { usd }) => sum + usd, 0);
}
