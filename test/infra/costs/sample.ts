import { monthlyBill, type Bill, type Deployment } from '../../../bin/costs/model.ts';
import type { Endpoint } from '../../../bin/costs/sleep.ts';
import type { StackCounts } from '../../../bin/costs/stack-counts.ts';
import { defaultWorkload, usualImageBytes, type Workload } from '../../../bin/costs/workload.ts';
import { readConfiguration } from '../../../lib/configuration.ts';

export const inference = { kind: 'endpoint', modelData: 's3://models/example/' };
export const usual: Workload = { ...defaultWorkload, imageBytes: usualImageBytes(1) };

const counts: StackCounts = {
  memoryMb: 256,
  workerMemoryMb: 256,
  firewallAcls: 1,
  firewallRules: 5,
  customMetrics: 36,
  alarmMetrics: 20,
  dashboards: 1,
  keys: 1,
  backupCopies: 47,
  scheduledRuns: 43_800,
  polledQueues: 1,
  accessLogBytes: 271,
};

export function deploymentOf(
  options: Record<string, unknown> = {},
  stack: Partial<StackCounts> = {},
): Deployment {
  const configuration = readConfiguration({ inference, ...options }, 'A test');
  return { configuration, counts: { ...counts, ...stack } };
}

/** The usual endpoint, as the configuration has it. */
export function endpoint(): Endpoint {
  const { inference: of } = deploymentOf().configuration;
  if (of.kind !== 'endpoint') throw new Error('The sample has no endpoint.');
  return of;
}

/** The usual deployment, with a model that sleeps when nobody paints. */
export function sleepingDeployment(): Deployment {
  return deploymentOf({ inference: { ...inference, minInstances: 0 } });
}

export function bill(
  options: Record<string, unknown> = {},
  workload: Partial<Workload> = {},
  stack: Partial<StackCounts> = {},
): Bill {
  return monthlyBill(deploymentOf(options, stack), { ...usual, ...workload });
}

/** The sum of all lines, of a component's lines, or of one line. */
export function usdOf({ lines }: Bill, component?: string, what?: string): number {
  return lines
    .filter((line) => component === undefined || line.component === component)
    .filter((line) => what === undefined || line.what === what)
    .reduce((sum, { usd }) => sum + usd, 0);
}
