import { grouped, markdownTable } from '../../bin/common/markdown.ts';
import type { ColdStart } from './cold/cold-start.ts';
import type { CostFigures } from './cost.ts';
import type { Overhead } from './overhead/overhead.ts';
import type { Machine, Results } from './results.ts';
import { isMet, targetsOf, type TargetLine } from './targets.ts';
import type { TableUse } from './table-use.ts';

/** Milliseconds and the like, with as many digits as tell something. */
export function figure(value: number): string {
  if (Math.abs(value) >= 100) return grouped(value);
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

export const sectionTitles = {
  machine: 'Machine',
  targets: 'Targets',
  overhead: 'Overhead',
  cold: 'Cold start',
  dynamodb: 'DynamoDB',
  cost: 'Cost of 1,000 generations',
} as const;

export type Sections = Partial<Record<keyof typeof sectionTitles, string>>;

/** Of what was measured. */
export function sectionsOf(results: Results): Sections {
  const { machine, overhead, cold, dynamodb, cost } = results;
  return {
    machine: machineTable(machine),
    targets: targetsTable(targetsOf(results)),
    ...(overhead && { overhead: withNotes(overheadTable(overhead), overhead.leftOut) }),
    ...(cold && { cold: coldTable(cold) }),
    ...(dynamodb && { dynamodb: tableUseTable(dynamodb) }),
    ...(cost && { cost: costTable(cost) }),
  };
}

export function reportText(sections: Sections): string {
  return Object.entries(sections)
    .map(([name, text]) => `## ${sectionTitles[name as keyof Sections]}\n\n${text}`)
    .join('\n\n');
}

const withNotes = (table: string, notes: string[]) =>
  [table, ...notes].filter((part) => part !== '').join('\n\n');

function machineTable(machine: Machine): string {
  return markdownTable(
    ['what', 'value'],
    [
      ['measured on', machine.measuredOn],
      ['commit', machine.commit],
      ['processor', `${machine.processor}, ${machine.cores} cores`],
      ['memory', `${machine.memoryGb} GB`],
      ['Linux', machine.kernel],
      ['Node.js', machine.node],
      ['Portkey', machine.portkey],
      ['LiteLLM', machine.litellm],
    ],
  );
}

export function targetsTable(targets: TargetLine[]): string {
  const show = (value: number, unit: string) =>
    unit === '$' ? `$${value.toFixed(4)}` : `${Number(value.toPrecision(3))}${unit && ` ${unit}`}`;
  return markdownTable(
    ['what', 'at most:', 'is:', ''],
    targets.map((line) => [
      line.what,
      show(line.target, line.unit),
      show(line.value, line.unit),
      isMet(line) ? 'met' : '**missed**',
    ]),
  );
}

function overheadTable({ servers, rounds, stubP50Ms }: Overhead): string {
  const [ours] = servers;
  const ratio = (of: (typeof servers)[number]) =>
    of === ours ? '1' : figure(ours!.cpuUsPerRequest / of.cpuUsPerRequest);
  const table = markdownTable(
    [
      'server',
      'added p50, ms:',
      'added p99, ms:',
      'CPU, µs per request:',
      'ours ÷ its CPU:',
      'requests per second:',
      'memory, MB:',
      'CPU, spread of rounds:',
    ],
    servers.map((of) => [
      of.name,
      figure(of.addedP50Ms),
      figure(of.addedP99Ms),
      grouped(of.cpuUsPerRequest),
      ratio(of),
      grouped(of.requestsPerSecond),
      grouped(of.rssMb),
      `${Math.round(of.cpuSpread * 100)}%`,
    ]),
  );
  return `${table}\n\nMedians of ${rounds} rounds. The stub called directly: p50 ${figure(stubP50Ms)} ms.`;
}

function coldTable({ deployed, naive, hello, processes }: ColdStart): string {
  const table = markdownTable(
    ['bundle', 'kB:', 'kB, gzip:', 'import, ms:', 'first call, ms:', 'both, ms:'],
    [deployed, naive, hello].map(({ what, bytes, gzipBytes, importMs, callMs }) => [
      what,
      ...[bytes / 1000, gzipBytes / 1000, importMs, callMs, importMs + callMs].map(figure),
    ]),
  );
  return `${table}\n\nMedians of ${processes} fresh processes of Node.js.`;
}

function tableUseTable(use: TableUse): string {
  const units = ({ readUnits, tableWriteUnits, indexWriteUnits }: TableUse['usual']) =>
    `${readUnits} read, ${tableWriteUnits + indexWriteUnits} write (${indexWriteUnits} of them the index's)`;
  return markdownTable(
    ['what', 'counted'],
    [
      ['trips, one after another, before the model is called', String(use.tripsBeforeModel)],
      [
        'the same, for an identity that was not read within ten seconds',
        String(use.tripsBeforeModelWithCatalog),
      ],
      ['while the model works', String(use.tripsDuringModel)],
      ['after the model', String(use.tripsAfterModel)],
      ['calls in all', `${use.calls.length}: ${use.calls.join(', ')}`],
      ['units, prompt of 100 characters', units(use.usual)],
      ['units, prompt of 1,000 characters', units(use.longPrompt)],
    ],
  );
}

function costTable(cost: CostFigures): string {
  const { withoutGpu, kept, keptDays, egress, gpuAtFull, gpuAtScaling } = cost;
  const gpu = (share: number) =>
    `GPU, ${cost.instanceType} that paints ${Math.round(share * 100)}% of its time`;
  const usd = (value: number) => `$${value.toFixed(4)}`;
  return markdownTable(
    [`what, ${cost.waitSeconds} s of model, ${cost.memoryMb} MB`, 'US dollars:'],
    [
      ...cost.lines.map(({ what, usd: value }) => [what, usd(value)]),
      ['**without GPU, egress and keeping**', usd(withoutGpu)],
      [`keeping images, records and their copies ${keptDays} days`, usd(kept)],
      ['**without GPU and egress, with keeping**', usd(withoutGpu + kept)],
      ['images opened twice each, and answers, to the internet', usd(egress)],
      [gpu(1), usd(gpuAtFull)],
      [gpu(cost.scalingUtilization), usd(gpuAtScaling)],
      ['**with that GPU, without egress and keeping**', usd(withoutGpu + gpuAtScaling)],
      ['**with all of it**', usd(withoutGpu + kept + egress + gpuAtScaling)],
    ],
  );
}
